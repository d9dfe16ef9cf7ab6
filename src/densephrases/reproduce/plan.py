"""A plan of steps, each with a result on disk: a plan that was stopped goes on with the first step without one."""

import json
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from densephrases.atomic_files import make_folder, replace_file
from densephrases.errors import DataError
from densephrases.json_input import read_json_file

Result = dict[str, Any]
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Step:
    """One piece of work; its name is that of its file."""

    name: str
    run: Callable[[], Result]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of our table: for each column that has a figure, the step and the key of its result."""

    name: str
    figures: dict[str, tuple[str, str]]


@dataclass(slots=True)
class Plan:
    """Attributes:
    left_out: Sentences about what is not run, and why.
    """

    steps: list[Step] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def leave_out(self, what: str, reason: str) -> None:
        self.left_out.append(f"{what} is not run: {reason}.")


def run_steps(steps: Sequence[Step], out: Path, tell: Tell = lambda sentence: None) -> dict[str, Result]:
    """The result of each step, from its file if it has been run."""
    folder = out / "steps"
    make_folder(folder)
    results = {}
    for step in steps:
        path = folder / f"{step.name}.json"
        if path.is_file():
            results[step.name] = _read(path)
            continue
        tell(step.name)
        begun = time.monotonic()
        result = step.run()
        seconds = time.monotonic() - begun
        about = {"seconds": round(seconds, 1), "finished": f"{datetime.now(UTC):%Y-%m-%d %H:%M}", "machine": _machine()}
        replace_file(path, json.dumps({"result": result} | about, indent=1) + "\n")
        tell(f"{step.name}: {seconds:,.0f} s")
        results[step.name] = result
    return results


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}"


def _read(path: Path) -> Result:
    try:
        result = read_json_file(path)["result"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"'{path}' is no result of a step: {error}; remove it to run the step again.") from error
    return dict(result)
