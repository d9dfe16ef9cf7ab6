"""One corpus, cut into passages once, and the questions that all contenders are asked."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import islice
from pathlib import Path

import numpy as np

from densephrases.data.files import read_questions
from densephrases.data.questions import OpenQuestion
from densephrases.data.squad import questions_of, read_squad
from densephrases.errors import ConfigError, DataError
from densephrases.evaluate.tune.confidence import articles_of
from densephrases.index.folder import IndexFolder
from densephrases.sample import SAMPLE_QUESTIONS, articles_path
from densephrases.text.documents import Document
from densephrases.text.passages import Passage
from densephrases.text.readers.read import read_documents

TEXT_FILES = ("text.bin", "text_blocks.bin", "records.bin")


@dataclass(frozen=True, slots=True)
class Corpus:
    """The bundled articles, a SQuAD file, or anything else that can be indexed."""

    path: Path | None
    documents: int | None = None

    def read(self) -> Iterator[Document]:
        return islice(self._all(), self.documents)

    def _all(self) -> Iterator[Document]:
        if self.path is not None and self.is_squad:
            return articles_of(read_squad(self.path))
        return read_documents([self.path or articles_path()])

    @property
    def is_squad(self) -> bool:
        if self.path is None or not {".json", ".gz", ".xz"} & set(self.path.suffixes) or ".jsonl" in self.path.suffixes:
            return False
        try:
            read_squad(self.path)
        except DataError:
            return False
        return True

    @property
    def key(self) -> str:
        """Names what is built from it, so that another corpus never takes its place."""
        path = (self.path or articles_path()).resolve()
        state = path.stat()
        values = [str(path), state.st_size, state.st_mtime_ns, self.documents]
        return sha256(json.dumps(values).encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Questions:
    """Those that are measured, and others on which baselines choose their settings."""

    measured: list[OpenQuestion]
    tuning: list[OpenQuestion]

    @property
    def texts(self) -> list[str]:
        return [question.text for question in self.measured]


def read_all_questions(corpus: Corpus, path: Path | None) -> list[OpenQuestion]:
    """Spread over the whole file: neighbours in it ask about the same passage."""
    found = read_questions(path).questions if path else own_questions(corpus)
    if any(question.regex for question in found):
        raise ConfigError(f"--questions '{path}' has patterns as answers; expected a file with answers to compare.")
    return shuffled([question for question in found if question.answers and question.text.strip()])


def own_questions(corpus: Corpus) -> list[OpenQuestion]:
    """About the documents that are searched."""
    if corpus.path is None:
        titles = {document.title for document in corpus.read()}
        samples = [sample for sample in SAMPLE_QUESTIONS if sample.title in titles]
        return [OpenQuestion(str(number), sample.question, sample.answers) for number, sample in enumerate(samples)]
    if not corpus.is_squad:
        raise ConfigError(f"--corpus '{corpus.path}' has no questions of its own; give --questions FILE.")
    passages = [p for p in read_squad(corpus.path) if corpus.documents is None or p.article < corpus.documents]
    return [OpenQuestion(q.id, q.text, tuple(dict.fromkeys(q.gold_texts))) for _, q in questions_of(passages)]


def shuffled(questions: Sequence[OpenQuestion]) -> list[OpenQuestion]:
    return [questions[i] for i in np.random.default_rng(0).permutation(len(questions))]


def parted(questions: Sequence[OpenQuestion], measured: int, tuning: int) -> Questions:
    """Where there are too few for both, a third is for tuning."""
    if len(questions) < 3:
        raise ConfigError(f"There are {len(questions)} questions with answers; expected at least 3.")
    kept_apart = min(tuning, max(len(questions) - measured, len(questions) // 3))
    return Questions(list(questions[kept_apart : kept_apart + measured]), list(questions[:kept_apart]))


class Passages(Sequence[Passage]):
    """The passages of an index, mapped: every contender searches the same ones and holds none in memory."""

    def __init__(self, index: Path) -> None:
        self._segments = IndexFolder.open(index).segments
        self._edges = np.cumsum([0, *(segment.passages for segment in self._segments)])

    def __len__(self) -> int:
        return int(self._edges[-1])

    def __getitem__(self, number: int) -> Passage:  # type: ignore[override]
        if not 0 <= number < len(self):
            raise IndexError(number)
        at = int(np.searchsorted(self._edges, number, side="right")) - 1
        segment, passage = self._segments[at], number - int(self._edges[at])
        title = segment.record(int(segment.passage_documents[passage])).title
        return Passage(segment.passage_text(passage), title)

    @cached_property
    def bytes(self) -> int:
        """Of their text and titles, which every contender needs."""
        return sum((s.folder / name).stat().st_size for s in self._segments for name in TEXT_FILES)


def searchable(passage: Passage) -> str:
    """What retrievers of passages index: as a phrase's vectors do, their terms know the title."""
    return f"{passage.title} {passage.text}" if passage.title else passage.text
