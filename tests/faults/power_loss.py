"""Power losses: the file operations of every change are cut at every point, and what a disk may then hold is opened."""

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

from densephrases.errors import DensePhrasesError
from densephrases.index.folder import IndexFolder

from .file_operations import FileOperation, unsynced, watched
from .model_disk import ModelDisk, Tree, write_tree
from .outcome import Outcome
from .small_index import (
    FIRST,
    OPERATIONS,
    KilledError,
    Killer,
    Recording,
    State,
    create,
    encoder,
    held,
    is_commit,
    made,
    recorded,
    small_segments,
)

PROMISE = "After a power loss an index holds what it held before the change or after it, and can be changed again"
FOREIGN = {"notes.txt": b"mine", "segments/holiday/clip.mp4": b"mine", "deleted/list.txt": b"mine"}
ENOUGH = 20  # failures, after which no more states are tried
_NEXT = made(90)

Cut = tuple[int, int, int]
"""Number of a history, of a change in it, and of the file operations of this change that were done."""


@dataclass(frozen=True, slots=True)
class _Story:
    """Changes, one that is killed, and the next one, in which the power is lost."""

    before: tuple[str, ...]
    interrupted: str
    after: str


_STORIES = (
    _Story(("create",), "add", "optimize"),
    _Story(("create", "delete"), "optimize", "update"),
)


@dataclass(frozen=True, slots=True)
class Change:
    """The file operations of a change, and what the index may hold before each and after the last."""

    name: str
    log: list[FileOperation]
    allowed: list[list[State]]

    def cuts(self) -> Iterator[int]:
        """Opening a file changes nothing."""
        yield from (number for number, each in enumerate(self.log, 1) if each.kind != "open")

    def critical_cuts(self) -> Iterator[int]:
        """Around commits, when most is at stake, and at the end, when all is promised."""
        commits = [number for number, each in enumerate(self.log) if is_commit(each)]
        yield from (cut for cut in self.cuts() if cut == len(self.log) or any(-9 < cut - at < 5 for at in commits))


def attack(cases: int, seed: int, folder: Path) -> Outcome:
    random = Random(seed)  # noqa: S311
    failures: list[str] = []
    seen: set[int] = set()
    with small_segments(), unsynced():
        histories = _histories(random, folder)
        while len(seen) < cases and len(failures) < ENOUGH:
            for name, tree, allowed in _states(histories, _picked(histories, random, cases), random):
                key = hash((name, tuple(tree.items())))
                if key in seen or len(seen) == cases or len(failures) >= ENOUGH:
                    continue
                seen.add(key)
                if wrong := _wrong(folder / "state", tree, allowed, adding=len(seen) % 8 == 0):
                    failures.append(f"{name}: {wrong}")
    return Outcome(PROMISE, len(seen), tuple(failures))


def _histories(random: Random, folder: Path) -> list[list[Change]]:
    """All changes one after the other; and changes that are interrupted before the next."""
    plain = [_finished(name, folder / "plain", change) for name, change in OPERATIONS.items()]
    return [plain, *(each for story in _STORIES for each in _interrupted_histories(story, random, folder))]


def _interrupted_histories(story: _Story, random: Random, folder: Path) -> Iterator[list[Change]]:
    base = folder / f"base {story.interrupted}"
    before = [_finished(name, base, OPERATIONS[name]) for name in story.before]
    whole = _recorded_copy(base, OPERATIONS[story.interrupted])
    commits = [number for number, each in enumerate(whole.log, 1) if is_commit(each)]
    others = [number for number, each in enumerate(whole.log, 1) if each.kind != "open"]
    for killed in [*commits, random.choice(others)]:
        yield [*before, *_interrupted(base, whole, story, killed)]


def _finished(name: str, folder: Path, change: Callable[[Path], None]) -> Change:
    done = recorded(folder, change)
    _add_foreign(folder)
    return Change(name, done.log, [*_allowed(done)[:-1], [done.states[-1]]])


def _add_foreign(folder: Path) -> None:
    for name, content in FOREIGN.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)


def _recorded_copy(folder: Path, change: Callable[[Path], None]) -> Recording:
    copy = shutil.copytree(folder, folder.with_name("copy"))
    done = recorded(copy, change)
    shutil.rmtree(copy)
    return done


def _allowed(done: Recording, uncertain: State = None) -> list[list[State]]:
    """A commit is certain when the names in the index folder are synced; `uncertain` is what one before may undo."""
    allowed, commits = [[done.states[0], *([] if uncertain is None else [uncertain])]], 0
    for each in done.log:
        commits += is_commit(each)
        if is_commit(each):
            allowed.append([*allowed[-1], done.states[commits]])
        elif (each.kind, each.path) == ("fsync", "."):
            allowed.append([done.states[commits]])
        else:
            allowed.append(allowed[-1])
    return allowed


def _interrupted(base: Path, whole: Recording, story: _Story, killed: int) -> Iterator[Change]:
    """A change of which only some operations are done, and the next one."""
    copy = shutil.copytree(base, base.with_name("copy"))
    killer = Killer(killed)
    with watched(copy, killer), suppress(KilledError):
        OPERATIONS[story.interrupted](copy)
    allowed = _allowed(whole)[: killed + 1]
    yield Change(f"{story.interrupted} killed after {killed}", killer.log, allowed)
    uncertain = allowed[-1][0] if len(allowed[-1]) > 1 else None
    done = recorded(copy, OPERATIONS[story.after])
    name = f"{story.after} after {story.interrupted} was killed after {killed}"
    yield Change(name, done.log, [*_allowed(done, uncertain)[:-1], [done.states[-1]]])
    shutil.rmtree(copy)


def _picked(histories: list[list[Change]], random: Random, cases: int) -> Counter[Cut]:
    """As many of each change, half of them at critical cuts."""
    changes = [
        (h, c) for h, history in enumerate(histories) for c in range(len(history)) if h == 0 or c >= len(history) - 2
    ]
    picked: Counter[Cut] = Counter()
    for number in range(cases):
        h, c = changes[number % len(changes)]
        cuts = Change.cuts if random.random() < 0.5 else Change.critical_cuts
        picked[h, c, random.choice(list(cuts(histories[h][c])))] += 1
    return picked


def _states(
    histories: list[list[Change]], picked: Counter[Cut], random: Random
) -> Iterator[tuple[str, Tree, list[State]]]:
    for h, history in enumerate(histories):
        disk = ModelDisk()
        for c, change in enumerate(history):
            for done, operation in enumerate(change.log, 1):
                disk.apply(operation)
                for _ in range(picked[h, c, done]):
                    yield (
                        f"{change.name}, {done} of {len(change.log)}",
                        disk.after_power_loss(random),
                        change.allowed[done],
                    )
            for name, content in FOREIGN.items() if c == 0 else ():
                disk.add(name, content)


def _wrong(folder: Path, tree: Tree, allowed: list[State], *, adding: bool) -> str:
    """What is wrong with an index after a power loss; an empty text if nothing is."""
    shutil.rmtree(folder, ignore_errors=True)
    write_tree(tree, folder)
    try:
        if (state := held(folder)) not in allowed:
            return f"it holds {_ids(state)}, not {' or '.join(map(_ids, allowed))}"
        expected = _changed(folder, state, adding=adding)
        if (changed := held(folder)) != expected:
            return f"after the next change it holds {_ids(changed)}, not {_ids(expected)}"
    except (DensePhrasesError, OSError, AssertionError, ValueError, IndexError, KeyError) as error:
        return repr(error)
    lost = [name for name in FOREIGN if name in tree and (folder / name).read_bytes() != tree[name]]
    return f"files of others are lost: {lost}" if lost else ""


def _changed(folder: Path, state: State, *, adding: bool) -> State:
    """Change an index and say what it has to hold then."""
    if state is None:
        create(folder)
        return {document.id: document for document in FIRST}
    index = IndexFolder.open(folder)
    if adding or not state:
        index.add([_NEXT], encoder())
        return state | {_NEXT.id: _NEXT}
    gone = min(state)
    index.delete([gone])
    return {name: document for name, document in state.items() if name != gone}


def _ids(state: State) -> str:
    return "no index" if state is None else str({name: each.metadata["generation"] for name, each in state.items()})
