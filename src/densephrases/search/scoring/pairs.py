"""The pair search over a whole collection.

The ranked list of a question holds all phrases of all parts by score; equals by part, first row and last row. A
phrase that neither begins at one of the m best starts nor ends at one of the m best ends scores at most as much as
the weakest of those starts and the weakest of those ends together. What scores more is therefore the exact head of
the list, as long as the m best are exact and length only lowers scores.

Where words count, what a passage lacks of them is taken off the scores of all its phrases, which may be far more than
best and weakest differ by. Then a passage is looked through as a whole if that sum, less what it lacks, reaches the
last of the results. What words cost single phrases is left to the choice of results: it only lowers scores further.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from densephrases.arrays import Floats, Ints
from densephrases.search.scoring.candidates import Candidates
from densephrases.search.scoring.lexical import QuestionTerms
from densephrases.search.scoring.searchable import Part
from densephrases.search.scoring.windows import Hits, Queries, Window, scored_window
from densephrases.search.timings import Timings

# The first number m of candidate starts and ends. The window scan reads some 20 rows for each, and several of the
# best phrases usually lie around one candidate: more cost time, fewer a second round.
FEWEST_CANDIDATES = 50
CANDIDATES_A_RESULT = 2


@dataclass(frozen=True, slots=True)
class Phrases:
    """Ints `start` to `end`, both inclusive, of a part of the collection, with their scores for one question."""

    part_N: Ints
    start_N: Ints
    end_N: Ints
    score_N: Floats

    def __len__(self) -> int:
        return len(self.score_N)

    def take(self, chosen: Ints | slice) -> "Phrases":
        return Phrases(self.part_N[chosen], self.start_N[chosen], self.end_N[chosen], self.score_N[chosen])

    @classmethod
    def joined(cls, several: Sequence["Phrases"]) -> "Phrases":
        columns = ([getattr(each, name) for each in several] for name in cls.__slots__)
        return cls(*map(np.concatenate, columns))

    def above(self, bound: float) -> "Phrases":
        return self if bound == -np.inf else self.take(np.flatnonzero(self.score_N > bound))

    def best(self, count: int) -> "Phrases":
        """The head of the ranked list: at least `count` phrases, unless there are fewer."""
        chosen = self
        if count < len(self):
            least = np.partition(self.score_N, len(self) - count)[len(self) - count]
            chosen = self.take(np.flatnonzero(self.score_N >= least))
        return chosen.take(chosen.order())

    def order(self) -> Ints:
        """Of the ranked list: by score; equals by part, first row and last row."""
        return np.lexsort((self.end_N, self.start_N, self.part_N, -self.score_N))


Choose = Callable[[Sequence[Phrases], QuestionTerms | None], list[Phrases]]
"""From some phrases of each question, in any order, the distinct results in theirs.

Given words, it may take something off the scores, but never add to them.
"""


@dataclass(frozen=True, slots=True)
class PairSearch:
    """Finds the `wanted` best distinct results of every question.

    Attributes:
        parts: The collection.
        wanted: Fewer are found only if the collection has fewer.
        choose: Says which phrases are distinct results, and what they score at last.
        exact: The results are the first of the whole ranked list; else of what the candidates led to.
        effort: Given to the candidate index.
        length_penalty: Taken off a phrase's score for each character.
        fewest: Candidate starts and ends to begin with.
    """

    parts: Sequence[Part]
    wanted: int
    choose: Choose
    exact: bool
    effort: float
    length_penalty: float
    fewest: int = FEWEST_CANDIDATES
    timings: Timings = field(default_factory=Timings)

    def __call__(self, queries: Queries) -> list[Phrases]:
        results: list[Phrases] = [NOTHING] * len(queries)
        pending = np.arange(len(queries) if self.parts else 0)
        depth = max(self.fewest, CANDIDATES_A_RESULT * self.wanted)
        effort = 1.0 if self.exact else self.effort
        while len(pending):
            nominees = self._nominees(queries.take(pending), depth, effort)
            exhausted = depth >= self._rows
            chosen = self._chosen(queries.take(pending), nominees, exhausted)
            for question, result in zip(pending.tolist(), chosen, strict=True):
                results[question] = result
            missing = np.array([not exhausted and len(results[question]) < self.wanted for question in pending])
            effort = 1.0 if (missing & nominees.short_B).any() else effort
            pending, depth = pending[missing], 2 * depth
        return results

    @property
    def _rows(self) -> int:
        return sum(part.rows for part in self.parts)

    def _nominees(self, queries: Queries, depth: int, effort: float) -> Candidates:
        with self.timings.measured("candidates"):
            if depth >= self._rows:
                return Candidates.everything(self.parts, len(queries))
            return Candidates.best(self.parts, queries, depth, effort, None if self.exact else queries.words)

    def _chosen(self, queries: Queries, nominees: Candidates, exhausted: bool) -> list[Phrases]:
        """The results among what may be trusted of the phrases around the nominees."""
        windows = self._windows(queries, nominees.hits)
        found = by_question(windows, len(queries))
        if exhausted or not self.exact:
            return self.choose(found, queries.words)
        bounds_B = _weakest([w.weakest_start_B for w in windows]) + _weakest([w.weakest_end_B for w in windows])
        if queries.words is None:
            pairs = zip(found, bounds_B.tolist(), strict=True)
            return self.choose([phrases.above(bound) for phrases, bound in pairs], None)
        chosen = self.choose(found, queries.words)
        for question, bound in enumerate(bounds_B.tolist()):
            if len(chosen[question]) == self.wanted:
                last = float(chosen[question].score_N[-1])
                chosen[question] = self._with_rivals(queries, question, nominees, bound, last)
        return chosen

    def _with_rivals(self, queries: Queries, question: int, nominees: Candidates, bound: float, last: float) -> Phrases:
        """The results of a question from its nominees and all passages that may have a phrase as good as the `last`."""
        alone = queries.take(np.array([question]))
        hits = [
            (starts.of_question(question, _rival_rows(part, alone, bound, last)), ends.of_question(question, _NO_ROWS))
            for part, (starts, ends) in zip(self.parts, nominees.hits, strict=True)
        ]
        (results,) = self.choose(by_question(self._windows(alone, hits), 1), alone.words)
        return results

    def _windows(self, queries: Queries, hits: Sequence[tuple[Hits, Hits]]) -> list[Window]:
        with self.timings.measured("window"):
            return [
                scored_window(part, queries, starts, ends, self.length_penalty)
                for part, (starts, ends) in zip(self.parts, hits, strict=True)
            ]


def _weakest(scores: Sequence[Floats]) -> Floats:
    return np.asarray(np.minimum.reduce(scores))


def _rival_rows(part: Part, alone: Queries, bound: float, last: float) -> Ints:
    """Ints of passages that lack so little of the only question that from `bound` they still reach `last`."""
    assert alone.words is not None
    rival_P = np.float32(bound) - alone.words.penalties_of_all(part.segment.terms, 0) >= last  # rounded as scores are
    rival_R = np.repeat(rival_P, np.diff(part.segment.vector_edges))
    return np.flatnonzero(rival_R if part.allowed_R is None else rival_R & part.allowed_R)


def by_question(windows: Sequence[Window], questions: int) -> list[Phrases]:
    """The phrases of all parts, sorted by question only."""
    question_N = np.concatenate([w.question_N for w in windows])
    order = np.argsort(question_N, kind="stable")
    phrases = Phrases(
        np.repeat(np.arange(len(windows)), [len(w.score_N) for w in windows])[order],
        np.concatenate([w.start_N for w in windows])[order],
        np.concatenate([w.end_N for w in windows])[order],
        np.concatenate([w.score_N for w in windows])[order],
    )
    edges = np.searchsorted(question_N[order], np.arange(questions + 1)).tolist()
    return [phrases.take(slice(*edge)) for edge in pairwise(edges)]


_NO_ROWS = np.zeros(0, dtype=np.int64)
NOTHING = Phrases(_NO_ROWS, _NO_ROWS, _NO_ROWS, np.zeros(0, dtype=np.float32))
