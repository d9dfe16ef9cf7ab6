"""What stands around phrases that shards have sent."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from densephrases.arrays import Floats, Ints
from densephrases.cluster.sharding.messages import SentPassages, ShardHeads
from densephrases.index.segment.document_record import DocumentRecord
from densephrases.search.passages import FoundPassage, PassageTexts
from densephrases.search.scoring.lexical import QuestionTerms
from densephrases.search.scoring.pairs import Phrases
from densephrases.text.searched_text import SearchedText

Rows = Sequence[tuple[int, int, int]]
AskPassages = Callable[[Sequence[int]], Sequence[SentPassages]]
"""Passages by their keys in the whole index."""
BoundaryScores = Callable[[Rows, Floats, Floats], tuple[Floats, Floats]]
"""The inner products of phrases, given by segment, first row and last row, with a start and an end vector."""

_NO_PASSAGE = FoundPassage("", 0, DocumentRecord("", "", {}))
_NO_INTS, _NO_FLOATS = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)
_NO_PHRASES = {
    **dict.fromkeys(("segment_N", "start_N", "end_N", "passage_N"), _NO_INTS),
    **dict.fromkeys(("score_N", "lexical_N"), _NO_FLOATS),
    "spans_N2": np.zeros((0, 2), dtype=np.int64),
}

# Shape suffixes: N phrases, P passages.


class SentTexts(PassageTexts):
    """A table of phrases, to which each reply adds some; `start_N` and `end_N` of phrases are rows of this table.

    The phrases of a question that are added together are in the order of segment, first and last row, so that ties of
    scores are resolved as in an index on one machine. Passages that were not sent with their phrases are asked for when
    one of them is needed; those of shards that have failed are empty, so that no phrase of theirs is a result.
    """

    def __init__(self, boundary_scores: BoundaryScores, passages: AskPassages) -> None:
        self._ask_boundary_scores = boundary_scores
        self._ask_passages = passages
        self._table: dict[str, Any] = dict(_NO_PHRASES)
        self._passages: dict[int, FoundPassage] = {}
        self._before: dict[int, str] = {}
        self._document_of: dict[int, int] = {}
        self._documents: dict[int, DocumentRecord] = {}
        self._titles: dict[str, SearchedText] = {}

    def add(self, replies: Sequence[ShardHeads]) -> list[Phrases]:
        """The phrases of each question, of all shards."""
        for reply in replies:
            self._add_passages(reply.passages)
        questions, first = len(replies[0].edges_B) - 1, len(self._table["score_N"])
        question_N = np.concatenate([np.repeat(np.arange(questions), np.diff(reply.edges_B)) for reply in replies])
        columns = {name: np.concatenate([getattr(reply, name) for reply in replies]) for name in _NO_PHRASES}
        order = np.lexsort((columns["end_N"], columns["start_N"], columns["segment_N"], question_N))
        self._table = {name: np.concatenate([self._table[name], columns[name][order]]) for name in _NO_PHRASES}
        edges = first + np.searchsorted(question_N[order], np.arange(questions + 1))
        return [self._phrases(np.arange(*edge)) for edge in pairwise(edges.tolist())]

    def _phrases(self, row_N: Ints) -> Phrases:
        return Phrases(np.zeros_like(row_N), row_N, row_N, self._table["score_N"][row_N])

    def _add_passages(self, sent: SentPassages) -> None:
        self._documents.update(sent.documents)
        self._document_of.update(zip(sent.key_P.tolist(), sent.document_key_P.tolist(), strict=True))
        rows = zip(sent.key_P.tolist(), sent.document_key_P.tolist(), sent.texts, sent.begins, strict=True)
        for key, document, text, begin in rows:
            if key not in self._passages:
                self._passages[key] = FoundPassage(text, begin, self._documents[document], self._titles)
        if sent.before is not None:
            self._before.update(zip(sent.key_P.tolist(), sent.before, strict=True))

    def passage(self, key: int) -> FoundPassage:
        if key not in self._passages:
            self._add_missing()
        return self._passages[key]

    def _add_missing(self) -> None:
        missing = sorted(set(self._table["passage_N"].tolist()) - self._passages.keys())
        for sent in self._ask_passages(missing):
            self._add_passages(sent)
        for key in missing:
            self._passages.setdefault(key, _NO_PASSAGE)

    def text_before(self, key: int) -> str:
        return self._before.get(key, "")

    def passage_keys(self, phrases: Phrases) -> Ints:
        keys_N: Ints = self._column("passage_N", phrases)
        return keys_N

    def document_keys(self, phrases: Phrases) -> Ints:
        keys = self.passage_keys(phrases).tolist()
        return np.array([self._document_of[key] for key in keys], dtype=np.int64)

    def spans(self, phrases: Phrases) -> Ints:
        spans_N2: Ints = self._column("spans_N2", phrases)
        return spans_N2

    def lexical_penalties(self, phrases: Phrases, question_N: Ints, terms: QuestionTerms) -> Floats:
        penalties_N: Floats = self._column("lexical_N", phrases)
        return penalties_N

    def boundary_scores(self, phrases: Phrases, start_D: Floats, end_D: Floats) -> tuple[Floats, Floats]:
        columns = (self._column(name, phrases).tolist() for name in ("segment_N", "start_N", "end_N"))
        return self._ask_boundary_scores(list(zip(*columns, strict=True)), start_D, end_D)

    def _column(self, name: str, phrases: Phrases) -> Any:
        return self._table[name][phrases.start_N]
