"""`PhraseIndex`, the main class of the library: an index folder, its model, and the search over both."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from densephrases.errors import MissingExtraError
from densephrases.index.folder import IndexFolder
from densephrases.index.kinds import CandidateKind, Device, Quantizer
from densephrases.index.manifest import Manifest
from densephrases.index.progress import ProgressCallback
from densephrases.index.settings import IndexSettings
from densephrases.model.encoder import Encoder
from densephrases.search.answering_index import AnsweringIndex
from densephrases.search.answers import AnswerList
from densephrases.search.collection.collection import Collection
from densephrases.search.damage import damage_explained
from densephrases.search.deadline import Deadline
from densephrases.search.encoders import Model, encoder_of, name_of
from densephrases.search.own_calibration import calibration_of
from densephrases.search.ranking.linear import PhraseRanking
from densephrases.search.request import DEFAULT_VERIFY, SearchRequest
from densephrases.search.searcher import Searcher
from densephrases.search.timings import Timings
from densephrases.text.documents import Document

if TYPE_CHECKING:
    from densephrases.train.fit import Adaptation, FitProgress

Threshold = float | None | Literal["model"]


class PhraseIndex(Collection, AnsweringIndex):
    """Documents that answer questions. `create` makes an index, `open` opens one.

    Threads may share it: any number of them search while one changes the index. A search sees the index as it was when
    the search began. It is a context manager, which closes the index at its end.

    Examples:
        >>> document = Document("curie", "Marie Curie was born in Warsaw.", "Marie Curie")
        >>> index = PhraseIndex.create("my-index", [document])
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
            quantizer: How vectors are stored: 'fp16', 'int8', 'int4', 'pq', or 'pq-small', which takes half the bytes
                of 'pq'; None takes 'pq' if the model has codebooks, else 'int8'.
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
    def open(
        cls, folder: str | Path, model: Model | None = None, task: str | None = None, *, device: Device = "cpu"
    ) -> Self:
        """Open an existing index.

        Args:
            folder: Of the index.
            model: The model that built the index, or another with the same passage encoder; None finds the former.
            task: Name of one of the model's query encoders; None takes the default one, or that of a given encoder.
            device: What encodes the passages of documents that are added, as in `create`.
        """
        encoder = encoder_of(Manifest.load(Path(folder)).settings.model if model is None else model, device)
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

    def with_encoder(self, encoder: Encoder) -> Self:
        return type(self)(self.folder, encoder)

    def reopened(self) -> Self:
        return type(self)(self.folder.reopened(), self.encoder)

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

    @property
    def searcher(self) -> Searcher:
        """Searches the present state of the index."""
        with self._searcher_lock:
            if self._searcher is None:
                config = self.encoder.config
                self._searcher = Searcher.from_snapshot(
                    self.folder.snapshot,
                    self.encoder,
                    calibration_of(self.folder.folder, self.encoder),
                    None if (values := config.ranking) is None else PhraseRanking.from_dict(values),
                )
            return self._searcher

    def _answers(
        self, questions: Sequence[str], request: SearchRequest, timings: Timings | None, deadline: Deadline | None
    ) -> list[AnswerList]:
        searcher = self.searcher
        with damage_explained(searcher):
            return [AnswerList(each) for each in searcher.search(questions, request, timings, deadline)]
