"""Kills: a process that changes an index ends by SIGKILL between any two of its file operations."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

from densephrases.errors import DensePhrasesError
from densephrases.index.folder import IndexFolder

from .file_operations import FileOperation, Recorder, unsynced, watched
from .outcome import Outcome
from .small_index import Prepared, held, held_by, is_commit, prepared, segment_bytes, small_segments

PROMISE = "A killed writer loses nothing that was committed, disturbs no reader, and can be repeated"
_HANGS = 120  # seconds
_ROOT = Path(__file__).parents[2]


def attack(cases: int, seed: int, folder: Path) -> Outcome:
    """In a process of its own, which forks: this one may have threads, which a fork would not copy."""
    command = [sys.executable, "-m", "tests.faults.kills", str(cases), str(seed), str(folder)]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        return Outcome(PROMISE, 0, (f"the attack itself failed: {done.stderr[-2000:]}",))
    count, failures = json.loads(done.stdout)
    return Outcome(PROMISE, count, tuple(failures))


def kill_writers(cases: int, seed: int, folder: Path) -> tuple[int, list[str]]:
    """The number of kills, and a sentence for each that did harm."""
    random = Random(seed)  # noqa: S311
    failures: list[str] = []
    with small_segments(), unsynced():
        operations = prepared(folder)
        near = [(operation, at) for operation in operations for at in _near_commits(operation)]
        places = [(operation, at) for operation in operations for at in _kill_points(operation)]
        random.shuffle(near)
        others = random.sample(places, len(places)) + random.choices(places, k=cases)
        for operation, at in [*near[: cases // 2], *others][:cases]:
            if wrong := _wrong(operation, at, folder / "case"):
                failures.append(f"{operation.name}, killed after {at} of {len(operation.done.log)}: {wrong}")
    return cases, failures


def _kill_points(operation: Prepared) -> list[int]:
    """Opening a file changes nothing, so there is no sense in a kill right after it."""
    return [number for number, each in enumerate(operation.done.log, 1) if each.kind != "open"]


def _near_commits(operation: Prepared) -> list[int]:
    commits = [number for number, each in enumerate(operation.done.log, 1) if is_commit(each)]
    return [at for at in _kill_points(operation) if any(-3 < at - commit < 3 for commit in commits)]


class _Suicide(Recorder):
    def __init__(self, operations: int) -> None:
        super().__init__()
        self.operations = operations

    def after(self, operation: FileOperation) -> None:
        super().after(operation)
        if len(self.log) == self.operations:
            os.kill(os.getpid(), signal.SIGKILL)


def _wrong(operation: Prepared, at: int, folder: Path) -> str:
    """What is wrong after a kill; an empty text if nothing is."""
    operation.copy_start(folder)
    before, after = operation.done.states[0], operation.done.state_after(at)
    reader = None if before is None else IndexFolder.open(folder)
    if ended := _killed(operation, at, folder):
        return ended
    try:
        if reader is not None and held_by(reader) != before:
            return "an open reader sees another state"
        if held(folder) != after:
            return "the index does not hold what was committed"
        operation.change(folder)
        if held(folder) != operation.done.states[-1]:
            return "when repeated, it ends in another state"
        if operation.name in ("create", "resume") and segment_bytes(folder) != segment_bytes(operation.end):
            return "when resumed, it makes other files"
    except (DensePhrasesError, OSError, AssertionError, ValueError, IndexError, KeyError) as error:
        return repr(error)
    return ""


def _killed(operation: Prepared, at: int, folder: Path) -> str:
    """Change the index in another process, which kills itself; what is wrong if it does not."""
    process = os.fork()
    if process == 0:
        try:
            signal.alarm(_HANGS)
            with watched(folder, _Suicide(at)):
                operation.change(folder)
        finally:
            os._exit(1)
    _, status = os.waitpid(process, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return ""
    return f"it was not killed, but ended with {os.waitstatus_to_exitcode(status)}"


if __name__ == "__main__":
    sys.stdout.write(json.dumps(kill_writers(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))))
