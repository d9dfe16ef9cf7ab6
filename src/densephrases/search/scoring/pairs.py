"""The pair search over a whole collection.

The ranked list of a question holds all phrases of all segments by score; ties are ordered by segment, first row and
last row. A phrase that neither starts at one of the m best starts nor ends at one of the m best ends scores at most
the sum of the weakest of those starts and the weakest of those ends: the bound. The phrases above the bound are
therefore the exact head of the list, provided that the m best are exact and that length only lowers scores.

With lexical overlap, all phrases of a passage pay the penalty of the terms it lacks, which may exceed the difference
between the best and the weakest candidates. A passage is then scanned as a whole if the bound minus its penalty
reaches the score of the last result. Penalties of single phrases (repeated terms) are left to the selection of
results, because they only lower scores further.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from densephrases.arrays import Floats, Ints, Mask
from densephrases.index.cancellation import Check, go_on
from densephrases.search.scoring.candidates import Candidates
from densephrases.search.scoring.lexical import QuestionTerms
from densephrases.search.scoring.searchable import SearchableSegment
from densephrases.search.scoring.windows import Hits, Queries, ScoredPhrases, score_phrases
from densephrases.search.timings import Timings

# The first number m of candidate starts and ends. The window scan reads about 20 rows for each, and one candidate
# usually has several of the best phrases around it: more candidates take time, fewer need a second round.
FEWEST_CANDIDATES = 50
CANDIDATES_A_RESULT = 2
_ROWS_AT_ONCE = 1 << 20  # of all questions together, if every row is a candidate


@dataclass(frozen=True, slots=True)
class Phrases:
    """Phrases from row `start` to row `end` inclusive, the segments they are in, and their scores for one question."""

    segment_N: Ints
    start_N: Ints
    end_N: Ints
    score_N: Floats

    def __len__(self) -> int:
        return len(self.score_N)

    def take(self, chosen: Ints | slice) -> "Phrases":
        return Phrases(self.segment_N[chosen], self.start_N[chosen], self.end_N[chosen], self.score_N[chosen])

    @classmethod
    def joined(cls, several: Sequence["Phrases"]) -> "Phrases":
        columns = ([getattr(each, name) for each in several] for name in cls.__slots__)
        return cls(*map(np.concatenate, columns))

    def rescored(self, score_N: Floats) -> "Phrases":
        """With other scores of the first, in their new order; those after them have at most the lowest of these."""
        if not len(score_N):
            return self
        first, rest = self.take(slice(len(score_N))), self.take(slice(len(score_N), None))
        first = Phrases(first.segment_N, first.start_N, first.end_N, score_N)
        capped_N = np.minimum(rest.score_N, score_N.min())
        rest = Phrases(rest.segment_N, rest.start_N, rest.end_N, capped_N)
        return Phrases.joined([first.take(first.order()), rest])

    def reaching(self, least: float) -> "Phrases":
        return self if least == -np.inf else self.take(np.flatnonzero(self.score_N >= least))

    def above(self, bound: float) -> "Phrases":
        return self if bound == -np.inf else self.take(np.flatnonzero(self.score_N > bound))

    def best(self, count: int) -> "Phrases":
        """The head of the ranked list: at least `count` phrases if there are as many."""
        chosen = self
        if count < len(self):
            least = np.partition(self.score_N, len(self) - count)[len(self) - count]
            chosen = self.take(np.flatnonzero(self.score_N >= least))
        return chosen.take(chosen.order())

    def order(self) -> Ints:
        """The order of the ranked list: by score; ties by segment, first row and last row."""
        return np.lexsort((self.end_N, self.start_N, self.segment_N, -self.score_N))


@dataclass(frozen=True, slots=True)
class Selection:
    """The distinct results among the phrases of a question, best first, and whether they are as many as wanted."""

    results: Phrases
    enough: bool


SelectResults = Callable[[Sequence[Phrases], QuestionTerms | None], list[Selection]]
"""From phrases of each question, in any order, the distinct results.

Given the terms of the questions, it may lower scores but never raise them.
"""

Look = Callable[[Ints, int, float], Iterator[tuple[Ints, Mask, Mask]]]
"""Finds results of some questions given the number of candidates and the effort, a few questions at a time.

It yields these questions, which of them lack results, and which had fewer candidates than asked for.
"""


def search_deeper(questions: int, depth: int, effort: float, look: Look) -> None:
    """Look at twice as many candidates until no question lacks results, with full effort if there were too few."""
    pending = {effort: np.arange(questions)}
    while any(map(len, pending.values())):
        longer: dict[float, list[Ints]] = {}
        for tried, asked in pending.items():
            for some, missing, short in look(asked, depth, tried):
                longer.setdefault(tried, []).append(some[missing & ~short])
                longer.setdefault(1.0, []).append(some[missing & short])
        pending = {each: np.concatenate(several) for each, several in longer.items()}
        depth *= 2


@dataclass(frozen=True, slots=True)
class Head:
    """The results of a question, best first, and phrases among which are all that score at least `least`.

    `enough` says whether the results are as many as wanted.
    """

    results: Phrases
    phrases: Phrases
    enough: bool

    @property
    def least(self) -> float:
        """The score of the last result; without enough results the phrases are all that there are."""
        return float(self.results.score_N[-1]) if self.enough else -np.inf


@dataclass(frozen=True, slots=True)
class PairSearch:
    """Finds the `wanted` best distinct results of every question.

    Attributes:
        segments: The collection.
        wanted: Fewer are found only if the collection has fewer.
        select: Selects the distinct results among phrases, and sets their final scores.
        exact: Whether the results are the head of the whole ranked list; else of the phrases around the candidates.
        effort: Of the candidate index.
        length_penalty: Subtracted from a phrase's score for each character.
        fewest: Candidate starts and ends in the first round.
        check: Called all along; what it raises ends the search.
    """

    segments: Sequence[SearchableSegment]
    wanted: int
    select: SelectResults
    exact: bool
    effort: float
    length_penalty: float
    fewest: int = FEWEST_CANDIDATES
    timings: Timings = field(default_factory=Timings)
    check: Check = go_on

    def __call__(self, queries: Queries) -> list[Phrases]:
        """The results of each question, which do not depend on the other questions."""
        return [head.results for head in self.heads(queries)]

    def heads(self, queries: Queries) -> list[Head]:
        """The results of each question, and the phrases from which another selection of as many would take its own."""
        heads = [NO_HEAD] * len(queries)

        def look(questions: Ints, depth: int, effort: float) -> Iterator[tuple[Ints, Mask, Mask]]:
            for some in self._groups(questions, depth):
                yield some, *self._round(queries, some, depth, effort, heads)

        if self.segments:
            depth = first_depth(self.wanted, self.fewest)
            search_deeper(len(queries), depth, 1.0 if self.exact else self.effort, look)
        return heads

    def around(self, queries: Queries, candidates: Candidates) -> list[Head]:
        """The same of the phrases around given candidates."""
        return self._heads(queries, candidates, exhausted=True) if self.segments else [NO_HEAD] * len(queries)

    def phrases(self, queries: Queries, candidates: Candidates) -> list[Phrases]:
        """All phrases around given candidates, in any order."""
        if not self.segments:
            return [NOTHING] * len(queries)
        return by_question(list(self._scored(queries, candidates.hits)), len(queries))

    def _groups(self, questions: Ints, depth: int) -> Iterator[Ints]:
        """Few questions at a time once all rows are candidates of each."""
        size = len(questions) if depth < self._rows else max(_ROWS_AT_ONCE // self._rows, 1)
        for first in range(0, len(questions), max(size, 1)):
            yield questions[first : first + size]

    def _round(
        self, queries: Queries, questions: Ints, depth: int, effort: float, heads: list[Head]
    ) -> tuple[Mask, Mask]:
        """Find results of some questions; which of them lack results, and which had fewer candidates than asked for."""
        self.check()
        asked, exhausted = queries.take(questions), depth >= self._rows
        candidates = self._candidates(asked, depth, effort)
        found = self._heads(asked, candidates, exhausted=exhausted)
        for question, head in zip(questions.tolist(), found, strict=True):
            heads[question] = head
        missing = [not exhausted and not head.enough for head in found]
        return np.array(missing, dtype=bool), candidates.short_B

    @property
    def _rows(self) -> int:
        return sum(each.rows for each in self.segments)

    def _candidates(self, queries: Queries, depth: int, effort: float) -> Candidates:
        with self.timings.measured("candidates"):
            if depth >= self._rows:
                return Candidates.everything(self.segments, len(queries))
            terms = None if self.exact else queries.terms
            return Candidates.best(self.segments, queries, depth, effort, terms, self.check)

    def _heads(self, queries: Queries, candidates: Candidates, *, exhausted: bool) -> list[Head]:
        """The results among those phrases around the candidates whose ranks are certain."""
        scored = list(self._scored(queries, candidates.hits))
        found = by_question(scored, len(queries))
        if exhausted or not self.exact:
            return self._selected(found, queries.terms)
        bounds_B = np.minimum.reduce([s.weakest_start_B for _, s in scored])
        bounds_B = bounds_B + np.minimum.reduce([s.weakest_end_B for _, s in scored])
        if queries.terms is None:
            pairs = zip(found, bounds_B.tolist(), strict=True)
            return self._selected([phrases.above(bound) for phrases, bound in pairs], None)
        heads = self._selected(found, queries.terms)
        for question, bound in enumerate(bounds_B.tolist()):
            if heads[question].enough:
                heads[question] = self._with_rivals(queries, question, candidates, bound, heads[question].least)
        return heads

    def _selected(self, found: Sequence[Phrases], terms: QuestionTerms | None) -> list[Head]:
        pairs = zip(self.select(found, terms), found, strict=True)
        return [Head(each.results, phrases, each.enough) for each, phrases in pairs]

    def _with_rivals(self, queries: Queries, question: int, candidates: Candidates, bound: float, last: float) -> Head:
        """The results of a question from its candidates and all passages that may have a phrase as good as `last`."""
        alone = queries.take(np.array([question]))
        hits = [
            (
                starts.of_question(question, self._rival_rows(each, alone, bound, last)),
                ends.of_question(question, _NO_ROWS),
            )
            for each, (starts, ends) in zip(self.segments, candidates.hits, strict=True)
        ]
        as_good = [(segment, each.reaching(last)) for segment, each in self._scored(alone, hits)]
        (head,) = self._selected(by_question(as_good, 1), alone.terms)
        return head

    def _scored(self, queries: Queries, hits: Sequence[tuple[Hits, Hits]]) -> Iterator[tuple[int, ScoredPhrases]]:
        """With the number of the segment, of which there may be several parts."""
        for number, (each, (starts, ends)) in enumerate(zip(self.segments, hits, strict=True)):
            parts = score_phrases(each, queries, starts, ends, self.length_penalty, self.check)
            while True:
                with self.timings.measured("window"):
                    part = next(parts, None)
                if part is None:
                    break
                yield number, part

    def _rival_rows(self, searchable: SearchableSegment, alone: Queries, bound: float, last: float) -> Ints:
        """The rows of passages whose penalty for the only question still lets the `bound` reach `last`."""
        assert alone.terms is not None
        segment, allowed_R = searchable.segment, searchable.allowed_R
        penalties_P = alone.terms.penalties_of_all(segment.terms, 0, self.check)
        rival_P = np.float32(bound) - penalties_P >= last  # rounded as scores are
        rival_R = np.repeat(rival_P, np.diff(segment.vector_edges))
        return np.flatnonzero(rival_R if allowed_R is None else rival_R & allowed_R)


def first_depth(wanted: int, fewest: int = FEWEST_CANDIDATES) -> int:
    """Candidate starts and ends of the first round."""
    return max(fewest, CANDIDATES_A_RESULT * wanted)


def by_question(scored: Sequence[tuple[int, ScoredPhrases]], questions: int) -> list[Phrases]:
    """The phrases of all segments, which are given by their numbers, sorted by question only."""
    question_N = np.concatenate([s.question_N for _, s in scored])
    order = np.argsort(question_N, kind="stable")
    phrases = Phrases(
        np.repeat([segment for segment, _ in scored], [len(s.score_N) for _, s in scored])[order],
        np.concatenate([s.start_N for _, s in scored])[order],
        np.concatenate([s.end_N for _, s in scored])[order],
        np.concatenate([s.score_N for _, s in scored])[order],
    )
    edges = np.searchsorted(question_N[order], np.arange(questions + 1)).tolist()
    return [phrases.take(slice(*edge)) for edge in pairwise(edges)]


_NO_ROWS = np.zeros(0, dtype=np.int64)
NOTHING = Phrases(_NO_ROWS, _NO_ROWS, _NO_ROWS, np.zeros(0, dtype=np.float32))
NO_RESULTS = Selection(NOTHING, enough=False)
NO_HEAD = Head(NOTHING, NOTHING, enough=False)
