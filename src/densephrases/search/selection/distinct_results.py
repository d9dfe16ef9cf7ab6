"""The distinct results of ranked lists of phrases."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from densephrases.arrays import Ints, Mask
from densephrases.index.cancellation import Check, go_on
from densephrases.search.passages import LocatedPhrases, PassageTexts
from densephrases.search.request import Unit
from densephrases.search.scoring.lexical import QuestionTerms
from densephrases.search.scoring.pairs import NO_RESULTS, Phrases, Selection
from densephrases.search.selection.distinct_phrases import DistinctPhrases
from densephrases.search.selection.overlaps import Places, may_overlap
from densephrases.text.words import has_blank_line

# Phrases of the ranked list that are looked up first for each result, and the factor by which that grows while results
# are missing: around a good phrase there are others that differ by one word.
PHRASES_PER_RESULT = 12
MORE = 4

_OFFSET_BITS = 20  # a token begins below 2 ** 16, and its sentence ends not much later


@dataclass(frozen=True, slots=True)
class DistinctResults:
    """Selects the best phrase of every distinct result; each rule compares a phrase with better ones only.

    Distinct sentences are those around the phrase, from its first to its last, of one paragraph. Which phrases are
    distinct says `DistinctPhrases`; if phrases are the results, they pay for repeating terms of the question.

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

    def __call__(self, several: Sequence[Phrases], terms: QuestionTerms | None) -> list[Selection]:
        """Of all questions at once: a lookup takes about as long for ten phrases as for hundreds."""
        terms = terms if penalizes_repetitions(self.unit) else None
        select = DistinctPhrases(self.texts, self.wanted, self.apart, terms, self.check)
        results = [NO_RESULTS] * len(several)
        counts = {question: PHRASES_PER_RESULT * self.wanted for question, each in enumerate(several) if len(each)}
        while counts:
            self.check()
            heads = {question: several[question].best(count) for question, count in counts.items()}
            counts = {}
            for (question, head), located in zip(heads.items(), self._located(list(heads.values())), strict=True):
                whole = len(head) == len(several[question])
                found = select(question, located, whole) if self.unit == "phrase" else self._distinct(head)
                results[question] = found
                if not whole and not found.enough:
                    counts[question] = MORE * len(head)
        return results

    def _located(self, heads: Sequence[Phrases]) -> list[LocatedPhrases]:
        joined = self.texts.locate(Phrases.joined(heads))
        return [joined.take(slice(*edge)) for edge in pairwise(np.cumsum([0, *map(len, heads)]).tolist())]

    def _distinct(self, head: Phrases) -> Selection:
        """The results among the head of a ranked list, which are not phrases."""
        head = self._outside_headings(head) if self.unit == "sentence" else head
        distinct = head.take(np.flatnonzero(_is_first(self._keys(head))))
        if not may_overlap(self.unit):
            return Selection(distinct.take(slice(self.wanted)), len(distinct) >= self.wanted)
        return self._first_sentences(distinct)

    def _outside_headings(self, head: Phrases) -> Phrases:
        located = self.texts.locate(head)
        columns = zip(located.passage_N.tolist(), located.spans_N2.tolist(), strict=True)
        return head.take(np.flatnonzero([not self.texts.passage(key).is_heading(*span) for key, span in columns]))

    def _first_sentences(self, distinct: Phrases) -> Selection:
        """The first of one paragraph, until they are as many as wanted and of as many places."""
        passage_N, spans_N2 = self._shown(distinct)
        places, chosen, enough = Places(), list[int](), False
        for row, (passage, (start, end)) in enumerate(zip(passage_N.tolist(), spans_N2.tolist(), strict=True)):
            if not has_blank_line(self.texts.passage(passage).text, start, end):
                places.add(passage, start, end)
                chosen.append(row)
            if enough := len(chosen) >= self.wanted and len(places) >= self.apart:
                break
        return Selection(distinct.take(np.array(chosen, dtype=np.int64)), enough)

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
