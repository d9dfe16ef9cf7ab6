"""What was skipped and left out, told to a person in a few lines."""

from collections import Counter

from rich.console import Console
from rich.markup import escape

from densephrases.text.readers.folders.read_report import ReadReport

_EXAMPLES = 5


def tell_skipped(report: ReadReport, console: Console) -> None:
    """The first reasons, and how many there are of each kind."""
    sentences = [f"Skipped: {skipped}" for skipped in report.examples[:_EXAMPLES]]
    if report.skipped > _EXAMPLES or (report.skipped and report.empty):
        sentences.append(f"{_told(report.kinds, 'records', 'skipped')}; --report FILE lists them.")
    if report.left_out:
        sentences.append(
            f"{_told(report.left_out, 'folders', 'left out')}; "
            "--include PATTERN or --all-files reads them, --report FILE lists them."
        )
    for sentence in sentences:
        console.print(escape(sentence), soft_wrap=True)


def _told(kinds: Counter[str], others: str, done: str) -> str:
    listed = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
    return f"{kinds.total():,} files or {others} {done}: {listed}"
