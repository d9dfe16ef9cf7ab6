"""A disk that a power loss may leave in many states: what was synced is there, of the rest anything may be.

After ALICE (Pillai et al., OSDI 2014) and CrashMonkey (Mohan et al., OSDI 2018): a file that was not synced may hold
its new content, its old one, a part of the new one or zeros; a name that was not synced by its folder may be there or
not, in any order; a renamed file may have its new name without its content.
"""

from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from random import Random

from .file_operations import FileOperation

Tree = dict[str, bytes | None]
"""The content of files by their paths; None for folders."""


@dataclass(slots=True)
class _File:
    content: bytes = b""
    synced: bytes = b""

    def after_power_loss(self, random: Random) -> bytes:
        if self.content == self.synced:
            return self.content
        cut = random.randrange(len(self.content) + 1)
        return random.choice(
            [
                self.content,
                self.synced,
                self.content[:cut],
                bytes(len(self.content)),
                self.content[:cut] + bytes(len(self.content) - cut),
                b"",
            ]
        )


@dataclass(frozen=True, slots=True)
class _Change:
    """Of a folder's names: one appears or disappears, or one takes the place of another."""

    name: str
    node: "_File | _Folder | None"
    gone: str = ""


@dataclass(slots=True)
class _Folder:
    names: "dict[str, _File | _Folder]" = field(default_factory=dict)
    synced: "dict[str, _File | _Folder]" = field(default_factory=dict)
    changes: list[_Change] = field(default_factory=list)

    def change(self, change: _Change) -> None:
        self.changes.append(change)
        _apply(change, self.names)

    def sync(self) -> None:
        self.synced = dict(self.names)
        self.changes = []

    def after_power_loss(self, random: Random, kept: float) -> "dict[str, _File | _Folder]":
        names = dict(self.synced)
        for change in self.changes:
            if random.random() < kept:
                _apply(change, names)
        return names


def _apply(change: _Change, names: "dict[str, _File | _Folder]") -> None:
    if change.gone:
        names.pop(change.gone, None)
    if change.node is None:
        names.pop(change.name, None)
    else:
        names[change.name] = change.node


class ModelDisk:
    """Follows the operations in a folder, whose content at the beginning is synced."""

    def __init__(self) -> None:
        self._root = _Folder()

    def add(self, path: str, content: bytes) -> None:
        """A file that is synced."""
        folder = self._root
        for name in PurePosixPath(path).parent.parts:
            inner = folder.names.setdefault(name, _Folder())
            assert isinstance(inner, _Folder)
            folder.sync()
            folder = inner
        folder.names[PurePosixPath(path).name] = _File(content, content)
        folder.sync()

    def apply(self, operation: FileOperation) -> None:
        getattr(self, f"_{operation.kind}")(operation)

    def after_power_loss(self, random: Random) -> Tree:
        """One of the states in which the disk may be found."""
        tree: Tree = {}
        kept = random.choice([0.0, 0.1, 0.5, 0.9, 1.0])  # of the names that were not synced
        self._walk(self._root, "", tree, random, kept)
        return tree

    def _walk(self, folder: _Folder, prefix: str, tree: Tree, random: Random, kept: float) -> None:
        for name, node in sorted(folder.after_power_loss(random, kept).items()):
            if isinstance(node, _File):
                tree[prefix + name] = node.after_power_loss(random)
            else:
                tree[prefix + name] = None
                self._walk(node, f"{prefix}{name}/", tree, random, kept)

    def _folder(self, path: str) -> _Folder:
        folder = self._root
        for name in PurePosixPath(path).parts:
            inner = folder.names[name]
            assert isinstance(inner, _Folder)
            folder = inner
        return folder

    def _place(self, path: str) -> tuple[_Folder, str]:
        pure = PurePosixPath(path)
        return self._folder(str(pure.parent)), pure.name

    def _file(self, path: str) -> _File:
        folder, name = self._place(path)
        file = folder.names[name]
        assert isinstance(file, _File)
        return file

    def _mkdir(self, operation: FileOperation) -> None:
        if operation.path != ".":
            folder, name = self._place(operation.path)
            folder.change(_Change(name, _Folder()))

    def _create(self, operation: FileOperation) -> None:
        folder, name = self._place(operation.path)
        if isinstance(file := folder.names.get(name), _File):
            file.content = b""
        else:
            folder.change(_Change(name, _File()))

    def _open(self, operation: FileOperation) -> None:
        pass

    def _truncate(self, operation: FileOperation) -> None:
        self._file(operation.path).content = b""

    def _write(self, operation: FileOperation) -> None:
        self._file(operation.path).content += operation.data

    def _fsync(self, operation: FileOperation) -> None:
        folder, name = (self._root, "") if operation.path == "." else self._place(operation.path)
        node = folder.names[name] if name else folder
        if isinstance(node, _File):
            node.synced = node.content
        else:
            node.sync()

    def _replace(self, operation: FileOperation) -> None:
        (folder, old), (target, new) = self._place(operation.path), self._place(operation.target)
        assert folder is target
        folder.change(_Change(new, folder.names[old], gone=old))

    def _unlink(self, operation: FileOperation) -> None:
        folder, name = self._place(operation.path)
        folder.change(_Change(name, None))

    _rmdir = _unlink


def write_tree(tree: Tree, folder: Path) -> None:
    """Make a folder of it; folders come before what is in them."""
    folder.mkdir(parents=True)
    for path, content in tree.items():
        if content is None:
            (folder / path).mkdir()
        else:
            (folder / path).write_bytes(content)
