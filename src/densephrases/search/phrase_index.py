"""`PhraseIndex`, the main class of the library: an index folder, its model, and the search over both."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, overload

from densephrases.errors import MissingExtraError
from densephrases.index.folder import IndexFolder
from densephrases.index.kinds import CandidateKind, Device, Quantizer
from densephrases.index.manifest import Manifest
from densephrases.index.progress import ProgressCallback
from densephrases.index.settings import IndexSettings
from densephrases.search.answers import Answer, AnswerList
from densephrases.search.collection.collection import Collection
from densephrases.search.damage import damage_explained
from densephrases.search.deadline import Deadline
from densephrases.search.encoders import Model, encoder_of, name_of
from densephrases.search.facts.relations import Fact, RelationQuery, extract_facts
from densephrases.search.own_calibration import calibration_of
from densephrases.search.ranking.linear import PhraseRanking
from densephrases.search.request import DEFAULT_VERIFY, SearchRequest, search_request
from densephrases.search.searcher import Searcher
from densephrases.search.timings import Timings
from densephrases.text.documents import Document

if TYPE_CHECKING:
    from densephrases.train.fit import Adaptation, FitProgress

Threshold = float | None | Literal["model"]


class PhraseIndex(Collection):
    """Documents that answer questions.

    Threads may share it: any number of them search while one changes the index. A search sees the index as it was when
    the search began.

    >>> index = PhraseIndex.create("my-index", [Document("curie", "Marie Curie was born in Warsaw.", "Marie Curie")])
    >>> index.search("Where was Marie Curie born?")[0].text
    'Warsaw'
    """

    @classmethod
    def create(
        cls,
        folder: str | Path,
        documents: Iterable[Document],
        *,
        model: Model = "small",
        quantizer: Quantizer | None = None,
        filter_threshold: Threshold = "model",
        candidates: CandidateKind | None = None,
        device: Device = "cpu",
        progress: ProgressCallback | None = None,
    ) -> Self:
        """Index documents in a new folder. If it was interrupted, the same call resumes it.

        Args:
            folder: New or empty, or an unfinished index with the same settings.
            documents: Any iterable; it is read once and not kept in memory.
            model: A bundled model's name, the folder of an exported model, or an encoder.
            quantizer: How vectors are stored: 'fp16', 'int8', 'int4' or 'pq'; None takes 'pq' if the model has
                codebooks, else 'int8'.
            filter_threshold: Tokens with lower filter logits are not indexed; 'model' takes the model's threshold,
                None indexes all.
            candidates: Kind of candidate index; None chooses by size.
            device: What encodes passages: 'cpu' or 'cuda'. 'cuda' needs the extra 'train', also takes folders of
                checkpoints, and starts processes: call it under `if __name__ == "__main__":`.
            progress: Called with a report every few seconds and at the end.
        """
        encoder = encoder_of(model, device)
        settings = IndexSettings.from_encoder(encoder, name_of(model, encoder), quantizer).with_candidates(candidates)
        if filter_threshold != "model":
            settings = settings.with_threshold(filter_threshold)
        index = cls(IndexFolder.create(Path(folder), settings, encoder.product_quantizer), encoder)
        done = index.folder.add(documents, encoder, progress)
        if progress is not None:
            progress(done)
        return index

    @classmethod
    def open(cls, folder: str | Path, model: Model | None = None, task: str | None = None) -> Self:
        """Open an existing index.

        Args:
            folder: Of the index.
            model: The model that built the index, or another with the same passage encoder; None finds the former.
            task: Name of one of the model's query encoders; None takes the default one, or that of a given encoder.
        """
        encoder = encoder_of(Manifest.load(Path(folder)).settings.model if model is None else model)
        if task is not None:
            encoder = encoder.with_task(task)
        encoder.open_ahead(reading=bool(DEFAULT_VERIFY))
        return cls(IndexFolder.open(Path(folder), encoder.product_quantizer), encoder)

    def __repr__(self) -> str:
        if self._folder is None:
            return f"PhraseIndex('{self._path}', closed)"
        settings = self._folder.settings
        return (
            f"PhraseIndex('{self._path}', documents={len(self):,}, vectors={self._folder.vectors:,}, "
            f"model='{settings.model}')"
        )

    def with_task(self, task: str | None) -> Self:
        """The same index with the query encoder of another task, None for the default; this object is unchanged."""
        return type(self)(self.folder, self.encoder.with_task(task))

    def reopened(self) -> Self:
        """A second object with what other processes have written; this one is unchanged."""
        return type(self)(self.folder.reopened(), self.encoder)

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
    ) -> list[list[Answer]]: ...

    def search(
        self,
        questions: str | Sequence[str],
        k: int | None = None,
        *,
        request: SearchRequest | None = None,
        timings: Timings | None = None,
        deadline: Deadline | None = None,
        **options: Any,
    ) -> AnswerList | list[list[Answer]]:
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
        asked, searcher = search_request(request, k, options), self.searcher
        with damage_explained(searcher):
            answers = searcher.search(several, asked, timings, deadline)
        return AnswerList(answers[0]) if isinstance(questions, str) else [AnswerList(each) for each in answers]

    def fit(
        self,
        questions: Sequence[str],
        answers: Sequence[str | Sequence[str]],
        dev: tuple[Sequence[str], Sequence[str | Sequence[str]]] | None = None,
        progress: "Callable[[FitProgress], None] | None" = None,
        **settings: Any,
    ) -> "Adaptation":
        """Fine-tune the query encoder on questions and answers, and use it for further searches.

        The passage encoder and the index stay as they are, and so does the query encoder unless the new one answers
        more of the dev questions. Needs the extra 'train'.

        Args:
            questions: Like those that users ask.
            answers: For each question its answer, or a list of correct ones.
            dev: Questions and answers that select the best epoch; None holds out a fifth of the others, or, if there
                are fewer than twenty, judges by all of them.
            progress: Called after some steps and after each epoch; `print` will do.
            settings: Fields of `densephrases.train.fit.FitSettings`, such as `epochs=3`.

        Returns:
            Scores, and `save(folder)` to keep the query encoder.
        """
        try:
            from densephrases.train.fit import FitSettings, adapt
        except ModuleNotFoundError as error:
            raise MissingExtraError(
                f"PhraseIndex.fit needs the package '{error.name}', which is not installed: "
                "pip install 'densephrases[train]'"
            ) from error
        adapted = adapt(
            self.folder, self.encoder, questions, answers, dev, FitSettings.from_options(settings), progress
        )
        with self._changing():
            self.encoder = adapted.encoder
        return adapted

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

        def search(questions: Sequence[str], request: SearchRequest) -> list[list[Answer]]:
            return self.search(questions, request=request, deadline=deadline)

        return list(extract_facts(search, subjects, query, advance))

    @property
    def searcher(self) -> Searcher:
        """Searches the present state of the index."""
        with self._searcher_lock:
            if self._searcher is None:
                config = self.encoder.config
                self._searcher = Searcher(
                    self.folder.snapshot,
                    self.encoder,
                    calibration_of(self.folder.folder, self.encoder),
                    None if (values := config.ranking) is None else PhraseRanking.from_dict(values),
                )
            return self._searcher
