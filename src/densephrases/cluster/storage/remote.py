"""An object store, by fsspec: an object appears when all of it is written, so that names can be trusted."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from densephrases.cluster.storage.base import Store
from densephrases.cluster.storage.transient import with_retries
from densephrases.errors import ConfigError, MissingExtraError, StorageError
from densephrases.index.files.durable import FileEntry

PROTOCOLS = {
    **dict.fromkeys(("s3", "s3a"), "densephrases[s3]"),
    **dict.fromkeys(("gs", "gcs"), "gcsfs"),
    **dict.fromkeys(("az", "abfs", "abfss"), "adlfs"),
    "memory": "fsspec",  # of one process, for tests
}
"""Of stores in which an object is there as a whole or not at all, and what to install for them."""

_FILES_AT_ONCE = 1000  # removed by one request
T = TypeVar("T")


class RemoteStore(Store):
    """Credentials and endpoints are those of the store's own tools: AWS_ENDPOINT_URL and the like."""

    def __init__(self, url: str) -> None:
        self.place = url
        self._files, root = _file_system(url)
        self._root = root.rstrip("/")

    def read(self, name: str) -> bytes:
        content: bytes = self._do("Reading", name, lambda path: self._files.cat_file(path))
        return content

    def write(self, name: str, content: bytes) -> None:
        self._do("Writing", name, lambda path: self._files.pipe_file(path, content))

    def put(self, path: Path, name: str, entry: FileEntry) -> None:
        def upload(target: str) -> None:
            self._files.put_file(str(path), target)
            size = self._files.info(target)["size"]
            if size != entry.size:
                raise OSError(f"{size} of {entry.size} bytes arrived")

        self._do("Writing", name, upload)

    def download(self, name: str, path: Path) -> None:
        self._do("Reading", name, lambda source: self._files.get_file(source, str(path)))

    def names(self, below: str = "") -> list[str]:
        try:
            found: list[str] = self._do("Listing", below, lambda path: self._files.find(path.rstrip("/")))
        except FileNotFoundError:
            return []
        start = self._files._strip_protocol(self._root).rstrip("/") + "/"
        return sorted(name.removeprefix(start) for name in found)

    def remove(self, names: Iterable[str]) -> None:
        rest = list(names)
        for at in range(0, len(rest), _FILES_AT_ONCE):
            some = [self._path(name) for name in rest[at : at + _FILES_AT_ONCE]]
            with_retries("Removing files of", self.place, lambda some=some: self._removed(some))  # type: ignore[misc]

    def _removed(self, paths: list[str]) -> None:
        there = [path for path in paths if self._files.exists(path)]
        if there:
            self._files.rm(there)

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _do(self, what: str, name: str, work: Callable[[str], T]) -> T:
        return with_retries(what, self.shown(name), lambda: work(self._path(name)))


def _file_system(url: str) -> tuple[Any, str]:
    protocol = url.partition("://")[0]
    if protocol not in PROTOCOLS:
        raise ConfigError(
            f"'{url}' is in no store that is known; expected a folder, or a URL that begins with one of "
            f"{', '.join(f'{known}://' for known in PROTOCOLS if known != 'memory')}."
        )
    try:
        from fsspec.core import url_to_fs

        files, root = url_to_fs(url, use_listings_cache=False)
    except ImportError as error:
        raise MissingExtraError(
            f"'{url}' needs a package that is not installed: pip install '{PROTOCOLS[protocol]}'"
        ) from error
    except ValueError as error:
        raise StorageError(f"'{url}' cannot be opened: {error}.") from error
    return files, str(root)
