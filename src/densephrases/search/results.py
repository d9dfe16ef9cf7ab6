"""From ranked phrases to answers: which results are distinct, and how they are shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from densephrases.arrays import Ints, Mask
from densephrases.index.cancellation import Check, go_on
from densephrases.search.answers import Answer, PhraseSpan, SourceDocument
from densephrases.search.overlaps import Places, may_overlap
from densephrases.search.passages import FoundPassage, LocatedPhrases, PassageTexts
from densephrases.search.request import Unit
from densephrases.search.scoring.lexical import QuestionTerms
from densephrases.search.scoring.pairs import NOTHING, Phrases
from densephrases.text.normalize import normalize_answer
from densephrases.text.sentences import TextSpan
from densephrases.text.words import has_blank_line, is_phrase

# Phrases of the ranked list that are inspected first for each result, and the factor by which that grows while results
# are missing: around a good phrase there are others that differ by one word. Fewer if their texts must be compared.
PHRASES_PER_RESULT = 6
PHRASES_PER_LEXICAL_RESULT = 2
MORE = 4

_PHRASES_A_CHECK = 256
_OFFSET_BITS = 20  # a token begins below 2 ** 16, and its sentence ends not much later


@dataclass(frozen=True, slots=True)
class DistinctResults:
    """Selects the best phrase of every distinct result; each rule compares a phrase with better ones only.

    Phrases start and end at word boundaries, are more than punctuation and touch no heading. Two phrases are
    distinct unless they are of one passage and have the same normalized text: they may share a start or an end,
    which puts the right phrase among the first ten more often (73% instead of 60% on SQuAD). Distinct sentences are
    those around the phrase, from its first to its last, of one paragraph. If phrases are the results, they pay for
    repeating terms of the question.

    Attributes:
        wanted: Number of results.
        apart: Number of places that the results must have at least, for which there may be more of them than wanted.
        check: Called all along; what it raises ends the search.
    """

    texts: PassageTexts
    unit: Unit
    wanted: int
    check: Check = go_on
    apart: int = 0

    def __call__(self, several: Sequence[Phrases], terms: QuestionTerms | None) -> list[Phrases]:
        """Of all questions at once: a lookup takes about as long for ten phrases as for hundreds."""
        terms = terms if penalizes_repetitions(self.unit) else None
        results = [NOTHING] * len(several)
        first = self.wanted * (PHRASES_PER_RESULT if terms is None else PHRASES_PER_LEXICAL_RESULT)
        counts = {question: first for question, phrases in enumerate(several) if len(phrases)}
        while counts:
            self.check()
            heads = [several[question].best(count) for question, count in counts.items()]
            chosen = self._chosen(heads, None if terms is None else terms.take(np.array(list(counts))))
            asked, counts = list(counts), {}
            for question, head, result in zip(asked, heads, chosen, strict=True):
                results[question] = result
                needed = self._needed(several[question], result, len(head))
                if needed > len(head):
                    counts[question] = needed
        return results

    def suffice(self, chosen: Phrases) -> bool:
        """Whether results are as many as wanted, and of as many places."""
        if len(chosen) < self.wanted or self.apart <= 1 or not may_overlap(self.unit):
            return len(chosen) >= self.wanted
        passage_N, spans_N2 = self._shown(chosen)
        return len(Places().add_all(passage_N.tolist(), spans_N2.tolist())) >= self.apart

    def _needed(self, phrases: Phrases, chosen: Phrases, inspected: int) -> int:
        """How many phrases must be inspected: all that score at least as the last result before their penalties."""
        if not self.suffice(chosen):
            return min(MORE * inspected, len(phrases))
        return int(np.count_nonzero(phrases.score_N >= chosen.score_N[-1]))

    def _chosen(self, heads: Sequence[Phrases], terms: QuestionTerms | None) -> list[Phrases]:
        """The results among the head of each ranked list."""
        if self.unit == "phrase":
            return [each.phrases.take(self._distinct_phrases(each)) for each in self._ranked(heads, terms)]
        heads = [self._outside_headings(head) for head in heads] if self.unit == "sentence" else heads
        distinct = [head.take(np.flatnonzero(_is_first(self._keys(head)))) for head in heads]
        if not may_overlap(self.unit):
            return [each.take(slice(self.wanted)) for each in distinct]
        return [each.take(self._selected(*self._shown(each), self._is_of_one_paragraph)) for each in distinct]

    def _outside_headings(self, head: Phrases) -> Phrases:
        located = self.texts.locate(head)
        columns = zip(located.passage_N.tolist(), located.spans_N2.tolist(), strict=True)
        return head.take(np.flatnonzero([not self.texts.passage(key).is_heading(*span) for key, span in columns]))

    def _ranked(self, heads: Sequence[Phrases], terms: QuestionTerms | None) -> list[LocatedPhrases]:
        """The phrases of each head by their scores after repetition penalties."""
        joined = self.texts.locate(Phrases.joined(heads))
        edges = np.cumsum([0, *map(len, heads)])
        if terms is not None:
            question_N = np.repeat(np.arange(len(heads)), np.diff(edges))
            penalties_N = terms.repetition_penalties(question_N, self.texts.spans_in_text(joined))
            joined = replace(joined, phrases=replace(joined.phrases, score_N=joined.phrases.score_N - penalties_N))
        located = [joined.take(slice(*edge)) for edge in pairwise(edges.tolist())]
        return located if terms is None else [each.take(each.phrases.order()) for each in located]

    def _distinct_phrases(self, ranked: LocatedPhrases) -> Ints:
        seen: set[tuple[int, str]] = set()

        def is_new(passage: int, start: int, end: int) -> bool:
            found = self.texts.passage(passage)
            key = passage, normalize_answer(found.text[start:end])
            if key in seen or not is_phrase(found.text, start, end) or found.is_heading(start, end):
                return False
            seen.add(key)
            return True

        return self._selected(ranked.passage_N, ranked.spans_N2, is_new)

    def _selected(self, passage_N: Ints, spans_N2: Ints, is_new: Callable[[int, int, int], bool]) -> Ints:
        """The first rows that are new, until they are as many as wanted and of as many places."""
        places, chosen = Places(), list[int]()
        for row, (passage, (start, end)) in enumerate(zip(passage_N.tolist(), spans_N2.tolist(), strict=True)):
            if row % _PHRASES_A_CHECK == 0:
                self.check()
            if is_new(passage, start, end):
                places.add(passage, start, end)
                chosen.append(row)
            if len(chosen) >= self.wanted and len(places) >= self.apart:
                break
        return np.array(chosen, dtype=np.int64)

    def _is_of_one_paragraph(self, passage: int, start: int, end: int) -> bool:
        return not has_blank_line(self.texts.passage(passage).text, start, end)

    def _shown(self, phrases: Phrases) -> tuple[Ints, Ints]:
        """The passages of phrases, and in them the characters of what is shown: the phrase, or its sentences."""
        located = self.texts.locate(phrases)
        if self.unit == "phrase":
            return located.passage_N, located.spans_N2
        return located.passage_N, self.texts.sentences(located.passage_N, located.spans_N2)

    def _keys(self, phrases: Phrases) -> Ints:
        """Numbers that identify the sentences, passages or documents of phrases."""
        if self.unit == "document":
            return self.texts.document_keys(phrases)
        if self.unit == "passage":
            return self.texts.passage_keys(phrases)
        keys_N, sentences_N2 = self._shown(phrases)
        _, passage_N = np.unique(keys_N, return_inverse=True)
        return (((passage_N << _OFFSET_BITS) + sentences_N2[:, 0]) << _OFFSET_BITS) + sentences_N2[:, 1]


def penalizes_repetitions(unit: Unit) -> bool:
    """Whether phrases pay for repeating terms of the question: only as results, since a passage may repeat them."""
    return unit == "phrase"


def _is_first(keys_N: Ints) -> Mask:
    first_N = np.zeros(len(keys_N), dtype=bool)
    first_N[np.unique(keys_N, return_index=True)[1]] = True
    return first_N


@dataclass(frozen=True, slots=True)
class Result:
    """A phrase that was found: its passage, its characters in it, and those of the sentences around it."""

    passage: FoundPassage
    phrase: TextSpan
    sentences: TextSpan
    score: float

    def answer(self, unit: Unit, confidence: float | None) -> Answer:
        passage, text = self.passage, self.passage.text
        phrase, sentences = self.phrase, self.sentences
        shown = {"phrase": phrase, "sentence": sentences}.get(unit, TextSpan(0, len(text)))
        begin, document = passage.begin, passage.document
        source = SourceDocument(document.id, document.title, document.metadata, document.layout)
        return Answer(
            text=text[shown.start : shown.end],
            score=self.score,
            confidence=confidence,
            start=begin + shown.start,
            end=begin + shown.end,
            document=source,
            passage=text,
            sentence=text[sentences.start : sentences.end],
            phrase=PhraseSpan(text[phrase.start : phrase.end], begin + phrase.start, begin + phrase.end),
            passage_start=begin,
            sentence_start=begin + sentences.start,
            unit=unit,
            section=source.section(begin + phrase.start),
            page=document.layout.page(begin + phrase.start),
        )


def results_from_phrases(phrases: Phrases, texts: PassageTexts) -> list[Result]:
    located = texts.locate(phrases)
    rows = zip(located.passage_N.tolist(), located.spans_N2.tolist(), phrases.score_N.tolist(), strict=True)
    return [_result(texts.passage(key), TextSpan(*span), score) for key, span, score in rows]


def _result(passage: FoundPassage, phrase: TextSpan, score: float) -> Result:
    return Result(passage, phrase, passage.searched.sentences_around(phrase.start, phrase.end), score)
