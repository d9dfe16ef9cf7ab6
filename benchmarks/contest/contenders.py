"""The contenders, each measured by a function that is run in a process of its own."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import faiss
import numpy as np
from numpy.typing import NDArray

from contest.corpus import Passages, Questions
from contest.engines import Engine, reader_forward
from contest.measures import Limits, Memory, Recorded, Timed, exact_match_share, rights, timed_calls, whole_batches
from contest.reader import PassageReader, ReadAnswer
from contest.retrievers import Bm25Passages, DensePassages, Retriever, sentence_encoder
from densephrases.arrays import Floats
from densephrases.data.questions import OpenQuestion
from densephrases.model.load import load
from densephrases.search.phrase_index import PhraseIndex

Contender = Literal["ours", "ours-verify-auto", "ours-verify-1", "ours-verify-3", "exact", "bm25", "dense"]
CONTENDERS: tuple[Contender, ...] = get_args(Contender)
NAMES: dict[Contender, str] = {
    "ours": "DensePhrases",
    "ours-verify-auto": "the same, verify=auto",
    "ours-verify-1": "the same, verify=1",
    "ours-verify-3": "the same, verify=3",
    "exact": "the same, exhaustive",
    "bm25": "BM25 + reader",
    "dense": "dense passages + reader",
}
VERIFIED: tuple[Contender, ...] = ("ours-verify-auto", "ours-verify-1", "ours-verify-3")
OPTIONS: dict[Contender, dict[str, Any]] = {
    "ours": {"verify": 0},
    "ours-verify-auto": {"verify": "auto"},
    "ours-verify-1": {"verify": 1},
    "ours-verify-3": {"verify": 3},
    "exact": {"verify": 0, "exact": True},
}
WEIGHTS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)  # of retrieval beside the reader, whose scores are sums of logits


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is alike for all contenders."""

    batch: int
    excluded: int
    questions: int
    seconds: float
    threads: int

    def limits(self, batch: int) -> Limits:
        """Single questions end after a while; batches are all asked, for exact match is of the same questions."""
        seconds = self.seconds if batch == 1 else float("inf")
        return Limits(excluded=self.excluded, questions=self.questions, seconds=seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    contender: Contender
    exact_match: float
    single: Timed
    batched: Timed
    index_bytes: int
    memory: Memory
    details: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        times = {"single": self.single.to_dict(), "batched": self.batched.to_dict()}
        size = {"index_bytes": self.index_bytes, "memory_mb": asdict(self.memory)}
        return {"exact_match": self.exact_match, **times, **size, **self.details}


@dataclass(frozen=True, slots=True)
class Setting:
    """Of a retriever with a reader: passages read, and the weight of their retrieval scores beside the reader's."""

    passages: int
    weight: float

    def answer(self, reading: "Reading") -> str:
        answers = reading.answers[: self.passages]
        totals = [a.score + self.weight * float(s) for a, s in zip(answers, reading.retrieval_K, strict=False)]
        return answers[int(np.argmax(totals))].text


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read for one question: the best answer of each passage, best passage first, and retrieval scores."""

    answers: list[ReadAnswer]
    retrieval_K: Floats


@dataclass(frozen=True, slots=True)
class Tuned:
    """What so many passages are worth with the best weight for them, on the tuning questions."""

    setting: Setting
    exact_match: float
    questions_per_second: float


class RetrieverReader:
    def __init__(self, retriever: Retriever, passages: Passages, reader: PassageReader) -> None:
        self.retriever, self.passages, self.reader = retriever, passages, reader

    def answer(self, questions: Sequence[str], setting: Setting) -> list[str]:
        wanted = min(setting.passages, len(self.passages))
        scores_BK, rows_BK = self.retriever.search(questions, wanted)
        return [setting.answer(reading) for reading in self._readings(questions, scores_BK, rows_BK)]

    def _readings(self, questions: Sequence[str], scores_BK: Floats, rows_BK: Any) -> list[Reading]:
        texts = {row: self.passages[row].text for row in np.unique(rows_BK).tolist()}
        pairs = [(q, texts[row]) for q, rows_K in zip(questions, rows_BK.tolist(), strict=True) for row in rows_K]
        answers = self.reader.read(pairs)
        count = rows_BK.shape[1]
        return [Reading(answers[b * count : (b + 1) * count], scores_K) for b, scores_K in enumerate(scores_BK)]

    def tune(self, questions: Sequence[OpenQuestion], counts: Sequence[int], batch: int) -> list[Tuned]:
        """Passages are read rank by rank up to the largest count, so that one reading tells the time of all counts."""
        steps = sorted({min(count, len(self.passages)) for count in counts})
        seconds = np.zeros(len(steps))
        readings: list[Reading] = []
        for first in range(0, len(questions), batch):
            texts = [question.text for question in questions[first : first + batch]]
            readings += self._read_in_steps(texts, steps, seconds)
        speeds = len(questions) / np.cumsum(seconds)
        return [best_weight(questions, readings, k, speed) for k, speed in zip(steps, speeds.tolist(), strict=True)]

    def _read_in_steps(self, questions: list[str], steps: Sequence[int], seconds: NDArray[np.float64]) -> list[Reading]:
        """Adds to `seconds` what each step took beyond the one before."""
        begin = time.perf_counter()
        scores_BK, rows_BK = self.retriever.search(questions, steps[-1])
        answers: list[list[ReadAnswer]] = [[] for _ in questions]
        for number, (low, high) in enumerate(zip([0, *steps], steps, strict=False)):
            found = self._readings(questions, scores_BK[:, low:high], rows_BK[:, low:high])
            for own, reading in zip(answers, found, strict=True):
                own += reading.answers
            seconds[number] += time.perf_counter() - begin
            begin = time.perf_counter()
        return [Reading(own, scores_K) for own, scores_K in zip(answers, scores_BK, strict=True)]


def best_weight(questions: Sequence[OpenQuestion], readings: Sequence[Reading], count: int, speed: float) -> Tuned:
    """The smallest weight of those with the highest exact match."""
    settings = [Setting(count, weight) for weight in WEIGHTS]
    scores = [exact_match_share(questions, [setting.answer(reading) for reading in readings]) for setting in settings]
    best = int(np.argmax(scores))
    return Tuned(settings[best], scores[best], speed)


def best_setting(tuned: Sequence[Tuned]) -> Setting:
    """The fewest passages of those with the highest exact match."""
    return max(tuned, key=lambda each: (each.exact_match, -each.setting.passages)).setting


def measure_index(contender: Contender, folder: Path, model: str, questions: Questions, plan: Plan) -> Result:
    """Phrase search, beside the encoding of the same questions alone."""
    faiss.omp_set_num_threads(plan.threads)
    encoder = load(model, threads=plan.threads)
    index = PhraseIndex.open(folder, encoder)
    options = OPTIONS[contender]

    def answer(asked: Sequence[str]) -> list[str]:
        return [found[0].text if found else "" for found in index.search(list(asked), **options)]

    single, batched, answers, alone = measured(answer, questions, plan, encoder.encode_questions)
    memory = Memory.now()
    info = index.info()
    details = {"vectors": info.vectors, "passages": info.passages, "encoding": [timed.to_dict() for timed in alone]}
    return Result(
        contender=contender,
        exact_match=exact_match_share(questions.measured, answers),
        single=single,
        batched=batched,
        index_bytes=info.bytes,
        memory=memory,
        details=details | {"right": rights(questions.measured, answers)},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderPlan:
    """The reader's folder and how it runs fastest."""

    folder: Path
    graphs: Path
    engine: Engine
    tokens_per_batch: int
    passages: tuple[int, ...]

    def open(self, threads: int) -> PassageReader:
        forward = reader_forward(self.folder, self.graphs, self.engine, threads)
        return PassageReader(self.folder, forward, self.tokens_per_batch)


def measure_retriever_reader(
    contender: Contender,
    texts: Path,
    retriever: Callable[[int], Retriever],
    reading: ReaderPlan,
    questions: Questions,
    plan: Plan,
) -> Result:
    """Settings are chosen on the tuning questions, and everything else is of the measured ones."""
    faiss.omp_set_num_threads(plan.threads)
    passages = Passages(texts)
    opened = retriever(plan.threads)
    both = RetrieverReader(opened, passages, reading.open(plan.threads))
    tuned = both.tune(questions.tuning, reading.passages, plan.batch)
    setting = best_setting(tuned)
    single, batched, answers, _ = measured(lambda asked: both.answer(asked, setting), questions, plan)
    details = {"setting": asdict(setting), "tuned": [asdict(each) for each in tuned], "engine": reading.engine}
    return Result(
        contender=contender,
        exact_match=exact_match_share(questions.measured, answers),
        single=single,
        batched=batched,
        index_bytes=opened.bytes + passages.bytes,
        memory=Memory.now(),
        details=details | {"right": rights(questions.measured, answers)},
    )


@dataclass(frozen=True, slots=True)
class Bm25Files:
    folder: Path

    def __call__(self, threads: int) -> Retriever:
        return Bm25Passages(self.folder, threads)


@dataclass(frozen=True, slots=True)
class DenseFiles:
    vectors: Path
    base: Path
    graphs: Path

    def __call__(self, threads: int) -> Retriever:
        return DensePassages(self.vectors, sentence_encoder(self.base, self.graphs, threads))


def measured(
    answering: Callable[[Sequence[str]], list[str]],
    questions: Questions,
    plan: Plan,
    encoding: Callable[[Sequence[str]], Any] | None = None,
) -> tuple[Timed, Timed, list[str], list[Timed]]:
    """Times of single questions and of batches, all answers, and the same times of the encoding alone."""
    alone = [encoding] if encoding else []
    recorded = Recorded(answering)
    batches = whole_batches(questions.texts, plan.batch, plan.limits(plan.batch))
    batched, *batched_alone = timed_calls([recorded, *alone], batches, plan.limits(plan.batch))
    count = len(questions.texts)
    if rest := questions.texts[len(recorded.answers) :]:
        recorded(rest)
    singles = whole_batches(questions.texts, 1, plan.limits(1))
    single, *single_alone = timed_calls([answering, *alone], singles, plan.limits(1))
    return single, batched, recorded.answers[:count], [*single_alone, *batched_alone]
