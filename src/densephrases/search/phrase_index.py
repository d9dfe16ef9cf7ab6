"""The library's front door: a folder of indexed documents, its model, and the search over both."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypedDict, Unpack, overload

from densephrases.errors import DensePhrasesError, MissingExtraError, PhraseIndexError
from densephrases.index.disk_usage import Storage
from densephrases.index.folder import IndexFolder, IndexInfo
from densephrases.index.kinds import CandidateKind, Device, Quantizer
from densephrases.index.manifest import Manifest
from densephrases.index.progress import Progress, ProgressCallback
from densephrases.index.settings import IndexSettings
from densephrases.model.encoder import Encoder
from densephrases.search.answers import Answer
from densephrases.search.confidence import Calibration
from densephrases.search.encoders import Model, encoder_of, name_of
from densephrases.search.relations import QUESTION, Extraction, Fact, extract_facts
from densephrases.search.request import SearchRequest, search_request
from densephrases.search.searcher import Searcher
from densephrases.search.timings import Timings
from densephrases.text.documents import Document

if TYPE_CHECKING:
    from densephrases.train.fit import Adaptation

Threshold = float | None | Literal["model"]


class FitSettings(TypedDict, total=False):
    """How questions are learned.

    Attributes:
        target: What must be found: 'phrase' (default), or a 'passage' that holds the answer.
        epochs: Passes over the questions, 10 by default.
        learning_rate: 3e-5 by default; a small model learns faster with 1e-4.
        batch_size: Questions of a step, 12 by default.
        top_k: Results that compete for each question, 100 by default.
        seed: Decides the order of questions.
        cpu: Use the CPU even where there is a GPU.
    """

    target: Literal["phrase", "passage"]
    epochs: int
    learning_rate: float
    batch_size: int
    top_k: int
    seed: int
    cpu: bool


class PhraseIndex:
    """Documents that answer questions.

    >>> index = PhraseIndex.create("my-index", [Document("curie", "Marie Curie was born in Warsaw.", "Marie Curie")])
    >>> index.search("Where was Marie Curie born?")[0].text
    'Warsaw'
    """

    def __init__(self, folder: IndexFolder, encoder: Encoder) -> None:
        folder.settings.refuse_other_model(encoder)
        self.folder = folder
        self.encoder = encoder
        self._searcher: Searcher | None = None

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
        """Index documents in a new folder. What was stopped on the way goes on if it is called again alike.

        Args:
            folder: New or empty, or with an unfinished index of the same settings.
            documents: Any iterable; it is read once and never held in memory.
            model: A bundled model's name, the folder of an exported model, or an encoder.
            quantizer: How vectors are stored: 'fp16', 'int8', 'int4' or 'pq'; None takes 'pq' if the model
                has a code of its vectors, else 'int8'.
            filter_threshold: Leaves out tokens with lower filter logits; 'model' takes the model's own, None keeps all.
            candidates: Kind of candidate index; None chooses by size.
            device: What encodes passages: 'cpu', or 'cuda', a GPU. The latter needs the extra 'train', takes folders of
                checkpoints too, and starts processes: call it under `if __name__ == "__main__":`.
            progress: Called with a report every few seconds, and when all is done.
        """
        encoder = encoder_of(model, device)
        settings = IndexSettings.of(encoder, name_of(model, encoder), quantizer).with_candidates(candidates)
        if filter_threshold != "model":
            settings = settings.with_threshold(filter_threshold)
        index = cls(IndexFolder.create(Path(folder), settings, encoder.product_quantizer), encoder)
        done = index.folder.add(documents, encoder, progress)
        if progress is not None:
            progress(done)
        return index

    @classmethod
    def open(cls, folder: str | Path, model: Model | None = None, task: str | None = None) -> Self:
        """An index that is there. The model is the one that made it, or another with the same passage encoder.

        Questions are asked with the side that the model has for the task, or with its default one.
        """
        encoder = encoder_of(Manifest.load(Path(folder)).settings.model if model is None else model).with_task(task)
        encoder.open_ahead()
        return cls(IndexFolder.open(Path(folder), encoder.product_quantizer), encoder)

    def with_task(self, task: str | None) -> Self:
        """The same index asked for another task of its model, None the default; this one stays as it is."""
        return type(self)(self.folder, self.encoder.with_task(task))

    def add(self, documents: Iterable[Document], progress: ProgressCallback | None = None) -> Progress:
        """Add documents; those that are there already, unchanged, are passed over."""
        with self._changing():
            return self.folder.add(documents, self.encoder, progress)

    def update(self, documents: Iterable[Document], progress: ProgressCallback | None = None) -> Progress:
        """Add documents, replacing those whose content has changed."""
        with self._changing():
            return self.folder.update(documents, self.encoder, progress)

    def delete(self, ids: Iterable[str]) -> int:
        """Delete documents by their ids; if one is unknown, none is deleted."""
        with self._changing():
            return self.folder.delete(ids)

    def optimize(self) -> None:
        """Merge what was added and drop what was deleted."""
        with self._changing():
            self.folder.optimize()

    def refresh(self) -> None:
        """See what other processes have written since."""
        with self._changing():
            self.folder.refresh()

    def reopened(self) -> Self:
        """The index as others have written it since, beside this one, which goes on as it is."""
        return type(self)(self.folder.reopened(), self.encoder)

    def hold(self) -> None:
        """Open every file now, so that what another process removes meanwhile can still be read."""
        self.folder.snapshot.hold()

    def check(self) -> list[str]:
        """Read every file; a sentence for each that is not what was written."""
        return self.folder.check()

    def info(self) -> IndexInfo:
        return self.folder.info()

    def storage(self) -> Storage:
        """What the bytes of the index are for."""
        return self.folder.storage()

    def document(self, identifier: str) -> Document | None:
        """The document with this id, as it was indexed."""
        return self.folder.find(identifier)

    def __len__(self) -> int:
        """How many documents it holds."""
        return self.folder.documents

    @overload
    def search(
        self,
        questions: str,
        k: int | None = ...,
        *,
        request: SearchRequest | None = ...,
        timings: Timings | None = ...,
        **options: Any,
    ) -> list[Answer]: ...

    @overload
    def search(
        self,
        questions: Sequence[str],
        k: int | None = ...,
        *,
        request: SearchRequest | None = ...,
        timings: Timings | None = ...,
        **options: Any,
    ) -> list[list[Answer]]: ...

    def search(
        self,
        questions: str | Sequence[str],
        k: int | None = None,
        *,
        request: SearchRequest | None = None,
        timings: Timings | None = None,
        **options: Any,
    ) -> list[Answer] | list[list[Answer]]:
        """The best distinct answers to one question, or to each of several, best first.

        Args:
            questions: One question, or several, which are answered as one batch.
            k: Number of answers per question, 10 by default; fewer only if the collection has fewer.
            request: All options in one object; the default is `SearchRequest()`.
            timings: Receives the seconds spent in each stage.
            options: Fields of `SearchRequest`, such as `unit="sentence"`; they override those of `request`.
        """
        several = [questions] if isinstance(questions, str) else questions
        with self._damage_explained():
            answers = self.searcher.search(several, search_request(request, k, options), timings)
        return answers[0] if isinstance(questions, str) else answers

    def fit(
        self,
        questions: Sequence[str],
        answers: Sequence[str | Sequence[str]],
        dev: tuple[Sequence[str], Sequence[str | Sequence[str]]] | None = None,
        **settings: Unpack[FitSettings],
    ) -> "Adaptation":
        """Learn from questions and their answers, and answer with what was learned from now on.

        Only the query encoder of the model changes: the index stays as it is. Needs the extra 'train'.

        Args:
            questions: Such as will be asked.
            answers: For each question its answer, or several that are all right.
            dev: Questions and answers to choose the best epoch by; None keeps the last.
            settings: Epochs and the like, as `FitSettings` explains them.

        Returns:
            Scores and, for later use, `save(folder)`.
        """
        try:
            from densephrases.train.fit import adapt
        except ModuleNotFoundError as error:
            raise MissingExtraError(
                f"PhraseIndex.fit needs the package '{error.name}', which is not installed: "
                "pip install 'densephrases[train]'"
            ) from error
        adapted = adapt(self.folder, self.encoder, questions, answers, dev, **settings)
        with self._changing():
            self.encoder = adapted.encoder
        return adapted

    def extract(
        self,
        subjects: Sequence[str],
        relation: str,
        *,
        template: str = QUESTION,
        prefer_titles: bool = True,
        min_confidence: float = 0.0,
        advance: Callable[[int], None] = lambda _: None,
    ) -> list[Fact]:
        """The object of a relation for each subject, with its sentence and its document.

        Args:
            subjects: Names, such as "Ada Lovelace".
            relation: Such as "place of birth".
            template: The question, with {subject} and {relation} in it; `SLOT` for query encoders trained on slots.
            prefer_titles: Whether documents whose title is the subject come before others.
            min_confidence: Objects with less confidence are left out.
            advance: Told how many more subjects are done.
        """
        extraction = Extraction(
            relation=relation, template=template, prefer_titles=prefer_titles, min_confidence=min_confidence
        )
        return list(extract_facts(self.search, subjects, extraction, advance))

    @property
    def searcher(self) -> Searcher:
        """Searches the index as it is now."""
        if self._searcher is None:
            values = self.encoder.config.confidence
            calibration = None if values is None else Calibration.from_dict(values)
            self._searcher = Searcher(self.folder, self.encoder, calibration)
        return self._searcher

    @contextmanager
    def _damage_explained(self) -> Iterator[None]:
        """Damaged numbers make anything fail anywhere: if a file is not what was written, that is the error."""
        try:
            yield
        except DensePhrasesError:
            raise
        except Exception as error:
            if problems := self.check():
                raise PhraseIndexError(problems[0]) from error
            raise

    @contextmanager
    def _changing(self) -> Iterator[None]:
        try:
            yield
        finally:
            self._searcher = None
