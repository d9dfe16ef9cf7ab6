"""Bytes and accuracy of whole indexes of one collection: what codes cost where they are used.

python benchmarks/curve.py INDEX... --questions FILE [--questions FILE ...] [--limit 600] [--verify 0 --verify 1 ...]
    [--exact] [--json FILE] [--plot FILE]

The first answer to each question is judged, as `densephrases eval open` judges it, for at most --limit questions of
each file, from all over it, and for each number of passages that are read again (--verify). --exact compares with every
row instead of searching as usual; the first index might be fp16, which is as good as the model's own vectors. What
--json FILE holds of the same questions is shown and drawn as well, and not measured again.
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from densephrases.data.files import read_questions
from densephrases.data.matching.gold_answers import gold_answers_of
from densephrases.data.questions import OpenQuestion
from densephrases.errors import DataError, DensePhrasesError
from densephrases.evaluate.tune.quantizer import spread_out
from densephrases.search.phrase_index import PhraseIndex

console = Console(width=120)


@dataclass(frozen=True, slots=True)
class Point:
    index: str
    quantizer: str
    verify: int
    tokens: int
    bytes_per_token: float
    open_seconds: float
    milliseconds: float  # a question, 64 at once
    questions: dict[str, int]  # of each file
    exact: bool  # compared with every row
    exact_match: dict[str, float]  # by question file

    @property
    def mean(self) -> float:
        """Of all files, each counting alike."""
        return float(np.mean(list(self.exact_match.values())))


def main(
    indexes: Annotated[list[Path], typer.Argument(help="Of the same collection.")],
    questions: Annotated[list[Path], typer.Option(help="Questions with answers, in any format of eval open.")],
    limit: Annotated[int, typer.Option(min=1, help="Questions of each file.")] = 600,
    verify: Annotated[list[int] | None, typer.Option(min=0, help="Passages read again [default: 0].")] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Compare with every row.")] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures here as well.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw them here; needs matplotlib.")] = None,
) -> None:
    """Prints bytes a token and exact match of each index."""
    try:
        asked = {path.name.split(".")[0]: spread_out(read_questions(path).questions, limit) for path in questions}
        points = read_points(json_file, counts(asked), exact)
        for path in indexes:
            missing = [passages for passages in verify or [0] if (path.name, passages) not in points]
            for point in measured(path, asked, missing, exact):
                points[point.index, point.verify] = point
                write_points(points, json_file)
    except DensePhrasesError as error:
        raise SystemExit(f"Error: {error}") from error
    if plot is not None:
        draw(list(points.values()), plot)
    table = Table("index", "codes", "bytes a token", "opened in s", "read again", "ms a question", *asked, "mean")
    for p in points.values():
        sizes = (f"{p.bytes_per_token:.1f}", f"{p.open_seconds:.2f}", str(p.verify), f"{p.milliseconds:.1f}")
        matches = (f"{value:.2f}" for value in (*p.exact_match.values(), p.mean))
        table.add_row(p.index, p.quantizer, *sizes, *matches)
    console.print(table)
    console.print(", ".join(f"{name}: {len(several)} questions" for name, several in asked.items()))


def counts(asked: Mapping[str, Sequence[OpenQuestion]]) -> dict[str, int]:
    return {name: len(several) for name, several in asked.items()}


def read_points(path: Path | None, questions: dict[str, int], exact: bool) -> dict[tuple[str, int], Point]:
    """What was measured with the same questions and the same kind of search."""
    if path is None or not path.is_file():
        return {}
    points = [Point(**point) for point in json.loads(path.read_text())]
    if any((point.questions, point.exact) != (questions, exact) for point in points):
        raise DataError(f"'{path}' has figures of other questions or of another kind of search; give another file.")
    return {(point.index, point.verify): point for point in points}


def write_points(points: Mapping[tuple[str, int], Point], path: Path | None) -> None:
    if path is not None:
        path.write_text(json.dumps([asdict(point) for point in points.values()], indent=1))


def measured(
    path: Path, asked: dict[str, Sequence[OpenQuestion]], verify: Sequence[int], exact: bool
) -> Iterator[Point]:
    """One index, once for each number of passages that are read again."""
    index = PhraseIndex.open(path)
    begin = time.perf_counter()
    index.search("What is it?", 1)
    opened = time.perf_counter() - begin
    storage = index.disk_usage()
    for passages in verify:
        begin = time.perf_counter()
        matches = {name: exact_match(index, several, passages, exact) for name, several in asked.items()}
        seconds = time.perf_counter() - begin
        point = Point(
            index=path.name,
            quantizer=index.info().settings.quantizer,
            verify=passages,
            tokens=storage.tokens,
            bytes_per_token=storage.bytes_per_token,
            open_seconds=opened,
            milliseconds=1000 * seconds / max(sum(map(len, asked.values())), 1),
            questions=counts(asked),
            exact=exact,
            exact_match=matches,
        )
        console.print(
            f"{point.index}, {passages} read again: {point.bytes_per_token:.1f} bytes a token, {point.mean:.2f} EM"
        )
        yield point


def exact_match(index: PhraseIndex, questions: Sequence[OpenQuestion], passages: int, exact: bool) -> float:
    found = index.search([question.text for question in questions], 1, exact=exact or None, verify=passages)
    words = index.encoder.config.max_words
    right = [
        bool(answers) and gold_answers_of(question, words).right(answers[0].text)
        for question, answers in zip(questions, found, strict=True)
    ]
    return 100 * float(np.mean(right))


def draw(points: Sequence[Point], path: Path) -> None:
    """A line for each number of passages that are read again."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), constrained_layout=True)
    for passages in sorted({p.verify for p in points}):
        some = sorted((p for p in points if p.verify == passages), key=lambda p: p.bytes_per_token)
        label = f"{passages} read again" if passages else "not read again"
        axes.plot([p.bytes_per_token for p in some], [p.mean for p in some], marker="o", label=label)
        for p in some:
            place = (p.bytes_per_token, p.mean)
            axes.annotate(p.index, place, fontsize=7, xytext=(3, -9), textcoords="offset points")
    axes.set(xscale="log", xlabel="bytes for each token of the text, all in", ylabel="exact match %")
    axes.grid(color="0.9")
    axes.legend()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    typer.run(main)
