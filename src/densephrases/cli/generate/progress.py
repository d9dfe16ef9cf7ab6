"""What the generation commands print: a progress bar, leaks into test files, counts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from densephrases.cli.lines import counted

if TYPE_CHECKING:
    from densephrases.data.decontaminate import LeakReport
    from densephrases.data.generated.without_passages import QuestionCounts

console = Console(stderr=True, highlight=False)


@contextmanager
def progress_bar(name: str) -> Iterator[Callable[[int], None]]:
    """Yields a function that advances the bar, which appears with the first item: an early error prints one line."""
    with progress_bars(name) as (advance,):
        yield advance


@contextmanager
def progress_bars(*names: str) -> Iterator[list[Callable[[int], None]]]:
    """Yields a function for each bar; all bars stand below each other, and each appears with its first item."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    bars = Progress(*columns, TimeElapsedColumn(), console=console)

    def advance_of(name: str) -> Callable[[int], None]:
        task = bars.add_task(name, total=None, visible=False, start=False)

        def advance(count: int) -> None:
            if count:
                bars.start()
                bars.start_task(task)
                bars.update(task, advance=count, visible=True)

        return advance

    try:
        yield [advance_of(name) for name in names]
    finally:
        if bars.live.is_started:  # stopping bars that never started would print an empty line
            bars.stop()


def show_leaks(leaks: "LeakReport", exclude: list[Path] | None) -> None:
    if exclude:
        console.print(f"{leaks}.")
    else:
        console.print("Nothing was checked against test files: name them with --exclude.")


def question_counts(counts: "QuestionCounts") -> str:
    return f"{counted(counts.questions, 'question')} about {counted(counts.passages, 'passage')}"
