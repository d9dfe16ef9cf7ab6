"""Progress and summary of a build on a cluster, shown to a person."""

import time
from types import TracebackType
from typing import Self

import typer
from rich.filesize import decimal
from rich.markup import escape
from rich.progress import BarColumn, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.text import Text

from densephrases.cli.lines import counted
from densephrases.cli.show.building import console
from densephrases.cli.show.skipped import tell_skipped
from densephrases.cli.show.time_left import TimeLeft, in_words
from densephrases.cluster.build.cluster_build import BuildState, Built
from densephrases.text.readers.folders.read_report import ReadReport

_LINE_SECONDS = 60.0  # between the lines that replace the bar where there is no terminal


class ClusterBuilding:
    """A bar of the whole cluster on stderr, or a line per minute without a terminal.

    Ctrl-C ends the command with a sentence that says how to go on; tasks that are not finished are done again then.
    """

    def __init__(self, place: str) -> None:
        self._place = place
        self._state = BuildState("connecting to Ray")
        self._began = self._told = time.monotonic()
        self._time_left = TimeLeft(0)
        self._left: float | None = None
        columns = (TextColumn("{task.description}"), BarColumn(), _Shown(self), TimeElapsedColumn())
        self._bar = Bar(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._task = self._bar.add_task("indexing", total=None)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
        if isinstance(error, KeyboardInterrupt):
            state = self._state
            done = f"{state.tasks:,} of {counted(state.all_tasks, 'task')}" if state.all_tasks else "Nothing"
            verb = "are" if state.tasks > 1 else "is"
            self._say(f"Stopped. {done} {verb} done; run the same command again to go on.")
            raise typer.Exit(130)

    def reported(self, state: BuildState) -> None:
        if state.resumed and not self._state.resumed:
            self._say(f"Going on with '{self._place}': {state.resumed} of {counted(state.all_tasks, 'task')} are done.")
        self._state = state
        now = time.monotonic()
        self._time_left.total = state.total
        self._left = self._time_left.at(now - self._began, state.weight) if state.step == "encoding" else None
        self._bar.update(self._task, completed=state.weight, total=state.total or None)
        if self._bar.disable and now - self._told >= _LINE_SECONDS:
            self._told = now
            self._say(self.line)

    @property
    def line(self) -> str:
        state = self._state
        if state.step != "encoding":
            return state.step
        progress, seconds = state.progress, max(time.monotonic() - self._began, 1e-9)
        parts = [
            f"{state.tasks:,} of {counted(state.all_tasks, 'task')}",
            counted(progress.documents, "document"),
            f"{progress.tokens / seconds:,.0f} tokens/s",
            counted(state.encoders, "encoder"),
        ]
        return ", ".join([*parts, *([in_words(self._left)] if self._left is not None else [])])

    def summarise(self, built: Built, report: ReadReport) -> str:
        """One line about the result; skipped files and records are told on stderr."""
        tell_skipped(report, console)
        done, entries = built.progress, built.manifest.segments
        size = sum(file.size for entry in entries for _, file in entry.paths())
        parts = [
            counted(done.passages, "passage"),
            f"{counted(done.tokens, 'token')}, {done.vectors:,} of them kept",
            f"index of {counted(sum(entry.documents for entry in entries), 'document')} and {decimal(size)}",
            f"{time.monotonic() - self._began:,.1f} s",
            *([f"{report.skipped:,} skipped"] if report.skipped else []),
            *([f"{report.empty:,} without text"] if report.empty else []),
        ]
        return f"{counted(done.documents, 'document')} indexed: {', '.join(parts)}"

    def _say(self, sentence: str) -> None:
        self._bar.console.print(escape(sentence), soft_wrap=True)


class _Shown(ProgressColumn):
    def __init__(self, building: ClusterBuilding) -> None:
        super().__init__()
        self._building = building

    def render(self, task: Task) -> Text:
        return Text(self._building.line)
