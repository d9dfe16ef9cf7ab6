"""Every change that the index makes to files below a folder, one by one: recorded, failed or stopped by an attack."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

from densephrases.index.files import durable, lock

Kind = Literal["mkdir", "rmdir", "create", "open", "truncate", "write", "fsync", "replace", "unlink"]


@dataclass(frozen=True, slots=True)
class FileOperation:
    """A call of the system; paths are relative to the folder, which itself is '.'.

    Attributes:
        kind: `create` opens a new file or empties an old one, `open` does neither.
        path: The file or folder.
        target: The new name of what is replaced.
        data: What is written, at the end of the file.
    """

    kind: Kind
    path: str
    target: str = ""
    data: bytes = b""


class Watch:
    """Sees every operation before it is done and after it has succeeded."""

    def before(self, operation: FileOperation) -> int | None:
        """May raise; the number of bytes to write at most, None for all."""
        return None

    def after(self, operation: FileOperation) -> None:
        """The operation has succeeded."""


class Recorder(Watch):
    """A log of what was tried and one of what succeeded."""

    def __init__(self) -> None:
        self.tried: list[FileOperation] = []
        self.log: list[FileOperation] = []

    def before(self, operation: FileOperation) -> int | None:
        self.tried.append(operation)
        return None

    def after(self, operation: FileOperation) -> None:
        self.log.append(operation)


@contextmanager
def watched(folder: Path, watch: Watch, *, syncing: bool = False) -> Iterator[None]:
    """Let `watch` see what is done below a folder; unless `syncing`, nothing is really synced, which takes long."""
    with _Patches(folder, watch, syncing).applied():
        yield


@contextmanager
def unsynced() -> Iterator[None]:
    """Sync nothing: what an attack prepares and examines need not outlive a power loss of this machine."""
    with patch.object(os, "fsync", lambda number: None):
        yield


class _Patches:
    def __init__(self, folder: Path, watch: Watch, syncing: bool) -> None:
        self.folder = str(folder)
        self.watch = watch
        self.syncing = syncing
        self.names: dict[int, str] = {}  # of open files

    @contextmanager
    def applied(self) -> Iterator[None]:
        replaced = {
            "open": self._open(os.open),
            "fsync": self._fsync(os.fsync),
            "close": self._close(os.close),
            "mkdir": self._changing("mkdir", os.mkdir),
            "rmdir": self._changing("rmdir", os.rmdir),
            "unlink": self._changing("unlink", os.unlink),
            "replace": self._replace(os.replace),
        }
        watched_file = self._file()
        with ExitStack() as stack:
            for name, call in replaced.items():
                stack.enter_context(patch.object(os, name, call))
            for module in (durable, lock):
                stack.enter_context(patch.object(module, "FileIO", watched_file))
            yield

    def _name(self, path: Any) -> str | None:
        """Relative to the folder; None if it is elsewhere."""
        text = os.fspath(path)
        if not isinstance(text, str) or not (text == self.folder or text.startswith(self.folder + os.sep)):
            return None
        return os.path.relpath(text, self.folder)

    def _done(self, operation: FileOperation, do: Callable[[], Any]) -> Any:
        self.watch.before(operation)
        result = do()
        self.watch.after(operation)
        return result

    def _changing(self, kind: Kind, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *args: Any, **options: Any) -> Any:
            name = self._name(path)
            if name is None:
                return original(path, *args, **options)
            return self._done(FileOperation(kind, name), lambda: original(path, *args, **options))

        return call

    def _replace(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, target: Any) -> Any:
            name, new = self._name(path), self._name(target)
            if name is None or new is None:
                return original(path, target)
            return self._done(FileOperation("replace", name, new), lambda: original(path, target))

        return call

    def _open(self, original: Callable[..., int]) -> Callable[..., int]:
        def call(path: Any, flags: int, *args: Any, **options: Any) -> int:
            name = self._name(path)
            if name is None:
                return original(path, flags, *args, **options)
            is_new = bool(flags & os.O_TRUNC) or bool(flags & os.O_CREAT and not Path(path).exists())
            number = self._done(
                FileOperation("create" if is_new else "open", name), lambda: original(path, flags, *args, **options)
            )
            self.names[number] = name
            return int(number)

        return call

    def _fsync(self, original: Callable[[int], None]) -> Callable[[int], None]:
        def call(number: int) -> None:
            def sync() -> None:
                if self.syncing:
                    original(number)

            if number in self.names:
                self._done(FileOperation("fsync", self.names[number]), sync)
            else:
                sync()

        return call

    def _close(self, original: Callable[[int], None]) -> Callable[[int], None]:
        def call(number: int) -> None:
            self.names.pop(number, None)
            original(number)

        return call

    def _file(self) -> type[FileIO]:
        patches = self

        class WatchedFile(FileIO):
            def write(self, data: Any, /) -> int:
                name, content = patches.names.get(self.fileno()), bytes(data)
                if name is None:
                    return super().write(content)
                most = patches.watch.before(FileOperation("write", name, data=content))
                written = super().write(content[:most])
                patches.watch.after(FileOperation("write", name, data=content[:written]))
                return written

            def truncate(self, size: int | None = None, /) -> int:
                name = patches.names.get(self.fileno())
                if name is None:
                    return super().truncate(size)
                assert size == 0
                return int(patches._done(FileOperation("truncate", name), partial(super().truncate, size)))

            def close(self) -> None:
                if not self.closed:
                    patches.names.pop(self.fileno(), None)
                super().close()

        return WatchedFile
