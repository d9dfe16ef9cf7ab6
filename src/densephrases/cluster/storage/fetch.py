"""Indexes out of a store: their manifest, and their files on the disk of this machine, each fetched once."""

import os
import secrets
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from densephrases.atomic_files import make_folder, replace_file
from densephrases.cluster.storage.base import Store
from densephrases.cluster.storage.places import open_store
from densephrases.errors import DataError, PhraseIndexError, StorageError
from densephrases.index.files.durable import FileEntry
from densephrases.index.fitted_confidence import CONFIDENCE_FILE
from densephrases.index.manifest import MANIFEST_FILE, Manifest

_THREADS = 8
_ATTEMPTS = 10  # with a newer manifest each

Progress = Callable[[int, int], None]
"""Called with the bytes that are there and those that shall be."""


def read_manifest(place: str | Path) -> Manifest:
    """The manifest of an index in a folder or a store.

    Raises:
        PhraseIndexError: There is no index.
        StorageError: The store cannot be reached, or refuses access.
    """
    return _manifest(open_store(place))


def fetch_index(
    place: str | Path, folder: Path, segments: Collection[str] | None = None, progress: Progress | None = None
) -> Manifest:
    """Copy an index out of a store into a folder, from which `IndexFolder` and `PhraseIndex` open it.

    A file that is there is not fetched again, so a call that was stopped goes on when it is repeated. Every file is
    compared with the size and the SHA-256 of the manifest before it gets its name, and the manifest is written last.
    Several processes may fetch into one folder at once: some files are then fetched twice, and none is torn. If the
    index is replaced meanwhile, the new one is fetched.

    Args:
        place: A folder, or a URL such as `s3://bucket/wiki`.
        folder: New, or one that an index of this place was fetched to.
        segments: Names of `SegmentEntry`s; the folder then holds an index of these alone, in the order of the whole
            index. None fetches all.
        progress: Called after each file.

    Returns:
        The manifest of the folder, of the segments that were asked for.
    """
    store = open_store(place)
    whole = _manifest(store)
    for _ in range(_ATTEMPTS):
        manifest = _of_segments(whole, segments, store)
        try:
            _fetch(store, manifest, folder, progress or (lambda done, total: None))
            return manifest
        except (FileNotFoundError, StorageError) as error:
            newer = _manifest(store)
            if newer != whole:
                whole = newer
            elif isinstance(error, StorageError):
                raise
            else:
                raise StorageError(
                    f"'{store.place}' lacks a file of its index ({error}); restore it or build the index again."
                ) from error
    raise StorageError(f"'{store.place}' changed {_ATTEMPTS} times while it was fetched; try again later.")


def _manifest(store: Store) -> Manifest:
    try:
        content = store.read(MANIFEST_FILE)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise PhraseIndexError(
            f"'{store.place}' is no index: it has no {MANIFEST_FILE}; give one made by `densephrases index` or "
            "`densephrases cluster build`."
        ) from error
    with TemporaryDirectory() as folder:
        (Path(folder) / MANIFEST_FILE).write_bytes(content)
        try:
            return Manifest.load(Path(folder))
        except PhraseIndexError as error:
            raise PhraseIndexError(str(error).replace(folder, store.place)) from error


def _of_segments(manifest: Manifest, segments: Collection[str] | None, store: Store) -> Manifest:
    if segments is None:
        return manifest
    kept = tuple(entry for entry in manifest.segments if entry.name in segments)
    if missing := sorted(set(segments) - {entry.name for entry in kept}):
        raise DataError(f"The index '{store.place}' has no segment '{missing[0]}'; it may have been replaced.")
    return replace(manifest, segments=kept, unfinished=())


def _fetch(store: Store, manifest: Manifest, folder: Path, progress: Progress) -> None:
    files, known = manifest.files(), _known_files(folder)
    total, done = sum(entry.size for entry in files.values()), 0
    for parent in {(folder / name).parent for name in files} | {folder}:
        make_folder(parent)
    with ThreadPoolExecutor(_THREADS, "fetch") as executor:
        waiting = {name: executor.submit(_fetch_file, store, name, folder, files[name], known) for name in files}
        try:
            for name, each in waiting.items():
                each.result()
                done += files[name].size
                progress(done, total)
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            raise
    with TemporaryDirectory(prefix=".fetch-", dir=folder) as own:  # another process may write the same files just now
        manifest.save(Path(own))
        with suppress(FileNotFoundError):
            replace_file(Path(own) / CONFIDENCE_FILE, store.read(CONFIDENCE_FILE))
        for path in sorted(Path(own).iterdir()):
            path.replace(folder / path.name)


def _known_files(folder: Path) -> Mapping[str, FileEntry]:
    """What an earlier call has compared already."""
    with suppress(PhraseIndexError):
        return Manifest.load(folder).files()
    return {}


def _fetch_file(store: Store, name: str, folder: Path, entry: FileEntry, known: Mapping[str, FileEntry]) -> None:
    path = folder / name
    is_there = path.is_file() and path.stat().st_size == entry.size
    if is_there and (known.get(name) == entry or FileEntry.from_file(path) == entry):
        return
    new = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.new")
    try:
        store.get(name, new, entry)
        new.replace(path)
    finally:
        with suppress(OSError):
            new.unlink()
