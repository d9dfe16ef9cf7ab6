"""A file of JSON lines in the making: killed and begun again it ends as if it had never stopped."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from densephrases.errors import DataError


class PartialLines:
    """Lines gathered beside the file they will become; the first says with which settings they are made.

    Only whole lines count, and only whole groups of `group` lines: what is made together is kept together.
    """

    def __init__(self, target: Path, settings: Mapping[str, Any], group: int = 1, resume: bool = True) -> None:
        self.target = target
        self.path = target.with_name(f"{target.name}.unfinished")
        self.head = _head(settings)
        target.parent.mkdir(parents=True, exist_ok=True)
        self.done = self._resume(group) if resume and self.path.is_file() else self._begin()

    @classmethod
    def is_finished(cls, target: Path, settings: Mapping[str, Any]) -> bool:
        """Whether the file has been made already, with the same settings."""
        if not target.is_file():
            return False
        with target.open(encoding="utf-8") as file:
            return file.readline().rstrip("\n") == _head(settings)

    def _begin(self) -> int:
        self.path.write_text(self.head + "\n", encoding="utf-8")
        return 0

    def _resume(self, group: int) -> int:
        lines = self.path.read_bytes().split(b"\n")[:-1]  # behind the last line end is nothing, or half a line
        if not lines:
            return self._begin()
        if lines[0].decode() != self.head:
            raise DataError(
                f"'{self.path}' was begun with other settings ({lines[0].decode():.300}); "
                "finish it with those, or start anew with --no-resume."
            )
        done = (len(lines) - 1) // group * group
        self.path.write_bytes(b"".join(line + b"\n" for line in lines[: done + 1]))
        return done

    def add(self, records: Iterable[Mapping[str, Any]]) -> None:
        """A whole group, on the disk when this returns."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))

    def records(self) -> list[dict[str, Any]]:
        """What has been gathered, without the settings."""
        with self.path.open(encoding="utf-8") as file:
            return [json.loads(line) for line in file][1:]

    def finish(self) -> None:
        """The lines become the file."""
        self.path.rename(self.target)

    def discard(self) -> None:
        self.path.unlink()


def _head(settings: Mapping[str, Any]) -> str:
    return json.dumps({"settings": settings}, ensure_ascii=False, sort_keys=True)
