"""Where the time of a question goes, what the default settings miss, and how much memory it takes.

python benchmarks/search.py [--model small] [--index DIR] [--questions SQUAD.json.gz] [--limit 512] [--no-recall]
    [--json FILE]

Without --index the bundled articles are indexed first; a DIR that does not exist yet is made so and kept. The questions
are those of the bundled articles and of the bundled passages of SQuAD, or of a SQuAD file: recall is measured against
exhaustive search in the same index, so nothing needs to answer them.

Each call is repeated three times. The median and the mean are taken over the best repeat of each call, which other
work on the machine disturbs least; p99 is taken over all single calls, because slow calls are what it is about.
"""

import json
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from densephrases.data.squad import questions_of, read_squad, sample_path
from densephrases.index.kinds import DEFAULT_EFFORT
from densephrases.sample import SAMPLE_QUESTIONS, articles_path
from densephrases.search.answers import Answer
from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.request import SearchRequest
from densephrases.search.timings import Timings
from densephrases.text.readers.read import read_documents

EFFORTS = (0.25, 0.5, 0.75, 1.0)
RECALL_BAR = 0.98
REPEATS = 3
STAGES = ("encode", "candidates", "window", "rest", "total")
PROCESSOR = "processor"  # time of all threads of the process
BARS = {1: 1.6, 64: 1.4}  # times the encoding that a whole search takes, by batch

Seconds = dict[str, float]
"""Of a call, by stage."""


@dataclass(frozen=True, slots=True)
class Spent:
    """Milliseconds per question of each stage, and of processor time of all threads (`PROCESSOR`).

    Attributes:
        best: Of the best repeat of each call.
        every: Of every single call.
    """

    batch: int
    best: dict[str, list[float]]
    every: dict[str, list[float]]

    def median(self, stage: str) -> float:
        return float(np.median(self.best[stage]))

    def p99(self, stage: str) -> float:
        return float(np.percentile(self.every[stage], 99))

    @property
    def ratio(self) -> float:
        """Of the whole time to that of encoding, by their medians."""
        return self.median("total") / self.median("encode")

    def to_dict(self) -> dict[str, Any]:
        numbers = {
            stage: {"mean": float(np.mean(self.best[stage])), "p50": self.median(stage), "p99": self.p99(stage)}
            for stage in (*STAGES, PROCESSOR)
        }
        return {"batch": self.batch, "milliseconds": numbers, "total_to_encode": self.ratio}


def main(
    model: Annotated[str | None, typer.Option(help="A bundled model's name or an exported model's folder.")] = None,
    index: Annotated[Path | None, typer.Option(help="An index, or where to keep that of the articles.")] = None,
    questions: Annotated[Path | None, typer.Option(help="A SQuAD file to ask the questions of.")] = None,
    limit: Annotated[int, typer.Option(help="At most so many questions.")] = 512,
    judged: Annotated[bool, typer.Option("--recall/--no-recall", help="Compare with exhaustive search.")] = True,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures here as well.")] = None,
) -> None:
    """Prints milliseconds a question, recall at ten and memory."""
    asked = read_questions(questions)[:limit]
    with TemporaryDirectory() as place:
        opened = open_or_build(index or Path(place) / "index", model)
        first = seconds_of_first(opened, asked[-1])
        spent = [measure(opened, asked, batch) for batch in BARS]
        memory = peak_megabytes()
        recalls = recall(opened, asked) if judged else {}
        info = opened.info()
        kinds = [str(segment.entry.candidates) for segment in opened.folder.segments]
    console = Console(width=120)
    console.print(
        f"{len(asked)} questions, {info.documents} documents, {info.vectors:,} token vectors, "
        f"{info.bytes / 1e6:.0f} MB on disk, candidates: {', '.join(kinds)}"
    )
    console.print(f"The first question takes {first:.2f} s, which opens the model and the candidates.")
    console.print(times_table(spent))
    if recalls:
        console.print(recall_table(recalls))
    console.print(f"Memory at most {memory:.0f} MB while searching, with the model and the mapped pages of the index.")
    if json_file is not None:
        values = {
            "questions": len(asked),
            "vectors": info.vectors,
            "bytes": info.bytes,
            "candidates": kinds,
            "first_seconds": first,
        }
        measured = {"times": [s.to_dict() for s in spent], "recall": recalls, "peak_megabytes": memory}
        json_file.write_text(json.dumps(values | measured, indent=1))


def read_questions(path: Path | None) -> list[str]:
    """Spread over the whole file: neighbours in it ask about the same passage."""
    if path is None:
        ours = [sample.question for sample in SAMPLE_QUESTIONS]
        return ours + [question.text for _, question in questions_of(read_squad(sample_path()))]
    texts = list(dict.fromkeys(question.text.strip() for _, question in questions_of(read_squad(path))))
    return [texts[i] for i in np.random.default_rng(0).permutation(len(texts)) if texts[i]]


def open_or_build(folder: Path, model: str | None) -> PhraseIndex:
    if not folder.exists():  # in a process of its own, whose memory is not counted here
        builder = get_context("spawn").Process(target=build, args=(folder, model or "small"))
        builder.start()
        builder.join()
    return PhraseIndex.open(folder, model)


def build(folder: Path, model: str) -> None:
    PhraseIndex.create(folder, read_documents([articles_path()]), model=model)


def seconds_of_first(index: PhraseIndex, question: str) -> float:
    begin = time.perf_counter()
    index.search(question, verify=0)
    return time.perf_counter() - begin


def measure(index: PhraseIndex, questions: Sequence[str], batch: int) -> Spent:
    index.search(questions[:batch], verify=0)  # opens the model and maps the index
    best: list[Seconds] = []
    every: list[Seconds] = []
    for first in range(0, len(questions) - batch + 1, batch):
        repeats = [timed(index, questions[first : first + batch]) for _ in range(REPEATS)]
        best.append(min(repeats, key=lambda seconds: seconds["total"]))
        every += repeats
    return Spent(batch, milliseconds(best, batch), milliseconds(every, batch))


def milliseconds(calls: Sequence[Seconds], batch: int) -> dict[str, list[float]]:
    """Per question, by stage."""
    return {stage: [1000 * call[stage] / batch for call in calls] for stage in (*STAGES, PROCESSOR)}


def timed(index: PhraseIndex, questions: Sequence[str]) -> Seconds:
    timings, began = Timings(), time.process_time()
    index.search(questions, timings=timings, verify=0)
    processor = time.process_time() - began
    return {stage: getattr(timings, stage) for stage in STAGES} | {PROCESSOR: processor}


def recall(index: PhraseIndex, questions: Sequence[str]) -> dict[float, float]:
    """For each effort the share of the ten best answers of exhaustive search that are found."""
    request = SearchRequest(k=10, overlapping=True, verify=0)
    expected = index.search(questions, request=request, exact=True)
    return {effort: overlap(expected, index.search(questions, request=request, effort=effort)) for effort in EFFORTS}


def overlap(expected: Sequence[Sequence[Answer]], found: Sequence[Sequence[Answer]]) -> float:
    pairs = [({_place(a) for a in e}, {_place(a) for a in f}) for e, f in zip(expected, found, strict=True)]
    return sum(len(e & f) for e, f in pairs) / sum(len(e) for e, _ in pairs)


def _place(answer: Answer) -> tuple[str, int, int]:
    return answer.document.id, answer.start, answer.end


def peak_megabytes() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


def times_table(spent: Sequence[Spent]) -> Table:
    table = Table("batch", "ms per question", *STAGES, PROCESSOR, "total / encode")
    for s in spent:
        ratio = f"{s.ratio:.2f} {'reached' if s.ratio <= BARS[s.batch] else 'missed'} ({BARS[s.batch]})"
        stages = (*STAGES, PROCESSOR)
        table.add_row(str(s.batch), f"p50, best of {REPEATS}", *(f"{s.median(stage):.2f}" for stage in stages), ratio)
        table.add_row(str(s.batch), "p99, all calls", *(f"{s.p99(stage):.2f}" for stage in stages), "")
    return table


def recall_table(recalls: dict[float, float]) -> Table:
    table = Table("effort", "recall@10 of exhaustive search", "")
    for effort, value in recalls.items():
        verdict = ("reached" if value >= RECALL_BAR else "missed") if effort == DEFAULT_EFFORT else ""
        table.add_row(f"{effort}{' (default)' if effort == DEFAULT_EFFORT else ''}", f"{value:.4f}", verdict)
    return table


if __name__ == "__main__":
    typer.run(main)
