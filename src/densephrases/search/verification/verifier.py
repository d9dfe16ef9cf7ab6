"""Verified answers: the first results' passages are read with the question, and what is found there comes first."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from densephrases.arrays import Floats
from densephrases.index.cancellation import Check, go_on
from densephrases.model.encoder import Encoder
from densephrases.model.tokenizer import TokenizedPassage
from densephrases.search.answers import Answer, PhraseSpan
from densephrases.search.confidence import RIVALS
from densephrases.search.verification.read_passages import ReadPassage, reading_excerpt
from densephrases.search.verification.weights import RankingFeatures, VerificationWeights
from densephrases.text.normalize import normalize_answer
from densephrases.text.passages import Passage, section_context
from densephrases.text.searched_text import SearchedText

RESULTS_PER_PASSAGE = 4  # searched for each passage that is read, so that these are different passages

PassageKey = tuple[str, int]
"""A document's id and the offset of the passage in its text."""


@dataclass(frozen=True, slots=True)
class ReadResults:
    """The results of search in one passage, best first, and what was read there."""

    results: Sequence[Answer]
    passage: ReadPassage


@dataclass(frozen=True, slots=True)
class ReadPhrase:
    """A phrase of a passage that was read: its characters in the passage, and what is known of it."""

    found: Answer  # the best result of search in the passage
    start: int
    end: int
    features: RankingFeatures

    @property
    def text(self) -> str:
        return self.found.passage[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Verifier:
    """Reads and ranks; the same for one question and for many, whose passages are read in batches by length."""

    encoder: Encoder
    weights: VerificationWeights

    def __call__(
        self,
        questions: Sequence[str],
        results: Sequence[Sequence[Answer]],
        verify: int | Literal["auto"],
        check: Check = go_on,
    ) -> list[list[Answer]]:
        """The results of each question, verified ones first. Only the first results are verified, whatever k.

        Args:
            questions: As the model encodes them.
            results: What search has found for each question, best first.
            verify: How many different passages are read for each question. "auto" reads the first where confidence
                is low, and the others where it then is very low.
            check: Called all along; what it raises ends the search.
        """
        most = self.weights.passages if verify == "auto" else verify
        first = [each[: max(RIVALS, RESULTS_PER_PASSAGE * most)] for each in results]
        answers = [list(each) for each in results]
        read: list[list[ReadResults]] = [[] for _ in results]
        for passages, below in self._rounds(verify):
            rows = [row for row, each in enumerate(answers) if _is_unsure(each, below)]
            found = self.read([questions[row] for row in rows], [first[row] for row in rows], passages, check)
            for row, further in zip(rows, found, strict=True):
                read[row] += further
                if further:
                    answers[row] = self._verified(results[row], phrases_of(read[row]))
        return answers

    def _rounds(self, verify: int | Literal["auto"]) -> list[tuple[slice, float | None]]:
        """Which passages are read, and below which confidence of the answers so far; None: always."""
        if verify != "auto":
            return [(slice(verify), None)]
        weights = self.weights
        return [(slice(1), weights.auto_below), (slice(1, weights.passages), weights.further_below)]

    def read(
        self,
        questions: Sequence[str],
        results: Sequence[Sequence[Answer]],
        passages: slice,
        check: Check = go_on,
    ) -> list[list[ReadResults]]:
        """For each question those of the different passages of its results, best first."""
        groups = [some_passages(each, passages) for each in results]
        tokenized = self._tokenized([members[0] for group in groups for members in group.values()])
        ids = self.encoder.tokens.questions(questions)
        pairs, places = [], []
        for number, group in enumerate(groups):
            for key, members in group.items():
                begin = members[0].phrase.start - members[0].passage_start
                window = reading_excerpt(self.encoder.tokens, tokenized[key], begin)
                if window is not None:
                    pairs.append((ids[number], window))
                    places.append((number, key))
        found = self.encoder.read(pairs, check)
        read: list[list[ReadResults]] = [[] for _ in groups]
        for (number, key), (_, window), logits in zip(places, pairs, found, strict=True):
            members = groups[number][key]
            first = members[0]
            passage = ReadPassage.from_window(first.passage, tokenized[key], window, logits, headings_in(first))
            read[number].append(ReadResults(members, passage))
        return read

    def _tokenized(self, answers: Sequence[Answer]) -> dict[PassageKey, TokenizedPassage]:
        """Each passage once, however many questions have found it."""
        distinct = {passage_key(answer): answer for answer in answers}
        passages = [_passage(answer) for answer in distinct.values()]
        return dict(zip(distinct, self.encoder.tokens.passages(passages), strict=True))

    def _verified(self, results: Sequence[Answer], phrases: Sequence[ReadPhrase]) -> list[Answer]:
        """The best phrase of each passage by combined score, then all other results as they were."""
        ranked = best_of_passages(phrases, self.weights)
        scores = [self.weights.score(phrase.features) for phrase in ranked]
        confidences = self._confidences(scores, ranked)
        verified = [
            verified_answer(phrase, score, confidence)
            for phrase, score, confidence in zip(ranked, scores, confidences, strict=True)
        ]
        distinct: dict[tuple[object, ...], Answer] = {}
        for answer in (*verified, *results):
            distinct.setdefault(result_key(answer), answer)
        return falling_confidences(list(distinct.values()))

    def _confidences(self, scores: Sequence[float], ranked: Sequence[ReadPhrase]) -> Sequence[float | None]:
        if self.weights.confidence is None or any(phrase.found.confidence is None for phrase in ranked):
            return [phrase.found.confidence for phrase in ranked]
        return list(self.weights.confidence.probability(scores, [phrase.features for phrase in ranked]).tolist())


def _is_unsure(answers: Sequence[Answer], below: float | None) -> bool:
    return below is None or (bool(answers) and (answers[0].confidence or 0.0) < below)


def some_passages(results: Sequence[Answer], passages: slice) -> dict[PassageKey, list[Answer]]:
    """Some of the different passages of results, best first, with their results."""
    groups: dict[PassageKey, list[Answer]] = {}
    for answer in results:
        groups.setdefault(passage_key(answer), []).append(answer)
    return dict(list(groups.items())[passages])


def headings_in(answer: Answer) -> list[tuple[int, int]]:
    """The characters of its passage that are headings."""
    begin = answer.passage_start
    touched = answer.document.layout.headings(begin, begin + len(answer.passage))
    return [(start - begin, end - begin) for start, end in touched]


def _passage(answer: Answer) -> Passage:
    document = answer.document
    section = section_context(document.layout.path_before(answer.passage_start), document.title)
    return Passage(answer.passage, document.title, section)


def passage_key(answer: Answer) -> PassageKey:
    return answer.document.id, answer.passage_start


def result_key(answer: Answer) -> tuple[object, ...]:
    """What tells results apart, as in `DistinctResults`."""
    if answer.unit == "document":
        return (answer.document.id,)
    if answer.unit == "sentence":
        return answer.document.id, answer.start, answer.end
    return *passage_key(answer), normalize_answer(answer.phrase.text) if answer.unit == "phrase" else ""


def phrases_of(read: Sequence[ReadResults]) -> list[ReadPhrase]:
    """Of all passages that were read for a question: the reader's best phrase of each, and the results in it."""
    normalizer = sum(_log_sum([each.passage.logits_T2[:, side] for each in read]) for side in range(2))
    return [phrase for each in read for phrase in _phrases_of_passage(each, normalizer)]


def _phrases_of_passage(read: ReadResults, normalizer: float) -> Iterator[ReadPhrase]:
    first = read.results[0]
    confidences = {normalize_answer(each.phrase.text): each.confidence or 0.0 for each in reversed(read.results)}
    for start, end, logit in _spans(read):
        features = RankingFeatures(
            reader=logit,
            unverified=confidences.get(normalize_answer(read.passage.text[start:end]), 0.0),
            log_probability=logit - normalizer,
            margin=0.0 if read.passage.null is None else logit - read.passage.null,
        )
        yield ReadPhrase(first, start, end, features)


def _spans(read: ReadResults) -> Iterator[tuple[int, int, float]]:
    """The reader's best phrase, then the results that lie in what was read."""
    best = read.passage.best_phrase()
    if best is not None:
        yield best
    for result in read.results:
        start, end = result.phrase.start - result.passage_start, result.phrase.end - result.passage_start
        logit = read.passage.logit(start, end)
        if logit is not None and (best is None or (start, end) != best[:2]):
            yield start, end, logit


def _log_sum(parts: Sequence[Floats]) -> float:
    """The logarithm of the sum of the exponentials of all logits."""
    logits = np.concatenate(parts).astype(np.float64)
    return float(logits.max() + np.log(np.exp(logits - logits.max()).sum()))


def best_of_passages(phrases: Sequence[ReadPhrase], weights: VerificationWeights) -> list[ReadPhrase]:
    """The best phrase of each passage by combined score, best first; of equal ones the first."""
    best: dict[PassageKey, ReadPhrase] = {}
    for phrase in sorted(phrases, key=_descending(weights)):
        best.setdefault(passage_key(phrase.found), phrase)
    return list(best.values())


def _descending(weights: VerificationWeights) -> Callable[[ReadPhrase], float]:
    return lambda phrase: -weights.score(phrase.features)


def verified_answer(phrase: ReadPhrase, score: float, confidence: float | None) -> Answer:
    """The phrase as a result of the same unit as those of the search."""
    found, begin = phrase.found, phrase.found.passage_start
    around = SearchedText(found.passage).sentences_around(phrase.start, phrase.end)
    first, last = around.start, around.end
    shown = {"phrase": (phrase.start, phrase.end), "sentence": (first, last)}.get(found.unit, (0, len(found.passage)))
    return replace(
        found,
        text=found.passage[slice(*shown)],
        start=begin + shown[0],
        end=begin + shown[1],
        score=score,
        confidence=confidence,
        sentence=found.passage[first:last],
        sentence_start=begin + first,
        phrase=PhraseSpan(phrase.text, begin + phrase.start, begin + phrase.end),
        verified=True,
        section=found.document.section(begin + phrase.start),
        page=found.document.layout.page(begin + phrase.start),
        explanation=found.explanation and replace(found.explanation, reader=phrase.features.reader),
    )


def falling_confidences(answers: Sequence[Answer]) -> list[Answer]:
    """No result is more certain than a better one: results that were not verified may have been before."""
    least, lowered = 1.0, []
    for answer in answers:
        if answer.confidence is not None:
            least = min(least, answer.confidence)
            lowered.append(answer if answer.confidence == least else replace(answer, confidence=least))
        else:
            lowered.append(answer)
    return lowered
