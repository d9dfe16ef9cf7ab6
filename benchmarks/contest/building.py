"""What contenders need, built once in a work folder: a file or folder with its final name is whole."""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from contest.contenders import ReaderPlan
from contest.corpus import Corpus, Passages, Questions
from contest.engines import ENGINES, Engine, export_reader, export_sentence_encoder, graph_path
from contest.measures import rights
from contest.retrievers import Bm25Passages, DensePassages, sentence_encoder
from densephrases.data.questions import OpenQuestion
from densephrases.index.files.durable import replace_json
from densephrases.index.kinds import Quantizer
from densephrases.model.load import load
from densephrases.search.phrase_index import PhraseIndex, Threshold
from densephrases.text.passages import Passage

TOKENS_PER_BATCH = (512, 2048, 8192)
SAMPLE_PAIRS = 32
OVERSAMPLE = 5000  # passages, for one that answers a question
MOST_LOST = 1  # right answers of the sample, against torch


@dataclass(frozen=True, slots=True)
class TokenOffsets:
    """Where everything stands; names change with what things are made from."""

    work: Path
    corpus: Corpus
    model: str
    reader: Path | None
    passage_encoder: Path | None

    @property
    def folder(self) -> Path:
        return self.work / f"corpus-{self.corpus.key}"

    @property
    def ours(self) -> Path:
        return self.folder / f"ours-{_model_key(self.model)}"

    @property
    def exact(self) -> Path:
        return self.folder / f"exact-{_model_key(self.model)}"

    @property
    def terms(self) -> Path:
        return self.folder / "bm25"

    @property
    def dense(self) -> Path:
        return self.folder / f"dense-{_folder_key(self.encoder_files[0])}.faiss"

    @property
    def reader_files(self) -> tuple[Path, Path]:
        """The reader's folder, and that of its graphs."""
        assert self.reader is not None
        return self.reader, self.work / f"reader-{_folder_key(self.reader)}"

    @property
    def encoder_files(self) -> tuple[Path, Path]:
        assert self.passage_encoder is not None
        return self.passage_encoder, self.work / f"encoder-{_folder_key(self.passage_encoder)}"


def _model_key(model: str) -> str:
    return load(model).fingerprint[:12]


def _folder_key(folder: Path) -> str:
    """Of a model's weights, by size and time: reading them all would take longer than it is worth."""
    files = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("*.bin"))
    values = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return sha256(repr((folder.resolve(), values)).encode()).hexdigest()[:12]


def build_ours(places: TokenOffsets) -> None:
    _index(places, places.ours, None, "model")


def build_exact(places: TokenOffsets) -> None:
    """Nothing is left out: all tokens, in half precision."""
    _index(places, places.exact, "fp16", None)


def _index(places: TokenOffsets, folder: Path, quantizer: Quantizer | None, threshold: Threshold) -> None:
    """A build that was stopped goes on by itself; the mark says that it need not be looked at again."""
    finished = folder.with_name(f"{folder.name}.finished")
    if finished.exists():
        return
    PhraseIndex.create(
        folder,
        places.corpus.read(),
        model=places.model,
        quantizer=quantizer,
        filter_threshold=threshold,
        candidates="exact" if threshold is None else None,
    )
    finished.touch()


def build_terms(places: TokenOffsets) -> None:
    if not places.terms.exists():
        Bm25Passages.build(Passages(places.ours), places.terms)


def build_dense(places: TokenOffsets, threads: int) -> None:
    base, graphs = places.encoder_files
    if not graph_path(graphs, "fp32").exists():
        export_sentence_encoder(base, graphs)
    if not places.dense.exists():
        DensePassages.build(Passages(places.ours), sentence_encoder(base, graphs, threads), places.dense)


def build_reader(places: TokenOffsets) -> None:
    folder, graphs = places.reader_files
    if not graph_path(graphs, "fp32").exists():
        export_reader(folder, graphs)


@dataclass(frozen=True, slots=True)
class EngineTrial:
    """Seconds for the same passages by tokens of a batch, and how many answers were right."""

    engine: Engine
    seconds: dict[int, float]
    right: int


@dataclass(frozen=True, slots=True)
class Choice:
    engine: Engine
    tokens_per_batch: int
    seconds: dict[str, float]
    right: dict[str, int]

    @property
    def in_words(self) -> str:
        tried = [f"{name} {seconds:.1f} s and {self.right[name]} right" for name, seconds in self.seconds.items()]
        return f"{self.engine}, {self.tokens_per_batch} tokens at once; of the same passages {', '.join(tried)}"


def choose_engine(run: Callable[..., Any], places: TokenOffsets, questions: Questions, threads: int) -> Choice:
    """The fastest that answers as well as torch; each is tried in a process of its own."""
    run(build_reader, places)
    kept = places.reader_files[1] / f"engine-{threads}-threads.json"
    if kept.exists():
        return Choice(**json.loads(kept.read_text()))
    trials: list[EngineTrial] = [run(try_engine, places, questions, engine, threads) for engine in ENGINES]
    choice = chosen_engine(trials)
    replace_json(kept, asdict(choice))
    return choice


def try_engine(places: TokenOffsets, questions: Questions, engine: Engine, threads: int) -> EngineTrial:
    passages = Passages(places.ours)
    folder, graphs = places.reader_files
    plan = ReaderPlan(folder=folder, graphs=graphs, engine=engine, tokens_per_batch=TOKENS_PER_BATCH[0], passages=())
    reader = plan.open(threads)
    found = answered_passages(questions.tuning, passages)
    pairs = [(question.text, text) for question, text in found]
    answers = [answer.text for answer in reader.read(pairs)]
    seconds = {}
    for size in TOKENS_PER_BATCH:
        reader.tokens_per_batch = size
        seconds[size] = _seconds(lambda: reader.read(pairs))
    return EngineTrial(engine, seconds, int(sum(rights([question for question, _ in found], answers))))


def answered_passages(questions: Sequence[OpenQuestion], passages: Iterable[Passage]) -> list[tuple[OpenQuestion, str]]:
    """Questions, each beside the first passage with an answer in it: beside others all engines guess."""
    texts = [passage.text for passage in islice(passages, OVERSAMPLE)]
    holding = (next((t for t in texts if any(a in t for a in question.answers)), None) for question in questions)
    found = [(question, text) for question, text in zip(questions, holding, strict=True) if text is not None]
    return found[:SAMPLE_PAIRS] or [(questions[0], texts[0])]


def _seconds(work: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def chosen_engine(trials: Sequence[EngineTrial]) -> Choice:
    """Torch is among the trials and computes as the reader was trained."""
    least = next(trial for trial in trials if trial.engine == "torch").right - MOST_LOST
    best = min((t for t in trials if t.right >= least), key=lambda t: min(t.seconds.values()))
    size = min(best.seconds, key=lambda each: best.seconds[each])
    fastest: dict[str, float] = {trial.engine: min(trial.seconds.values()) for trial in trials}
    return Choice(best.engine, size, fastest, {trial.engine: trial.right for trial in trials})
