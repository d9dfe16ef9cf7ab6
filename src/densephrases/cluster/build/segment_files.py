"""Segments of a build where they are worked on: in place in a folder, else in scratch space beside a store."""

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from densephrases.atomic_files import make_folder
from densephrases.cluster.storage.base import Store
from densephrases.index.manifest import SegmentEntry

_THREADS = 8


@contextmanager
def work_folder(store: Store, name: str) -> Iterator[Path]:
    """A folder that is not there yet: in place, where it stays unless the block fails, or in scratch space."""
    if store.folder is None:
        with scratch_folder() as scratch:
            yield scratch / Path(name).name
        return
    folder = store.folder / name
    make_folder(folder.parent)
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Below TMPDIR, for the time of the block."""
    folder = Path(mkdtemp(prefix="densephrases-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def upload_segment(store: Store, folder: Path, name: str, entry: SegmentEntry) -> None:
    with ThreadPoolExecutor(_THREADS, "upload") as executor:
        waiting = [
            executor.submit(store.put, folder / file, f"{name}/{file}", size) for file, size in entry.files.items()
        ]
        for each in waiting:
            each.result()


def local_segment(store: Store, name: str, entry: SegmentEntry, scratch: Path, *files: str) -> Path:
    """The folder of a segment's files, which are fetched unless they can be read in place; all, or only some of them.

    What is fetched is compared with its checksum.
    """
    if store.folder is not None:
        return store.folder / name
    folder = scratch / name
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {file: size for file, size in entry.files.items() if not files or file in files}
    with ThreadPoolExecutor(_THREADS, "fetch") as executor:
        waiting = [executor.submit(store.get, f"{name}/{file}", folder / file, size) for file, size in wanted.items()]
        for each in waiting:
            each.result()
    return folder
