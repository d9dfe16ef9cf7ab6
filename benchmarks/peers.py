"""Phrase retrieval beside what users would pick instead: the same corpus, questions, passages and threads.

python benchmarks/peers.py [--corpus FILE] [--questions FILE] [--reader FOLDER] [--passage-encoder FOLDER]
    [--work FOLDER] [--json FILE]

Contenders: `ours`, phrase search without verification; `ours-verify-auto`, `ours-verify-1` and `ours-verify-3`, the
same with verified answers, if the model reads; `exact`, exhaustive search over vectors of all tokens in half
precision, the ceiling of the same model; `bm25`, bm25s and the cross-attention reader over its best passages (as DrQA
and BERTserini); `dense`, vectors of passages in faiss and the same reader (as DPR). The last two need --reader, the
last --passage-encoder as well, such as all-MiniLM-L6-v2. The corpus is the bundled sample, a SQuAD file, which brings
its questions, or anything else that can be indexed. The first five batches are not counted.

Every contender runs in a fresh process. Readers run in the fastest of torch and ONNX, and read as many passages as
give the highest exact match on questions that are not measured. With --work indexes are kept for the next time.
"""

import json
import os
import platform
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, TypeVar

import typer
from contest.building import Choice, TokenOffsets, build_dense, build_exact, build_ours, build_terms, choose_engine
from contest.contenders import (
    CONTENDERS,
    OPTIONS,
    VERIFIED,
    Bm25Files,
    Contender,
    DenseFiles,
    Plan,
    ReaderPlan,
    Result,
    measure_index,
    measure_retriever_reader,
)
from contest.corpus import Corpus, Questions, parted, read_all_questions
from contest.measures import use_threads
from contest.report import bars, bars_table, results_table, tuning_table
from contest.retrievers import require_benchmarks
from rich.console import Console

from densephrases.errors import ConfigError, DensePhrasesError
from densephrases.model.config import ModelConfig
from densephrases.model.folders import resolve

R = TypeVar("R")


def main(
    corpus: Annotated[Path | None, typer.Option(help="What is searched [default: the bundled articles].")] = None,
    questions: Annotated[
        Path | None, typer.Option(help="Questions with answers [default: those of the corpus].")
    ] = None,
    reader: Annotated[Path | None, typer.Option(help="Folder of a trained reader (`train reader`).")] = None,
    passage_encoder: Annotated[Path | None, typer.Option(help="Hugging Face folder of a sentence encoder.")] = None,
    model: Annotated[str, typer.Option(help="A bundled model's name or an exported model's folder.")] = "small",
    contender: Annotated[list[str] | None, typer.Option(help=f"{', '.join(CONTENDERS)}; may be repeated.")] = None,
    documents: Annotated[int | None, typer.Option(help="Only the first so many of the corpus.")] = None,
    limit: Annotated[int, typer.Option(help="Questions that are measured.")] = 1000,
    tuning: Annotated[int, typer.Option(help="Further questions, for the settings of baselines.")] = 200,
    passages: Annotated[list[int] | None, typer.Option(help="Passages to read [default: 1, 5, 10 and 20].")] = None,
    batch: Annotated[int, typer.Option(help="Questions asked at once.")] = 64,
    excluded: Annotated[int, typer.Option(help="Batches that are not counted.")] = 5,
    seconds: Annotated[float, typer.Option(help="After which single questions are enough.")] = 300.0,
    threads: Annotated[int | None, typer.Option(help="Of every contender [default: one for each core].")] = None,
    work: Annotated[Path | None, typer.Option(help="Where indexes and exported readers are kept.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures here as well.")] = None,
) -> None:
    """Prints questions a second, latency, memory, index bytes and exact match of all contenders, and the bars."""
    source = Corpus(corpus, documents)
    count = threads or os.cpu_count() or 1
    use_threads(count)
    plan = Plan(batch=batch, excluded=excluded, questions=limit, seconds=seconds, threads=count)
    try:
        reads = ModelConfig.load(resolve(model)).reads
        chosen = chosen_contenders(contender, reader, passage_encoder, reads)
        asked = parted(read_all_questions(source, questions), limit, tuning)
        with TemporaryDirectory() as temporary:
            places = TokenOffsets(work or Path(temporary), source, model, reader, passage_encoder)
            contest = Contest(places, asked, plan, tuple(passages or (1, 5, 10, 20)), json_file)
            contest.run(chosen)
    except DensePhrasesError as error:
        raise SystemExit(f"Error: {error}") from error


def chosen_contenders(
    names: Sequence[str] | None, reader: Path | None, encoder: Path | None, reads: bool = False
) -> list[Contender]:
    """Those that were named, or all for which everything is given."""
    if unknown := sorted(set(names or ()) - set(CONTENDERS)):
        raise ConfigError(f"--contender {unknown[0]!r} is unknown; expected one of {', '.join(CONTENDERS)}.")
    missing: dict[str, str] = {} if reader else {"bm25": "--reader", "dense": "--reader"}
    if encoder is None:
        missing.setdefault("dense", "--passage-encoder")
    if not reads:
        missing |= dict.fromkeys(VERIFIED, "a --model that reads:")
    for name in names or ():
        if name in missing:
            raise ConfigError(f"The contender '{name}' needs {missing[name]} FOLDER.")
    chosen = [each for each in CONTENDERS if (each in names if names else each not in missing)]
    if "bm25" in chosen:
        require_benchmarks()
    return chosen


def in_own_process(work: Callable[..., R], *values: Any) -> R:
    """A fresh one, so that neither memory nor threads of anything else are in it."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        return executor.submit(work, *values).result()


class Contest:
    """Builds what is missing, then measures one contender after the other."""

    def __init__(
        self, places: TokenOffsets, questions: Questions, plan: Plan, passages: tuple[int, ...], json_file: Path | None
    ) -> None:
        self.places, self.questions, self.plan, self.passages = places, questions, plan, passages
        self.json_file = json_file
        self.console = Console(width=140)
        self.engine: Choice | None = None
        self.results: list[Result] = []

    def run(self, contenders: Sequence[Contender]) -> None:
        self.console.print(
            f"{len(self.questions.measured)} questions measured, {len(self.questions.tuning)} for tuning; "
            f"{self.plan.threads} threads; {platform.processor() or platform.machine()}"
        )
        for contender in contenders:
            self.console.print(f"{contender} ...", style="dim")
            self.results.append(self._measure(contender))
            self._write()
        self.console.print(results_table(self.results))
        if any("tuned" in result.details for result in self.results):
            self.console.print(tuning_table(self.results))
        self.console.print(bars_table(bars(self.results)))

    def _measure(self, contender: Contender) -> Result:
        places = self.places
        in_own_process(build_ours, places)  # also the passages of all others
        if contender in OPTIONS:
            if contender == "exact":
                in_own_process(build_exact, places)
            folder = places.exact if contender == "exact" else places.ours
            return in_own_process(measure_index, contender, folder, places.model, self.questions, self.plan)
        if contender == "bm25":
            in_own_process(build_terms, places)
        else:
            in_own_process(build_dense, places, self.plan.threads)
        files = Bm25Files(places.terms) if contender == "bm25" else DenseFiles(places.dense, *places.encoder_files)
        reading = self._reading()
        return in_own_process(
            measure_retriever_reader, contender, places.ours, files, reading, self.questions, self.plan
        )

    def _reading(self) -> ReaderPlan:
        """The engine is chosen once; both baselines read with it."""
        if self.engine is None:
            self.engine = choose_engine(in_own_process, self.places, self.questions, self.plan.threads)
            self.console.print(f"reader: {self.engine.in_words}")
        folder, graphs = self.places.reader_files
        batch = self.engine.tokens_per_batch
        return ReaderPlan(
            folder=folder, graphs=graphs, engine=self.engine.engine, tokens_per_batch=batch, passages=self.passages
        )

    def _write(self) -> None:
        """After each contender: whoever stops a long run keeps what was measured."""
        if self.json_file is None:
            return
        values = {
            "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()},
            "plan": asdict(self.plan),
            "questions": len(self.questions.measured),
            "reader": None if self.engine is None else asdict(self.engine),
            "contenders": {result.contender: result.to_dict() for result in self.results},
            "bars": [asdict(bar) for bar in bars(self.results)],
        }
        self.json_file.write_text(json.dumps(values, indent=1))


if __name__ == "__main__":
    typer.run(main)
