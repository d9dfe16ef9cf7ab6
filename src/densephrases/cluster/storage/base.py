"""A place for the files of an index: names with slashes, contents that are there as a whole or not at all."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from densephrases.errors import StorageError
from densephrases.index.files.durable import FileEntry

_ATTEMPTS = 3  # to get a file whole


class Store(ABC):
    """A folder of files, on disk or in an object store.

    A name that is not there raises FileNotFoundError. What cannot be reached, or refuses access, raises StorageError,
    after transient errors were retried. Threads and processes may share a place.

    Attributes:
        place: As the user wrote it.
        folder: Where its files can be read and written in place; None if it is no folder of a file system.
    """

    place: str
    folder: Path | None = None

    @abstractmethod
    def read(self, name: str) -> bytes:
        """All of a small file."""

    @abstractmethod
    def write(self, name: str, content: bytes) -> None:
        """Replace a small file as a whole."""

    @abstractmethod
    def put(self, path: Path, name: str, entry: FileEntry) -> None:
        """Store a file of the disk under a name; its size is compared with the entry afterwards."""

    @abstractmethod
    def download(self, name: str, path: Path) -> None:
        """Copy a file to the disk."""

    @abstractmethod
    def names(self, below: str = "") -> list[str]:
        """All files below a folder, sorted; an empty list if there is no such folder."""

    @abstractmethod
    def remove(self, names: Iterable[str]) -> None:
        """Remove files; those that are not there are passed over."""

    def remove_below(self, folder: str) -> None:
        self.remove(self.names(folder))

    def get(self, name: str, path: Path, entry: FileEntry) -> None:
        """Copy a file to the disk and compare it with its size and checksum; one that differs is fetched again.

        If it differs every time, StorageError is raised, and no copy stays.
        """
        found = entry
        for _ in range(_ATTEMPTS):
            self.download(name, path)
            found = FileEntry.from_file(path)
            if found == entry:
                return
        with suppress(OSError):
            path.unlink()
        problem = f"has {found.size} bytes, not {entry.size}" if found.size != entry.size else "has other content"
        raise StorageError(f"'{self.shown(name)}' {problem} than was written; build the index again or restore it.")

    def shown(self, name: str) -> str:
        return f"{self.place.rstrip('/')}/{name}"
