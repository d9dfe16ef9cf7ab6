"""What answers questions: an index folder on this machine, or one whose segments are served by others."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, overload

from densephrases.index.info import IndexInfo
from densephrases.model.encoder import Encoder
from densephrases.search.answers import AnswerList
from densephrases.search.deadline import Deadline
from densephrases.search.facts.relations import Fact, RelationQuery, extract_facts
from densephrases.search.request import SearchRequest, search_request
from densephrases.search.timings import Timings
from densephrases.text.documents import Document


class AnsweringIndex(ABC):
    """Documents that answer questions, as the service sees them; any number of threads may search at once."""

    encoder: Encoder

    @property
    @abstractmethod
    def path(self) -> Path:
        """The folder with the manifest, and with what its owner has put beside it."""

    @property
    @abstractmethod
    def vectors(self) -> int:
        """Token vectors, of deleted documents too."""

    @abstractmethod
    def __len__(self) -> int:
        """Number of documents."""

    @abstractmethod
    def info(self) -> IndexInfo: ...

    @abstractmethod
    def document(self, identifier: str) -> Document | None:
        """The document with this id; None if there is none."""

    @abstractmethod
    def sample(self, count: int) -> Iterator[Document]:
        """At most `count` documents at equal distances in the index, without deleted ones."""

    @abstractmethod
    def state(self) -> Hashable:
        """Differs as soon as there is something newer than this object has opened."""

    @abstractmethod
    def reopened(self) -> Self:
        """A second object with what other processes have written; this one is unchanged."""

    @abstractmethod
    def with_encoder(self, encoder: Encoder) -> Self:
        """The same index with another query encoder; this object is unchanged."""

    @abstractmethod
    def _answers(
        self, questions: Sequence[str], request: SearchRequest, timings: Timings | None, deadline: Deadline | None
    ) -> list[AnswerList]: ...

    def with_task(self, task: str | None) -> Self:
        """The same index with the query encoder of another task, None for the default; this object is unchanged."""
        return self.with_encoder(self.encoder.with_task(task))

    @overload
    def search(
        self,
        questions: str,
        k: int | None = ...,
        *,
        request: SearchRequest | None = ...,
        timings: Timings | None = ...,
        deadline: Deadline | None = ...,
        **options: Any,
    ) -> AnswerList: ...

    @overload
    def search(
        self,
        questions: Sequence[str],
        k: int | None = ...,
        *,
        request: SearchRequest | None = ...,
        timings: Timings | None = ...,
        deadline: Deadline | None = ...,
        **options: Any,
    ) -> list[AnswerList]: ...

    def search(
        self,
        questions: str | Sequence[str],
        k: int | None = None,
        *,
        request: SearchRequest | None = None,
        timings: Timings | None = None,
        deadline: Deadline | None = None,
        **options: Any,
    ) -> AnswerList | list[AnswerList]:
        """The best distinct answers to one question, or to each of several, best first.

        Args:
            questions: One question, or several, which are answered as one batch.
            k: Number of answers per question, 5 by default; fewer only if the collection has fewer.
            request: All options in one object; the default is `SearchRequest()`.
            timings: Receives the seconds spent in each stage.
            deadline: Ends the search with DeadlineExceededError, by time or when another thread cancels it.
            options: Fields of `SearchRequest`, such as `unit="sentence"`; they override those of `request`.
        """
        several = [questions] if isinstance(questions, str) else questions
        answers = self._answers(several, search_request(request, k, options), timings, deadline)
        return answers[0] if isinstance(questions, str) else answers

    def extract(
        self,
        subjects: Sequence[str],
        relation: str,
        *,
        template: str | None = None,
        prefer_titles: bool = True,
        min_confidence: float | None = None,
        anywhere: bool = False,
        aliases: Mapping[str, Sequence[str]] | None = None,
        advance: Callable[[int], None] = lambda _: None,
        deadline: Deadline | None = None,
    ) -> list[Fact]:
        """The object of a relation for each subject, with its sentence and document.

        Args:
            subjects: Names, such as "Ada Lovelace".
            relation: Such as "place of birth".
            template: The question, with {subject} and {relation}; `SLOT` for query encoders trained on slot filling.
                None takes the questions of `search.relation_table` for the relation.
            prefer_titles: Whether documents titled with the subject come before others.
            min_confidence: Objects below this probability are dropped; None drops those below 0.1, if the model has
                confidences.
            anywhere: Also take objects from text that does not name the subject or does not state the relation.
            aliases: Further names of subjects, such as {"Ada Lovelace": ["Ada Byron"]}.
            advance: Called with the number of subjects done since its last call.
            deadline: Ends it with DeadlineExceededError, by time or when another thread cancels it.
        """
        query = RelationQuery(
            relation=relation,
            template=template,
            prefer_titles=prefer_titles,
            min_confidence=min_confidence,
            anywhere=anywhere,
            aliases=aliases,
        )

        def search(questions: Sequence[str], request: SearchRequest) -> list[AnswerList]:
            return self.search(questions, request=request, deadline=deadline)

        return list(extract_facts(search, subjects, query, advance))
