"""A folder of a file system, alone on this machine or shared by several."""

import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from densephrases.atomic_files import make_folder, replace_file, replacing
from densephrases.cluster.storage.base import Store
from densephrases.errors import StorageError
from densephrases.index.files.durable import FileEntry


class LocalStore(Store):
    def __init__(self, folder: Path) -> None:
        self.place = str(folder)
        self.folder: Path = folder.absolute()

    def read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def write(self, name: str, content: bytes) -> None:
        path = self.folder / name
        make_folder(path.parent)
        replace_file(path, content)

    def put(self, path: Path, name: str, entry: FileEntry) -> None:
        target = self.folder / name
        make_folder(target.parent)
        with replacing(target) as new:
            shutil.copyfile(path, new)
            if (size := new.stat().st_size) != entry.size:
                raise StorageError(f"'{target}' took {size} of {entry.size} bytes; is '{path}' still being written?")

    def download(self, name: str, path: Path) -> None:
        shutil.copyfile(self.folder / name, path)

    def names(self, below: str = "") -> list[str]:
        paths = (self.folder / below).rglob("*")
        return sorted(path.relative_to(self.folder).as_posix() for path in paths if not path.is_dir())

    def remove(self, names: Iterable[str]) -> None:
        """Folders that become empty go with their files."""
        for name in names:
            path = self.folder / name
            with suppress(FileNotFoundError):
                path.unlink()
            for parent in path.parents:
                if parent == self.folder or not _removed(parent):
                    break

    def remove_below(self, folder: str) -> None:
        super().remove_below(folder)
        for path in sorted((self.folder / folder).rglob("*"), reverse=True):
            _removed(path)
        _removed(self.folder / folder)


def _removed(folder: Path) -> bool:
    """Whether an empty folder could be removed."""
    try:
        folder.rmdir()
    except OSError:
        return False
    return True
