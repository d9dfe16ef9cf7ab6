"""The interface between a search and the collection that it searches."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from densephrases.arrays import Mask
from densephrases.built_once import BuiltOnce
from densephrases.index.cancellation import Check, go_on
from densephrases.search.filtering.filters import Filter
from densephrases.search.passages import PassageTexts
from densephrases.search.query.named_documents import NamedDocuments
from densephrases.search.request import Unit
from densephrases.search.scoring.lexical import TermWeights
from densephrases.search.scoring.pairs import Phrases
from densephrases.search.scoring.term_counts import TermCounts
from densephrases.search.scoring.windows import Queries
from densephrases.search.timings import Timings
from densephrases.text.truecase import Truecaser

_TRUECASE_CHARACTERS = 10_000_000  # of text are enough to learn the usual case of words, in three seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """Which phrases are sought.

    Attributes:
        unit: What counts as one result.
        wanted: Number of results of a question.
        apart: Number of places that they must have at least, 0 if any may overlap.
        exact: Whether they are the best of the whole collection; else of the phrases around the candidates.
        effort: Of the candidate index.
        length_penalty: Subtracted from a phrase's score for each character.
    """

    unit: Unit
    wanted: int
    apart: int
    exact: bool
    effort: float
    length_penalty: float


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The results of each question, best first, before the final ranking, and what stands around them."""

    phrases: Sequence[Phrases]
    texts: PassageTexts


class Scope(ABC):
    """The documents that a filter leaves."""

    @property
    @abstractmethod
    def passages(self) -> int:
        """Those that have vectors."""

    @property
    @abstractmethod
    def documents(self) -> int:
        """Those that have vectors."""

    @property
    @abstractmethod
    def exact(self) -> bool:
        """Whether the candidates are exact without a full scan."""

    @property
    @abstractmethod
    def known_V(self) -> Mask:  # noqa: N802
        """Marks the terms of the passages, of all `TERMS`."""

    @abstractmethod
    def retrieve(
        self, questions: Sequence[str], queries: Queries, aim: Aim, timings: Timings, check: Check = go_on
    ) -> Retrieved:
        """The best distinct results of each question, given as typed and as vectors with terms."""


class Retriever(ABC):
    """A collection that can be searched; any number of threads may do so at once."""

    @abstractmethod
    def scope(self, wanted: Filter, check: Check = go_on) -> Scope: ...

    @property
    @abstractmethod
    def counts(self) -> TermCounts:
        """Of all passages, whatever the filter."""

    @BuiltOnce
    def term_weights(self) -> TermWeights:
        return TermWeights.from_counts(self.counts)

    @property
    @abstractmethod
    def named_documents(self) -> NamedDocuments: ...

    @BuiltOnce
    def truecaser(self) -> Truecaser:
        return Truecaser.learn(self.sampled_texts(_TRUECASE_CHARACTERS))

    @abstractmethod
    def sampled_texts(self, characters: int) -> Iterator[str]:
        """Passages from all over the collection, of so many characters together."""

    @property
    @abstractmethod
    def damage(self) -> str:
        """A sentence on a file that is not what was written, empty if there is none."""
