"""Files and links of others, put anywhere into an index before or while it is changed: not a byte of them is lost."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from densephrases.errors import DensePhrasesError
from densephrases.index.fitted_confidence import CONFIDENCE_FILE
from densephrases.index.manifest import MANIFEST_FILE, Manifest

from .file_operations import FileOperation, Recorder, unsynced, watched
from .outcome import Outcome
from .small_index import Prepared, held, prepared, small_segments

PROMISE = "What others put into an index folder is neither removed nor changed, and no link is followed"
_NAMES = ("clip.mp4", "text.bin.bak", "000001", "notes", "segments", "manifest.json.old", "000002.bin.txt", "données")


@dataclass(frozen=True, slots=True)
class Intrusion:
    """What is put where: a file, or a link to a file or folder outside."""

    place: str
    is_link: bool
    replaces: bool  # what is there, which moves outside


def attack(cases: int, seed: int, folder: Path) -> Outcome:
    random = Random(seed)  # noqa: S311
    failures: list[str] = []
    with small_segments(), unsynced():
        operations = [each for each in prepared(folder) if each.name != "create"]
        for number in range(cases):
            operation = operations[number % len(operations)]
            intrusion = _intrusion(operation, random)
            at = random.choice([0, 0, random.randrange(len(operation.done.log))]) if not intrusion.replaces else 0
            if wrong := _wrong(operation, intrusion, at, folder):
                failures.append(f"{operation.name}, {intrusion} after {at} operations: {wrong}")
    return Outcome(PROMISE, cases, tuple(failures))


def _intrusion(operation: Prepared, random: Random) -> Intrusion:
    manifest = Manifest.load(operation.start)
    segments = [f"segments/{each.name}" for each in manifest.segments]
    own = [*segments, "segments", "deleted", MANIFEST_FILE, *manifest.files()]
    new = [f"segments/{manifest.next_number + i:06d}" for i in range(4)]
    new += [f"deleted/{manifest.next_number + i:06d}.bin" for i in range(4)]
    kind = random.choice(["file", "link", "replacing link"])
    if kind == "replacing link":
        return Intrusion(random.choice(own), is_link=True, replaces=True)
    if kind == "file":
        folders = ["", "segments/", "deleted/", "segments/holiday/", *(f"{each}/" for each in [*segments, *new[:2]])]
        return Intrusion(random.choice(folders) + random.choice(_NAMES), is_link=False, replaces=False)
    ours = [*new, f".{MANIFEST_FILE}.new", CONFIDENCE_FILE, *(f"{each}/candidates.faiss" for each in segments)]
    return Intrusion(random.choice(ours), is_link=True, replaces=False)


class _Intruder(Recorder):
    """Acts after some operations."""

    def __init__(self, at: int, act: Callable[[], None]) -> None:
        super().__init__()
        self.at = at
        self.act = act

    def after(self, operation: FileOperation) -> None:
        super().after(operation)
        if len(self.log) == self.at:
            self.act()


def _wrong(operation: Prepared, intrusion: Intrusion, at: int, folder: Path) -> str:
    """What is lost or wrong; an empty text if nothing is."""
    index, outside = folder / "case", folder / "outside"
    operation.copy_start(index)
    shutil.rmtree(outside, ignore_errors=True)
    _fill(outside)
    put: list[Path] = []

    def act() -> None:
        put.extend(_put(intrusion, index, outside))

    if at == 0:
        act()
    before = _bytes(outside) | _bytes_of(put)
    intruder = _Intruder(at, act)
    try:
        with watched(index, intruder):
            operation.change(index)
    except (DensePhrasesError, OSError) as error:
        failed: Exception | None = error
    else:
        failed = None
    if at > 0:
        before |= {str(path): b"mine" for path in put if not intrusion.is_link}
    found = _bytes(outside) | _bytes_of(put)
    if found != before:
        return f"lost or changed: {sorted(key for key in before | found if before.get(key) != found.get(key))}"
    return _wrong_index(operation, intrusion, index, outside, failed)


def _fill(outside: Path) -> None:
    """With files that have names of ours."""
    for name in ("text.bin", "vectors.bin", "candidates.faiss", "000001/text.bin", "000001.bin", "plain"):
        (outside / name).parent.mkdir(parents=True, exist_ok=True)
        (outside / name).write_bytes(b"mine")


def _put(intrusion: Intrusion, index: Path, outside: Path) -> list[Path]:
    path = index / intrusion.place
    if intrusion.replaces:
        path.rename(outside / "moved")
        path.symlink_to(outside / "moved")
        return []
    if path.exists() or path.is_symlink() or path.parent.is_file():
        return []
    path.parent.mkdir(parents=True, exist_ok=True)
    if intrusion.is_link:
        path.symlink_to(outside / "plain" if path.suffix else outside)
        return []
    path.write_bytes(b"mine")
    return [path]


def _bytes(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _bytes_of(paths: list[Path]) -> dict[str, bytes]:
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in paths}


def _wrong_index(operation: Prepared, intrusion: Intrusion, index: Path, outside: Path, error: Exception | None) -> str:
    """Without the intrusion the index holds a state that was committed, the last one unless an error was reported."""
    states = operation.done.states
    path = index / intrusion.place
    if intrusion.replaces:
        path.unlink(missing_ok=True)
        (outside / "moved").rename(path)
    elif path.is_symlink():
        path.unlink()
    try:
        state = held(index)
    except (DensePhrasesError, OSError) as damage:
        return repr(damage)
    if state not in (states if error is not None else states[-1:]):
        return "the index does not hold what was committed"
    return "" if error is not None or not intrusion.replaces else "a link was not refused"
