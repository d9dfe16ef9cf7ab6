"""A small index of many segments, the operations that change it, and what it holds, read document by document."""

import os
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from unittest.mock import patch

from densephrases.errors import PhraseIndexError
from densephrases.index.build import builder
from densephrases.index.candidates import by_kind, ivf_training
from densephrases.index.folder import IndexFolder
from densephrases.index.manifest import MANIFEST_FILE, Manifest
from densephrases.index.settings import IndexSettings
from densephrases.text.documents import Document
from tests.conftest import WORDS
from tests.index.made_up import HashEncoder

from .file_operations import FileOperation, Recorder, unsynced, watched

State = dict[str, Document] | None
"""The documents of an index by id; None where there is no index."""


_LONG = (3, 7)


def made(number: int, generation: int = 0) -> Document:
    """Of a few sentences, or of many chunks; each generation of it has another text."""
    pick = random.Random(f"{number} {generation}")  # noqa: S311
    words = [pick.choice(WORDS.split()) for _ in range(400 if number in _LONG else pick.randint(4, 20))]
    return Document(f"d{number}", " ".join(words) + f" {generation}.", f"title {number}", {"generation": generation})


FIRST = [made(number) for number in range(6)]
MORE = [made(number) for number in range(6, 9)]
CHANGED = [made(2, 1), made(7, 1), made(11)]
DELETED = ["d1", "d8"]


@cache
def encoder() -> HashEncoder:
    return HashEncoder()


@contextmanager
def small_segments() -> Iterator[None]:
    """A commit after every second document, and candidate files for the smallest segments."""
    with (
        patch.object(builder, "PARTIAL_VECTORS", 20),
        patch.object(builder, "_LOOKED_UP", 2),
        patch.object(by_kind, "FEWEST_CLUSTERED", 20),
        patch.object(ivf_training, "FEWEST_CLUSTERED", 20),
    ):
        yield


def created(folder: Path) -> IndexFolder:
    settings = IndexSettings.from_encoder(encoder(), "hash", "int8").with_candidates("ivf-sq4")
    return IndexFolder.create(folder, settings)


def create(folder: Path) -> None:
    """Create and fill; one that was interrupted is resumed, a finished one stays as it is."""
    is_finished = (folder / MANIFEST_FILE).is_file() and not IndexFolder.open(folder).manifest.building
    index = IndexFolder.open(folder) if is_finished else created(folder)
    index.add(FIRST, encoder())


def add(folder: Path) -> None:
    IndexFolder.open(folder).add(MORE, encoder())


def update(folder: Path) -> None:
    IndexFolder.open(folder).update(CHANGED, encoder())


def delete(folder: Path) -> None:
    index = IndexFolder.open(folder)
    index.delete([name for name in DELETED if index.find(name) is not None])


def optimize(folder: Path) -> None:
    IndexFolder.open(folder).optimize()


OPERATIONS: dict[str, Callable[[Path], None]] = {
    "create": create,
    "add": add,
    "update": update,
    "delete": delete,
    "optimize": optimize,
}
"""In the order in which each finds what the one before has left."""


def held(folder: Path) -> State:
    """All documents; whatever is wrong with the index raises."""
    if not (folder / MANIFEST_FILE).is_file():
        return None
    index = IndexFolder.open(folder)
    if problems := index.check():
        raise PhraseIndexError(problems[0])
    return held_by(index)


def held_by(index: IndexFolder) -> dict[str, Document]:
    snapshot = index.snapshot
    documents = [
        segment.document(number)
        for segment, deleted in zip(snapshot.segments, snapshot.deleted, strict=True)
        for number in range(segment.documents)
        if deleted is None or not deleted[number]
    ]
    found = {document.id: document for document in documents}
    assert len(found) == len(documents) == index.documents, "a document is there twice"
    assert all(index.find(name) == document for name, document in found.items()), "a document is not found"
    return found


def segment_bytes(folder: Path) -> list[dict[str, bytes]]:
    """The files of all segments in order, whatever these are called."""
    return [
        {name: (segment.folder / name).read_bytes() for name in segment.entry.files}
        for segment in IndexFolder.open(folder).segments
    ]


@dataclass(frozen=True, slots=True)
class Recording:
    """An operation that was not disturbed.

    Attributes:
        tried: Its file operations, with those that failed as they may, such as removing what is not there.
        log: Those that succeeded.
        states: What the index held before it and after each commit.
    """

    tried: list[FileOperation]
    log: list[FileOperation]
    states: list[State]

    def state_after(self, operations: int) -> State:
        """What the index holds after the first file operations."""
        return self.states[sum(is_commit(each) for each in self.log[:operations])]


def is_commit(operation: FileOperation) -> bool:
    return operation.kind == "replace" and operation.target == MANIFEST_FILE


def recorded(folder: Path, change: Callable[[Path], None]) -> Recording:
    """Change the index in a folder and record how."""
    recorder, states = Recorder(), [held(folder)]
    save = Manifest.save

    def save_and_look(manifest: Manifest, place: Path) -> None:
        save(manifest, place)
        with (
            patch.object(recorder, "before", lambda operation: None),
            patch.object(recorder, "after", lambda operation: None),
        ):
            states.append(held(folder))

    with watched(folder, recorder), patch.object(Manifest, "save", save_and_look):
        change(folder)
    with unsynced():
        assert held(folder) == states[-1]
    return Recording(recorder.tried, recorder.log, states)


@dataclass(frozen=True, slots=True)
class Prepared:
    """An operation that was recorded, the index before it and that after it."""

    name: str
    change: Callable[[Path], None]
    start: Path
    end: Path
    done: Recording

    def copy_start(self, folder: Path) -> None:
        """In place of what is there. Files are linked, as the index never changes one that it has written."""
        _copy(self.start, folder)


def prepared(folder: Path) -> list[Prepared]:
    """All operations, and the resumption of a creation that was interrupted."""
    place, found = folder / "now", list[Prepared]()
    for name, change in OPERATIONS.items():
        found.append(_prepared(name, change, place, folder))
    _copy(found[0].start, place)
    half = found[0].done.log[: len(found[0].done.log) * 2 // 3]
    with watched(place, Killer(len(half))), suppress(KilledError):
        create(place)
    return [*found, _prepared("resume", create, place, folder)]


def _prepared(name: str, change: Callable[[Path], None], place: Path, folder: Path) -> Prepared:
    start, end = folder / f"before {name}", folder / f"after {name}"
    _copy(place, start)
    done = recorded(place, change)
    _copy(place, end)
    return Prepared(name, change, start, end, done)


def _copy(source: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    if source.exists():
        shutil.copytree(source, target, copy_function=os.link)


class KilledError(BaseException):
    """In place of the end of the process."""


class Killer(Recorder):
    """Lets nothing happen after some operations, as if the process had ended."""

    def __init__(self, operations: int) -> None:
        super().__init__()
        self.operations = operations

    def before(self, operation: FileOperation) -> int | None:
        if len(self.log) >= self.operations:
            raise KilledError
        return super().before(operation)
