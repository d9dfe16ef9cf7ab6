"""JSON lines written over several runs: an interrupted and resumed file equals one written without a break."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from densephrases.errors import DataError
from densephrases.json_input import parse_json


class ResumableLines:
    """Collects lines in `TARGET.unfinished`, which becomes the target in the end; the first line holds the settings.

    On resuming, an incomplete line and an incomplete group of `group` lines at the end are dropped.
    """

    def __init__(self, target: Path, settings: Mapping[str, Any], group: int = 1, resume: bool = True) -> None:
        self.target = target
        self.path = target.with_name(f"{target.name}.unfinished")
        self.head = _head(settings)
        target.parent.mkdir(parents=True, exist_ok=True)
        self.done = self._resume(group) if resume and self.path.is_file() else self._begin()

    @classmethod
    def is_finished(cls, target: Path, settings: Mapping[str, Any]) -> bool:
        """Whether the target exists and was written with the same settings."""
        if not target.is_file():
            return False
        with target.open("rb") as file:
            return file.readline().rstrip(b"\n") == _head(settings).encode()

    def _begin(self) -> int:
        self.path.write_text(self.head + "\n", encoding="utf-8")
        return 0

    def _resume(self, group: int) -> int:
        lines = self.path.read_bytes().split(b"\n")[:-1]  # after the last newline: nothing, or an incomplete line
        if not lines:
            return self._begin()
        if lines[0] != self.head.encode():
            raise DataError(
                f"'{self.path}' was started with other settings ({lines[0].decode(errors='replace'):.300}); "
                "continue with those, or start over with --no-resume."
            )
        done = (len(lines) - 1) // group * group
        self.path.write_bytes(b"".join(line + b"\n" for line in lines[: done + 1]))
        return done

    def add(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Appends a whole group; the file is closed when this returns."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))

    def records(self) -> list[dict[str, Any]]:
        """The collected records, without the settings."""
        with self.path.open("rb") as file:
            return [self._record(number, line) for number, line in enumerate(file, start=1)][1:]

    def _record(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            record = parse_json(line)
            if not isinstance(record, dict):
                raise ValueError(f"it is {type(record).__name__}, expected an object")
        except ValueError as error:
            raise DataError(
                f"'{self.path}', line {number}, is damaged ({error}); start over with --no-resume."
            ) from error
        return record

    def finish(self) -> None:
        """Renames the collected lines to the target."""
        self.path.rename(self.target)

    def discard(self) -> None:
        self.path.unlink()


def _head(settings: Mapping[str, Any]) -> str:
    return json.dumps({"settings": settings}, ensure_ascii=False, sort_keys=True)
