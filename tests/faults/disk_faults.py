"""Faults of the disk: any file operation of a change fails, once or for good, or writes less than asked."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from unittest.mock import patch

from densephrases.errors import DensePhrasesError, DiskFullError, PhraseIndexError
from densephrases.index.files import open_files
from densephrases.index.manifest import DELETED_FOLDER, SEGMENTS_FOLDER, Manifest

from .file_operations import FileOperation, Kind, Recorder, unsynced, watched
from .outcome import Outcome
from .small_index import Prepared, held, is_commit, prepared, small_segments

PROMISE = "A fault of the disk is reported, loses nothing that was committed, and leaves nothing behind"
SHORT = 0  # a write that stores half of what was asked, which is no error
_FULL = (errno.ENOSPC, errno.EDQUOT)
_FAULTS: dict[Kind, tuple[int, ...]] = {
    "open": (errno.EIO, errno.EACCES, errno.EMFILE),
    "create": (*_FULL, errno.EIO, errno.EACCES, errno.EMFILE, errno.EROFS),
    "truncate": (*_FULL, errno.EIO),
    "write": (*_FULL, errno.EIO, SHORT),
    "fsync": (*_FULL, errno.EIO),
    "replace": (errno.ENOSPC, errno.EIO, errno.EACCES),
    "mkdir": (*_FULL, errno.EACCES),
    "unlink": (errno.EIO, errno.EACCES, errno.EBUSY),
    "rmdir": (errno.EIO, errno.EACCES, errno.EBUSY),
}
_GROWING: tuple[Kind, ...] = ("create", "write", "mkdir")  # what a disk that stays full refuses


@dataclass(frozen=True, slots=True)
class Fault:
    operation: Prepared
    at: int  # of the file operations that are tried
    number: int
    lasts: bool

    def __str__(self) -> str:
        tried = self.operation.done.tried[self.at]
        code = errno.errorcode.get(self.number, "short")
        return f"{self.operation.name}, {code}{' for good' if self.lasts else ''} at {tried.kind} of {tried.path}"


class FailingDisk(Recorder):
    """One operation fails; after that of a full disk all that need room, if it lasts."""

    def __init__(self, fault: Fault) -> None:
        super().__init__()
        self.fault = fault

    def before(self, operation: FileOperation) -> int | None:
        number, at = self.fault.number, len(self.tried)
        super().before(operation)
        if at == self.fault.at and number == SHORT:
            return max(len(operation.data) // 2, 1)
        if at == self.fault.at or (self.fault.lasts and at > self.fault.at and operation.kind in _GROWING):
            named = () if operation.kind in ("write", "fsync", "truncate") else (operation.path,)
            raise OSError(number, "planted", *named)
        return None


def attack(cases: int, seed: int, folder: Path) -> Outcome:
    random = Random(seed)  # noqa: S311
    failures: list[str] = []
    with small_segments(), unsynced():
        operations = prepared(folder)
        for number in range(cases):
            fault = _fault(operations[number % len(operations)], random)
            if wrong := _wrong(fault, folder / "case"):
                failures.append(f"{fault}: {wrong}")
    return Outcome(PROMISE, cases, tuple(failures))


def _fault(operation: Prepared, random: Random) -> Fault:
    """Of every kind of file operation as many."""
    tried = operation.done.tried
    kind = random.choice(sorted({each.kind for each in tried}))
    at = random.choice([number for number, each in enumerate(tried) if each.kind == kind])
    number = random.choice(_FAULTS[kind])
    return Fault(operation, at, number, lasts=number in _FULL and random.random() < 0.5)


@contextmanager
def _no_more_files() -> Iterator[None]:
    """The limit on open files cannot be raised."""
    with patch.object(open_files, "_allow_more", lambda: False):
        yield


def _wrong(fault: Fault, folder: Path) -> str:
    """What is wrong after a fault; an empty text if nothing is."""
    fault.operation.copy_start(folder)
    before = _files(folder)
    disk = FailingDisk(fault)
    try:
        with watched(folder, disk), _no_more_files():
            fault.operation.change(folder)
    except (DensePhrasesError, OSError) as error:
        failed: Exception | None = error
    else:
        failed = None
    try:
        return (
            _wrong_error(fault, failed)
            or _wrong_state(fault, disk, folder, failed)
            or _left_over(fault, folder, before)
            or _wrong_repetition(fault, folder)
        )
    except (DensePhrasesError, OSError, AssertionError, ValueError, IndexError, KeyError) as error:
        return repr(error)


def _wrong_error(fault: Fault, error: Exception | None) -> str:
    """Only what does no harm may fail in silence: removing files, making folders that are there, naming the writer."""
    done, tried = fault.operation.done, fault.operation.done.tried[fault.at]
    if error is None:
        is_harmless = (
            tried.kind in ("unlink", "rmdir")
            or tried.path == "writer.lock"
            or (tried.kind == "mkdir" and tried not in done.log)
        )
        return "" if is_harmless or fault.number == SHORT else "it was not reported"
    if fault.number in _FULL:
        return "" if isinstance(error, DiskFullError) else f"a full disk was reported as {error!r}"
    if isinstance(error, PhraseIndexError):
        return ""
    assert isinstance(error, OSError)
    return "" if error.errno == fault.number and error.filename else f"it was reported as {error!r}"


def _wrong_state(fault: Fault, disk: FailingDisk, folder: Path, error: Exception | None) -> str:
    states = fault.operation.done.states
    commits = sum(map(is_commit, disk.log))
    if error is None and commits != len(states) - 1:
        return "it says that it has succeeded, but has not"
    return "" if held(folder) == states[commits] else "the index does not hold what was committed"


def _left_over(fault: Fault, folder: Path, before: set[str]) -> str:
    """Neither named now nor there before: it would keep a full disk full."""
    if fault.operation.done.tried[fault.at].kind in ("unlink", "rmdir") or not (folder / "manifest.json").exists():
        return ""
    others = _files(folder) - before - set(Manifest.load(folder).files())
    return f"{len(others)} files are left over, such as {min(others)}" if others else ""


def _files(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for place in (SEGMENTS_FOLDER, DELETED_FOLDER)
        for path in (folder / place).rglob("*")
        if path.is_file()
    }


def _wrong_repetition(fault: Fault, folder: Path) -> str:
    fault.operation.change(folder)
    return "" if held(folder) == fault.operation.done.states[-1] else "when repeated, it ends in another state"
