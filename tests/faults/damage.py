"""Ways to damage a file, and a process that says what a damaged folder answers.

The process is another one, as damage may kill it; then it is started again.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any, Self

from densephrases.errors import DensePhrasesError

SECTOR = 512
LONGEST_WAIT = 120.0  # seconds for one answer


def seeded(seed: int) -> Random:
    return Random(seed)  # noqa: S311


def flip(data: bytes, random: Random) -> bytes:
    """One bit, often at an end of the file."""
    at = random.choice([0, len(data) - 1, random.randrange(len(data)), random.randrange(len(data))])
    return data[:at] + bytes([data[at] ^ (1 << random.randrange(8))]) + data[at + 1 :]


def zero(data: bytes, random: Random) -> bytes:
    """A sector of zeros."""
    at = random.randrange(-(-len(data) // SECTOR)) * SECTOR
    return data[:at] + bytes(len(data[at : at + SECTOR])) + data[at + SECTOR :]


def truncate(data: bytes, random: Random) -> bytes:
    return data[: random.choice([0, len(data) - 1, len(data) // 2, random.randrange(len(data))])]


def extend(data: bytes, random: Random) -> bytes:
    return data + random.choice([b"\0", data, random.randbytes(random.randrange(1, 5000))])


def swap(data: bytes, random: Random) -> bytes:
    """Two sectors, or two parts of a small file."""
    size = SECTOR if len(data) >= 2 * SECTOR else len(data) // 2
    first, second = sorted(random.sample(range(len(data) // size), 2)) if size else (0, 0)
    one, other = data[first * size : (first + 1) * size], data[second * size : (second + 1) * size]
    between, rest = data[(first + 1) * size : second * size], data[(second + 1) * size :]
    return data[: first * size] + other + between + one + rest if size else data


DAMAGES: tuple[Callable[[bytes, Random], bytes], ...] = (flip, truncate, zero, extend, swap)


def damaged(data: bytes, number: int, random: Random) -> tuple[str, bytes]:
    """The data damaged in some way, and its name; never as it was. An empty file can only grow."""
    for kind in (DAMAGES[number % len(DAMAGES)], flip) if data else (extend,):
        for _ in range(5):
            changed = kind(data, random) if data else random.randbytes(random.randrange(1, 99))
            if changed != data:
                return kind.__name__, changed
    raise AssertionError("a flipped bit changes every file")


@dataclass
class Judge:
    """Asks a function of a folder, `module:name`, in another process."""

    function: str
    _expected: list[tuple[Path, str]] = field(default_factory=list)

    @cached_property
    def _line(self) -> Any:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        self._process = context.Process(target=_answer_folders, args=(self.function, theirs), daemon=True)
        self._process.start()
        theirs.close()
        return ours

    def expect(self, folder: Path, option: str = "") -> None:
        """Remember what it says of a sound folder."""
        if problem := self._asked("expect", folder, option):
            raise AssertionError(problem)
        self._expected.append((folder, option))

    def restart(self) -> None:
        """If the process has died; folders must be sound again."""
        if "_line" not in vars(self):
            expected, self._expected = self._expected, []
            for folder, option in expected:
                self.expect(folder, option)

    def problem(self, folder: Path, option: str = "") -> str:
        """What is wrong with its answers from a damaged folder: empty if they are right, or refused by our error."""
        return self._asked("compare", folder, option)

    def _asked(self, what: str, folder: Path, option: str) -> str:
        try:
            self._line.send((what, folder, option))
            if self._line.poll(LONGEST_WAIT):
                return str(self._line.recv())
        except (EOFError, OSError):
            self._process.join(LONGEST_WAIT)
            problem = f"the process died with code {self._process.exitcode}"
        else:
            problem = f"no answer in {LONGEST_WAIT:.0f} seconds"
        self.close()
        return problem

    def close(self) -> None:
        if "_line" in vars(self):
            self._line.close()
            self._process.kill()
            self._process.join()
            del self._line

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _answer_folders(function: str, line: Any) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # libraries print what they raise
    module, name = function.split(":")
    answers = getattr(import_module(module), name)
    expected: dict[tuple[Path, str], Any] = {}
    while True:
        try:
            what, folder, option = line.recv()
        except EOFError:
            return
        line.send(_verdict(what, answers, folder, option, expected))


def _verdict(what: str, answers: Any, folder: Path, option: str, expected: dict[tuple[Path, str], Any]) -> str:
    try:
        found = answers(folder, option)
    except DensePhrasesError as error:
        sentence = str(error)
        return "" if what == "compare" and sentence else f"refused: {sentence!r}"
    except BaseException as error:
        return f"raw {type(error).__name__}: {error}"
    if what == "expect":
        expected[folder, option] = found
        return ""
    return "" if found == expected.get((folder, option)) else "other answers"
