"""From what a user writes, a folder or a URL, to a store."""

from pathlib import Path

from densephrases.cluster.storage.base import Store
from densephrases.cluster.storage.local import LocalStore
from densephrases.cluster.storage.remote import RemoteStore

_FILE = "file://"


def open_store(place: str | Path) -> Store:
    """A folder, `file:///folder`, or a URL such as `s3://bucket/wiki`; it need not exist.

    Raises:
        ConfigError: The URL is of no known store.
        MissingExtraError: The package for the store is not installed.
    """
    written = str(place)
    if written.startswith(_FILE):
        return LocalStore(Path(written.removeprefix(_FILE)))
    return RemoteStore(written) if "://" in written else LocalStore(Path(place))
