"""The segments of a shard on the disk of its machine."""

from hashlib import sha256
from pathlib import Path

from densephrases.cluster.storage.fetch import fetch_index
from densephrases.cluster.storage.places import open_store
from densephrases.index.manifest import Manifest
from densephrases.index.own_files import remove_unnamed

_DIGITS = 16


def local_copy(place: str, manifest: Manifest, cache: Path) -> tuple[Path, Manifest]:
    """The folder with an index of some segments: the place itself if it is a folder, else a copy, fetched once.

    Replicas of one shard on one machine share the copy; files of a version that is there are not fetched again.
    """
    if (here := open_store(place).folder) is not None:
        return here, manifest
    names = [entry.name for entry in manifest.segments]
    folder = cache / sha256("\n".join([place, names[0] if names else ""]).encode()).hexdigest()[:_DIGITS]
    fetched = fetch_index(place, folder, names)
    remove_unnamed(folder, fetched)
    return folder, fetched
