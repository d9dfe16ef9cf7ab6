"""What is to be read, cut into tasks: consecutive files, or ranges of lines of large ones, in reading order."""

import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

from densephrases.errors import DataError
from densephrases.text.readers.files import is_compressed
from densephrases.text.readers.folders.found_files import FoundFile, shown
from densephrases.text.readers.folders.roots import Root
from densephrases.text.readers.line_ranges import Cut, LineRange, cuts

_TASKS_PER_ENCODER = 4  # that are at least still to come when one is made, so that all encoders end at about one time
_MOST_FILES = 2000  # of a task
_EXPANSION = 4  # times its size that a compressed file has


@dataclass(frozen=True, slots=True)
class TaskSize:
    """Bytes of the files of a task. Tasks are large at first and small at last, so that all encoders end together."""

    least: int = 1 << 17  # about a chunk
    most: int = 1 << 22

    def of_next(self, left: int, encoders: int) -> int:
        return min(max(left // (_TASKS_PER_ENCODER * encoders), self.least), self.most)


CPU_TASKS = TaskSize()
GPU_TASKS = TaskSize(least=1 << 23, most=1 << 26)  # a GPU encodes megabytes in a second


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file or a range of one, as it was when the plan was made."""

    file: FoundFile
    size: int
    modified_ns: int

    @classmethod
    def from_found(cls, file: FoundFile) -> Self:
        """One that cannot be looked at is planned as empty: reading it reports the error."""
        try:
            state = file.path.stat()
        except OSError:
            return cls(file, 0, 0)
        return cls(file, state.st_size, state.st_mtime_ns)

    @property
    def weight(self) -> int:
        if self.file.lines is not None:
            return self.file.lines.stop - self.file.lines.start
        return self.size * (_EXPANSION if is_compressed(self.file.path) else 1)

    def refuse_changed(self) -> None:
        now = type(self).from_found(self.file)
        if (now.size, now.modified_ns) != (self.size, self.modified_ns):
            raise DataError(
                f"'{shown(self.file.path)}' changed after the build was planned; give --restart to begin again."
            )

    def to_values(self) -> list[Any]:
        file = self.file
        lines = [] if file.lines is None else [file.lines.start, file.lines.stop, file.lines.before]
        return [file.root.name, str(file.path), file.below, file.inside, self.size, self.modified_ns, *lines]

    @classmethod
    def from_values(cls, values: list[Any], roots: dict[str, Root]) -> Self:
        root, path, below, inside, size, modified_ns, *lines = values
        folder = roots[root].folder
        found = FoundFile(Path(path), folder / below, roots[root], inside, LineRange(*lines) if lines else None)
        return cls(found, size, modified_ns)


@dataclass(frozen=True, slots=True)
class Task:
    """What one encoder reads in one go."""

    number: int
    files: tuple[PlannedFile, ...]

    @property
    def weight(self) -> int:
        return sum(file.weight for file in self.files)

    def __str__(self) -> str:
        first, last = (shown(file.file.path) for file in (self.files[0], self.files[-1]))
        return f"'{first}'" if first == last else f"'{first}' to '{last}'"


@dataclass(frozen=True, slots=True)
class Plan:
    """All tasks, whose documents in turn are those of a reader that reads everything alone."""

    tasks: tuple[Task, ...]

    @classmethod
    def from_files(cls, files: Iterable[FoundFile], encoders: int, size: TaskSize = CPU_TASKS) -> Self:
        return cls.from_planned([PlannedFile.from_found(file) for file in files], encoders, size)

    @classmethod
    def from_planned(cls, planned: Sequence[PlannedFile], encoders: int, size: TaskSize) -> Self:
        groups = list(_groups(planned, encoders, size))
        return cls(tuple(Task(number, tuple(group)) for number, group in enumerate(groups, start=1)))

    def states(self) -> dict[str, tuple[int, int]]:
        """Size and time of change of each file."""
        return {str(file.file.path): (file.size, file.modified_ns) for task in self.tasks for file in task.files}

    def to_json(self) -> bytes:
        roots = {file.file.root.name: file.file.root for task in self.tasks for file in task.files}
        values = {
            "roots": [asdict(root) | {"folder": str(root.folder)} for root in roots.values()],
            "tasks": [[file.to_values() for file in task.files] for task in self.tasks],
        }
        return json.dumps(values, separators=(",", ":")).encode()

    @classmethod
    def from_json(cls, content: bytes) -> Self:
        values = json.loads(content)
        roots = {root["name"]: Root(root["name"], Path(root["folder"]), root["prefix"]) for root in values["roots"]}
        return cls(
            tuple(
                Task(number, tuple(PlannedFile.from_values(file, roots) for file in task))
                for number, task in enumerate(values["tasks"], start=1)
            )
        )


def changed_source(before: dict[str, tuple[int, int]], now: Sequence[FoundFile]) -> str:
    """In a few words, the first difference between the files of a plan and those that are there; else empty."""
    found = {str(file.path): PlannedFile.from_found(file) for file in now}
    for path, file in found.items():
        if path not in before:
            return f"'{path}' is new"
        if before[path] != (file.size, file.modified_ns):
            return f"'{path}' has changed"
    return next((f"'{path}' is gone" for path in before if path not in found), "")


def _groups(planned: Sequence[PlannedFile], encoders: int, size: TaskSize) -> Iterator[list[PlannedFile]]:
    left = sum(file.weight for file in planned)
    group: list[PlannedFile] = []
    room = size.of_next(left, encoders)
    for file in planned:
        rest: PlannedFile | None = file
        edges = _cuts(file) if file.weight > room else None
        while rest is not None:
            piece, rest = _taken(rest, edges, room)
            group.append(piece)
            room, left = room - piece.weight, left - piece.weight
            if room <= 0 or len(group) >= _MOST_FILES:
                yield group
                group, room = [], size.of_next(left, encoders)
    if group:
        yield group


def _taken(file: PlannedFile, edges: list[Cut] | None, room: int) -> tuple[PlannedFile, PlannedFile | None]:
    """The first part of a file, of about as many bytes as there is room for, and what is left."""
    if edges is None:
        return file, None
    lines = file.file.lines or LineRange(edges[0].offset, edges[-1].offset)
    at = bisect_left(edges, lines.start + room, key=lambda cut: cut.offset)
    stop = edges[min(at, len(edges) - 1)]
    if stop.offset == lines.stop:
        return _of_lines(file, lines), None
    first = LineRange(lines.start, stop.offset, lines.before)
    return _of_lines(file, first), _of_lines(file, LineRange(stop.offset, lines.stop, stop.lines))


def _of_lines(file: PlannedFile, lines: LineRange) -> PlannedFile:
    return replace(file, file=replace(file.file, lines=lines))


def _cuts(file: PlannedFile) -> list[Cut] | None:
    """None also of a file that will be refused, which is to be told once."""
    path = file.file.path
    if str(path) != shown(path) or path.is_symlink():
        return None
    try:
        return cuts(path)
    except OSError:
        return None
