"""Reading comprehension: each question in its own passage, or among all passages of the file (the paper's D_small).

Lexical penalties are those of an index of the file's passages.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Floats
from densephrases.data.matching.em_f1 import best_over_answers, exact_match, f1
from densephrases.data.squad import Question, QuestionedPassage, questions_of
from densephrases.errors import DataError
from densephrases.evaluate.distinct_spans import FoundSpan, SpanRanking, distinct_spans
from densephrases.index.kinds import Quantizer
from densephrases.index.segment.passage_terms import SegmentTerms
from densephrases.index.settings import quantizer_of
from densephrases.index.vectors.store import VectorStore
from densephrases.model.config import ModelConfig
from densephrases.model.encoder import Encoder, PassageVectors, QuestionVectors
from densephrases.model.tokenizer import TokenizedPassage
from densephrases.quantize.codebooks import ProductQuantizer
from densephrases.search.ranking.contenders import CONTENDERS
from densephrases.search.ranking.linear import PhraseRanking
from densephrases.search.scoring.in_passage import NO_SPAN, Span, SpanPenalties, best_span, extremes, ranked_spans
from densephrases.search.scoring.lexical import QuestionTerms, TermWeights
from densephrases.text.searched_text import SearchedText
from densephrases.text.words import whole_words

QUESTIONS_AT_ONCE = 128

# Shape suffixes: B questions, P passages, T tokens of one passage, N tokens of all passages, D vector size.


PassageScores = Callable[[Floats], Floats]
"""Maps query vectors (B, D) to the best token score of each passage (B, P)."""


class NumpyPassageScores:
    def __init__(self, vectors_ND: Floats, edges: NDArray[np.int64]) -> None:
        self.vectors_ND, self.begins = vectors_ND, edges[:-1]
        self.full = np.diff(edges) > 0

    def __call__(self, queries_BD: Floats) -> Floats:
        best_BP = np.full((len(queries_BD), len(self.full)), -np.inf, dtype=np.float32)
        best_BP[:, self.full] = np.maximum.reduceat(queries_BD @ self.vectors_ND.T, self.begins[self.full], axis=1)
        return best_BP


@dataclass(frozen=True, slots=True)
class Prediction:
    question: Question
    answer: str
    passage: int
    score: float
    start: int = 0  # character position of the answer in the passage


@dataclass(frozen=True, slots=True)
class EncodedDataset:
    """Passages and answerable questions of a data set, with their vectors."""

    passages: Sequence[QuestionedPassage]
    passage_vectors: Sequence[PassageVectors]
    questions: Sequence[tuple[int, Question]]
    question_vectors: QuestionVectors
    unanswerable: int

    def quantized(self, quantizer: Quantizer, pq: ProductQuantizer | None, threshold: float | None) -> Self:
        """The same with the vectors of kept tokens quantised and decoded, as an index does."""
        kept = [passage.kept(threshold) for passage in self.passage_vectors]
        vectors = [passage.vectors_TD[mask] for passage, mask in zip(self.passage_vectors, kept, strict=True)]
        rows_P = np.array([len(each) for each in vectors], dtype=np.int64)
        decoded_RD = VectorStore.from_vectors(
            np.concatenate(vectors), rows_P, quantizer, quantizer_of(quantizer, pq)
        ).decode(slice(None))
        changed = []
        for passage, mask, some_RD in zip(
            self.passage_vectors, kept, np.split(decoded_RD, np.cumsum(rows_P)[:-1]), strict=True
        ):
            vectors_TD = passage.vectors_TD.copy()
            vectors_TD[mask] = some_RD
            changed.append(replace(passage, vectors_TD=vectors_TD))
        return replace(self, passage_vectors=changed)


def encode_dataset(encoder: Encoder, passages: list[QuestionedPassage]) -> EncodedDataset:
    everything = list(questions_of(passages))
    questions = [(number, question) for number, question in everything if question.answers]
    if not questions:
        raise DataError("The file has no question with an answer, so there is nothing to evaluate.")
    return EncodedDataset(
        passages,
        encoder.encode_passages([p.passage for p in passages]),
        questions,
        encoder.encode_questions([question.text for _, question in questions]),
        len(everything) - len(questions),
    )


def read_passages(encoded: EncodedDataset, config: ModelConfig, threshold: float | None = None) -> list[Prediction]:
    """The best phrase of each question's own passage."""
    scorer = SpanScorer(encoded, config, threshold)
    if config.ranking is not None:
        own = (list(scorer.distinct(row, number)) for row, (number, _) in enumerate(encoded.questions))
        return list(_ranked_predictions(scorer, own))
    return [
        scorer.prediction(row, number, scorer.span(row, number)) for row, (number, _) in enumerate(encoded.questions)
    ]


def read_again(encoder: Encoder, passages: Sequence[QuestionedPassage]) -> list[Prediction]:
    """The best phrase of each question's own passage by the reading head."""
    tokenized = encoder.tokens.passages([p.passage for p in passages])
    asked = [(number, q) for number, p in enumerate(passages) for q in p.questions if q.answers]
    ids = encoder.tokens.questions([question.text for _, question in asked])
    jobs = [(row, window) for row, (number, _) in enumerate(asked) for window in tokenized[number].windows]
    logits = [np.full((len(tokenized[number].offsets), 2), -np.inf, dtype=np.float32) for number, _ in asked]
    for (row, window), found in zip(jobs, encoder.read([(ids[row], window) for row, window in jobs]), strict=True):
        logits[row][window.own] = found.tokens_T2[window.own_start - window.start : window.own_stop - window.start]
    return [
        _read_prediction(passages[number], number, question, tokenized[number], logits_T2)
        for (number, question), logits_T2 in zip(asked, logits, strict=True)
    ]


def _read_prediction(
    passage: QuestionedPassage, number: int, question: Question, tokens: TokenizedPassage, logits_T2: Floats
) -> Prediction:
    span = best_span(logits_T2[:, 0], logits_T2[:, 1], tokens.max_span) or NO_SPAN
    text = passage.passage.text
    answer = text[tokens.offsets[span.start, 0] : tokens.offsets[span.end, 1]] if span.end >= 0 else ""
    return Prediction(question, answer, number, span.score)


def read_collection(
    encoded: EncodedDataset,
    config: ModelConfig,
    threshold: float | None = None,
    advance: Callable[[int], None] = lambda _: None,
    passage_scores: Callable[[Floats, NDArray[np.int64]], PassageScores] | None = None,
) -> list[Prediction]:
    """The best phrase among all passages, exactly.

    A passage's best start plus its best end bounds every phrase in it; passages are searched in the order of
    that bound until the best phrase found beats the next bound, or the last of those that are ranked again does.
    """
    scorer = SpanScorer(encoded, config, threshold)
    best_of_passages = (passage_scores or NumpyPassageScores)(*scorer.kept_vectors())
    bounds = _bounds(scorer, best_of_passages, advance)
    if config.ranking is not None:
        return list(_ranked_predictions(scorer, (_first_phrases(scorer, *each) for each in bounds)))
    return [_best_passage(scorer, *each) for each in bounds]


def _bounds(
    scorer: "SpanScorer", best_of_passages: PassageScores, advance: Callable[[int], None]
) -> Iterator[tuple[int, Floats, Floats]]:
    """For each question its row, the bound of each passage without penalties, and the penalty of each passage."""
    encoded = scorer.encoded
    for first in range(0, len(encoded.questions), QUESTIONS_AT_ONCE):
        rows = np.arange(first, min(first + QUESTIONS_AT_ONCE, len(encoded.questions)))
        bounds_BP = scorer.passage_bounds(rows, best_of_passages)
        for row, bounds_P in zip(rows.tolist(), bounds_BP, strict=True):
            penalties_P = np.zeros_like(bounds_P) if scorer.lexical is None else scorer.lexical.of_passages(row)
            yield row, bounds_P, penalties_P
        advance(len(rows))


def _best_passage(scorer: "SpanScorer", row: int, bounds_P: Floats, penalties_P: Floats) -> Prediction:
    best, where = None, 0
    bounds_P = bounds_P - penalties_P
    for number in np.argsort(-bounds_P).tolist():
        if best is not None and best.score >= bounds_P[number]:
            break
        span = scorer.span(row, number)
        if span is not None and (best is None or span.score - penalties_P[number] > best.score):
            best, where = span._replace(score=span.score - float(penalties_P[number])), number
    return scorer.prediction(row, where, best)


def _first_phrases(scorer: "SpanScorer", row: int, bounds_P: Floats, penalties_P: Floats) -> list[FoundSpan]:
    """The best distinct phrases of all passages, best first; ties by passage and position."""
    found: list[FoundSpan] = []
    bounds_P = bounds_P - penalties_P
    for number in np.argsort(-bounds_P).tolist():
        least = found[-1].score if len(found) == CONTENDERS else -np.inf
        if least > bounds_P[number] or bounds_P[number] == -np.inf:
            break
        penalty = float(penalties_P[number])
        here = (replace(span, score=span.score - penalty) for span in scorer.distinct(row, number, least + penalty))
        found = sorted([*found, *here], key=lambda s: (-s.score, s.passage, s.start, s.end))[:CONTENDERS]
    return found


def _ranked_predictions(scorer: "SpanScorer", found: Iterable[list[FoundSpan]]) -> Iterator[Prediction]:
    """The best phrase of each question by the model's ranking."""
    ranking, passages = scorer.ranking, scorer.encoded.passages
    for rows, several in _batches(found):
        for row, best in zip(rows, ranking.best(rows, several), strict=True):
            number, question = scorer.encoded.questions[row]
            if best is None:
                yield Prediction(question, "", number, float("-inf"))
            else:
                text = passages[best.passage].passage.text[best.start : best.end]
                yield Prediction(question, text, best.passage, best.score)


def _batches(found: Iterable[list[FoundSpan]]) -> Iterator[tuple[list[int], list[list[FoundSpan]]]]:
    """With the numbers of the questions, from 0."""
    numbered = enumerate(found)
    while batch := list(islice(numbered, QUESTIONS_AT_ONCE)):
        yield [row for row, _ in batch], [spans for _, spans in batch]


@dataclass(frozen=True, slots=True)
class LexicalPenalties:
    """Penalties of passages that lack terms of the question, and of phrases that repeat them."""

    passage_terms: SegmentTerms
    question_terms: QuestionTerms
    texts: Sequence[SearchedText]

    @classmethod
    def from_dataset(cls, encoded: EncodedDataset, weight: float) -> Self:
        terms = SegmentTerms.from_passages([p.passage for p in encoded.passages])
        texts = [question.text for _, question in encoded.questions]
        words = QuestionTerms.from_questions(texts, TermWeights.from_segments([terms]), weight)
        return cls(terms, words, [SearchedText(p.passage.text) for p in encoded.passages])

    def of_passages(self, row: int) -> Floats:
        return self.question_terms.penalties_of_all(self.passage_terms, row)

    def of_spans(self, row: int, number: int, offsets_T2: NDArray[np.int64]) -> SpanPenalties:
        """Of a passage's phrases, given the character offsets of its tokens."""
        text = self.texts[number]

        def penalties(start_N: NDArray[np.int64], end_N: NDArray[np.int64]) -> Floats:
            spans = zip(offsets_T2[start_N, 0].tolist(), offsets_T2[end_N, 1].tolist(), strict=True)
            phrases = ((text, *whole_words(text.text, *span)) for span in spans)  # as in an index
            return self.question_terms.repetition_penalties(np.full_like(start_N, row), phrases)

        return penalties


SpanScores = tuple[Floats, Floats, NDArray[np.int64], Floats | None, SpanPenalties | None]
"""The first arguments of `best_span` and `ranked_spans`."""


class SpanScorer:
    """Scores the phrases of any passage for any question, without the tokens that the filter drops."""

    def __init__(self, encoded: EncodedDataset, config: ModelConfig, threshold: float | None) -> None:
        self.encoded = encoded
        self.config = config
        self.kept = [vectors.kept(threshold) for vectors in encoded.passage_vectors]

    @cached_property
    def lexical(self) -> LexicalPenalties | None:
        return (
            LexicalPenalties.from_dataset(self.encoded, self.config.lexical_weight)
            if self.config.lexical_weight
            else None
        )

    @cached_property
    def ranking(self) -> SpanRanking:
        """Of models that have one."""
        lexical = self.lexical
        return SpanRanking(
            PhraseRanking.from_dict(self.config.ranking or {}),
            [p.passage for p in self.encoded.passages],
            None if lexical is None else lexical.question_terms,
            None if lexical is None else lexical.passage_terms,
        )

    def span(self, row: int, number: int) -> Span | None:
        return best_span(*self._scores(row, number))

    def distinct(self, row: int, number: int, least: float = -np.inf) -> Iterator[FoundSpan]:
        """The distinct phrases of a passage, as many as are ranked again, that score at least `least`; best first."""
        spans = ranked_spans(*self._scores(row, number), least=least)
        text, offsets_T2 = self.encoded.passages[number].passage.text, self.encoded.passage_vectors[number].offsets_T2
        return distinct_spans(number, text, offsets_T2, spans)

    def _scores(self, row: int, number: int) -> SpanScores:
        passage, questions = self.encoded.passage_vectors[number], self.encoded.question_vectors
        start_T, end_T = (
            np.where(self.kept[number], passage.vectors_TD @ vector_D, -np.inf)
            for vector_D in (questions.start_BD[row], questions.end_BD[row])
        )
        begins_T, stops_T = passage.offsets_T2.T * self.config.length_penalty
        start_T, end_T = ((start_T + begins_T).astype(np.float32), (end_T - stops_T).astype(np.float32))
        penalties = None if self.lexical is None else self.lexical.of_spans(row, number, passage.offsets_T2)
        return start_T, end_T, passage.max_span_T, self._coherency(row, passage), penalties

    def _coherency(self, row: int, passage: PassageVectors) -> Floats | None:
        if self.encoded.question_vectors.coherency_B is None:
            return None
        return np.asarray(self._pairs(passage) * self.encoded.question_vectors.coherency_B[row])

    def _pairs(self, passage: PassageVectors) -> Floats:
        """What the coherency of each pair of a start and an end is (T, T), but for the question's share."""
        _, _, left, right = self.config.split_parts
        return np.asarray(passage.vectors_TD[:, left] @ passage.vectors_TD[:, right].T)

    def passage_bounds(self, rows: NDArray[Any], best_of_passages: PassageScores) -> Floats:
        """Upper bounds of the phrase scores for each question and passage."""
        questions = self.encoded.question_vectors
        bounds_BP = best_of_passages(questions.start_BD[rows]) + best_of_passages(questions.end_BD[rows])
        if questions.coherency_B is not None:
            coherency_BP = questions.coherency_B[rows][:, None, None] * self._pair_extremes
            bounds_BP = bounds_BP + coherency_BP.max(axis=1)
        return bounds_BP

    def kept_vectors(self) -> tuple[Floats, NDArray[np.int64]]:
        """The kept vectors of all passages, and the boundaries of the passages among them."""
        kept = [v.vectors_TD[k] for v, k in zip(self.encoded.passage_vectors, self.kept, strict=True)]
        return np.concatenate(kept), np.cumsum([0, *map(len, kept)])

    @cached_property
    def _pair_extremes(self) -> Floats:
        """The least and the largest pair of each passage (2, P): one of them bounds coherency, by its sign."""
        passages = self.encoded.passage_vectors
        return np.array([extremes(self._pairs(each), each.max_span_T) for each in passages], dtype=np.float32).T

    def prediction(self, row: int, number: int, span: Span | None) -> Prediction:
        question = self.encoded.questions[row][1]
        if span is None:
            return Prediction(question, "", number, float("-inf"))
        offsets = self.encoded.passage_vectors[number].offsets_T2
        text = self.encoded.passages[number].passage.text
        start, end = int(offsets[span.start, 0]), int(offsets[span.end, 1])
        return Prediction(question, text[start:end], number, span.score, start)


@dataclass(frozen=True, slots=True)
class ReadingScores:
    """Percentages of the answerable questions."""

    questions: int
    exact_match: float
    f1: float

    @classmethod
    def from_predictions(cls, predictions: Sequence[Prediction]) -> "ReadingScores":
        def percent(metric: Callable[[str, str], float]) -> float:
            return 100 * float(
                np.mean([best_over_answers(metric, p.answer, p.question.gold_texts) for p in predictions])
            )

        return cls(len(predictions), percent(exact_match), percent(f1))


def write_predictions(predictions: Sequence[Prediction], path: Path) -> None:
    """One JSON object a line: question, answer, the passage's number, score, and whether it matches exactly."""
    with path.open("w", encoding="utf-8") as file:
        for p in predictions:
            row = {
                "id": p.question.id,
                "question": p.question.text,
                "answer": p.answer,
                "passage": p.passage,
                "score": p.score,
                "exact_match": best_over_answers(exact_match, p.answer, p.question.gold_texts),
            }
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
