"""Passages and questions to vectors: the interface of all encoders, and the batching they share."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Floats
from densephrases.errors import ModelError
from densephrases.model.config import ModelConfig
from densephrases.model.padding import TokenBatch, batches_by_length, token_batch
from densephrases.model.tokenizer import Ids, TokenizedPassage, Tokens, Window
from densephrases.quantize.codebooks import ProductQuantizer
from densephrases.text.passages import Passage

# Batches of passages have widths of whole SIMD registers: ARM adds up what is left over in another order, so that the
# vectors of a passage would depend on the longest one beside it.
_WIDTHS = 16

# Shape suffixes: B questions, T tokens of a passage, D vector size.


@dataclass(frozen=True, slots=True)
class PassageVectors:
    """One vector, two filter logits and the offsets in the text for every token of a passage."""

    vectors_TD: Floats
    filter_T2: Floats
    offsets_T2: NDArray[np.int64]
    max_span_T: NDArray[np.int64]  # number of the last token of the longest phrase that starts with this one

    def kept(self, threshold: float | None) -> NDArray[np.bool_]:
        """Tokens to store: those whose start or end logit exceeds the threshold, and the best of each passage."""
        best_T = self.filter_T2.max(axis=1, initial=-np.inf)
        if threshold is None or len(best_T) == 0:
            return np.ones(len(best_T), dtype=bool)
        return np.asarray((best_T > threshold) | (best_T == best_T.max()), dtype=bool)


@dataclass(frozen=True, slots=True)
class QuestionVectors:
    start_BD: Floats
    end_BD: Floats
    coherency_B: Floats | None = None  # only in models with `split`

    def __len__(self) -> int:
        return len(self.start_BD)


@dataclass(frozen=True, slots=True)
class ReadingLogits:
    """Start and end logits of a window's passage tokens, read together with a question.

    `null`, start and end together, says that the answer is not there; None in models that have not learned it.
    """

    tokens_T2: Floats
    null: float | None


class Encoder(ABC):
    """Turns text into vectors in batches of similar length; subclasses compute one padded batch."""

    # Small enough for the caches of a CPU: batches of 8192 tokens take 1.3 times as long.
    tokens_per_batch = 512
    tokens_per_chunk = 32768  # best given at once, so that a batch finds windows of equal length

    def __init__(self, config: ModelConfig, tokens: Tokens) -> None:
        self.config = config
        self.tokens = tokens

    @abstractmethod
    def forward_passages(self, batch: TokenBatch) -> tuple[Floats, Floats]:
        """Token vectors (rows, tokens, D) and filter logits (rows, tokens, 2)."""

    @abstractmethod
    def forward_questions(self, batch: TokenBatch) -> tuple[Floats, Floats, Floats | None]:
        """Start vectors (rows, D), end vectors (rows, D) and coherency scalars (rows,) if the model has them."""

    def forward_reading(self, batch: TokenBatch) -> Floats:
        """Start and end logits (rows, tokens, 2) of question and passage as one input."""
        raise ModelError(
            f"The model of base '{self.config.base}' does not read: it was trained without a reading head; "
            "use a model that has one."
        )

    @property
    def fingerprint(self) -> str:
        """Identifies the passage encoder; empty if unknown."""
        return self.config.fingerprint

    @property
    def product_quantizer(self) -> ProductQuantizer | None:
        """The quantizer that was learned from the model's vectors, if it has one."""
        return None

    @property
    def tasks(self) -> list[str]:
        """Names of the query encoders beside the default one."""
        return []

    @property
    def query_encoder(self) -> str | None:
        """The task of the query encoder, empty for the default one; None if it is none of the model's folder."""
        return ""

    def with_task(self, task: str | None) -> "Encoder":
        """The same passage encoder with the query encoder of a task; None takes the default one."""
        if task is not None:
            raise ModelError(f"The model of base '{self.config.base}' has no task {task!r}: it stands in no folder.")
        return self

    def open_ahead(self, reading: bool = False) -> None:
        """Start to load the query encoder, and the reading graph if wanted, in the background."""
        return

    def encode_passages(self, passages: Sequence[Passage]) -> list[PassageVectors]:
        return self.encode_tokenized(self.tokens.passages(passages))

    def encode_tokenized(
        self, tokenized: Sequence[TokenizedPassage], check: Callable[[], None] = lambda: None
    ) -> list[PassageVectors]:
        """Vectors of each passage; `check` is called before each batch, and what it raises ends the encoding."""
        results = [self._empty(t) for t in tokenized]
        jobs = [(result, window) for result, t in zip(results, tokenized, strict=True) for window in t.windows]
        for rows in batches_by_length([_width(window) for _, window in jobs], self.tokens_per_batch):
            check()
            picked = [jobs[i] for i in rows]
            batch = token_batch([w.ids for _, w in picked], [w.types for _, w in picked], self.tokens.pad_id, _WIDTHS)
            vectors, filters = self.forward_passages(batch)
            for row, (result, window) in enumerate(picked):
                result.vectors_TD[window.own] = vectors[row, window.own_columns]
                result.filter_T2[window.own] = filters[row, window.own_columns]
        return results

    def encode_questions(self, questions: Sequence[str]) -> QuestionVectors:
        return self.encode_tokenized_questions(self.tokens.questions(questions))

    def encode_tokenized_questions(self, ids: Sequence[Ids]) -> QuestionVectors:
        start_BD, end_BD = (np.zeros((len(ids), self.config.vector_size), dtype=np.float32) for _ in range(2))
        coherency_B = np.zeros(len(ids), dtype=np.float32) if self.config.split else None
        for rows in batches_by_length([len(row) for row in ids], self.tokens_per_batch):
            picked = [ids[i] for i in rows]
            batch = token_batch(picked, [np.zeros_like(row) for row in picked], self.tokens.pad_id)
            start_BD[rows], end_BD[rows], coherency = self.forward_questions(batch)
            if coherency_B is not None:
                coherency_B[rows] = coherency
        return QuestionVectors(start_BD, end_BD, coherency_B)

    def read(
        self, pairs: Sequence[tuple[Ids, Window]], check: Callable[[], None] = lambda: None
    ) -> list[ReadingLogits]:
        """The logits of each window, read together with a question.

        Args:
            pairs: A question, as `Tokens.questions` returns it, and a window of a passage.
            check: Called before each batch; what it raises ends the reading.
        """
        inputs = [self.tokens.reading_window(question, window) for question, window in pairs]
        results = [ReadingLogits(np.zeros((0, 2), dtype=np.float32), None)] * len(inputs)
        for rows in batches_by_length([_width(window) for window in inputs], self.tokens_per_batch):
            check()
            picked = [inputs[i] for i in rows]
            batch = token_batch([w.ids for w in picked], [w.types for w in picked], self.tokens.pad_id, _WIDTHS)
            for number, window, logits in zip(rows, picked, self.forward_reading(batch), strict=True):
                null = float(logits[0].sum()) if self.config.null_logit else None
                results[number] = ReadingLogits(logits[window.first : window.first + window.stop - window.start], null)
        return results

    def _empty(self, tokenized: TokenizedPassage) -> PassageVectors:
        count = len(tokenized.offsets)
        shapes: list[Any] = [(count, self.config.vector_size), (count, 2)]
        vectors, filters = (np.zeros(shape, dtype=np.float32) for shape in shapes)
        return PassageVectors(vectors, filters, tokenized.offsets, tokenized.max_span)


class DelegatingEncoder(Encoder):
    """Leaves to another encoder all that a subclass does not compute itself, and the properties of the model."""

    def __init__(self, base: Encoder, config: ModelConfig, tokens: Tokens) -> None:
        super().__init__(config, tokens)
        self.base = base

    @property
    def fingerprint(self) -> str:
        return self.base.fingerprint

    @property
    def product_quantizer(self) -> ProductQuantizer | None:
        return self.base.product_quantizer

    @property
    def tasks(self) -> list[str]:
        return self.base.tasks

    @property
    def query_encoder(self) -> str | None:
        return self.base.query_encoder

    def with_task(self, task: str | None) -> Encoder:
        return self if task is None else self.base.with_task(task)

    def forward_passages(self, batch: TokenBatch) -> tuple[Floats, Floats]:
        return self.base.forward_passages(batch)

    def forward_questions(self, batch: TokenBatch) -> tuple[Floats, Floats, Floats | None]:
        return self.base.forward_questions(batch)

    def forward_reading(self, batch: TokenBatch) -> Floats:
        return self.base.forward_reading(batch)

    def read(
        self, pairs: Sequence[tuple[Ids, Window]], check: Callable[[], None] = lambda: None
    ) -> list[ReadingLogits]:
        return self.base.read(pairs, check)

    def open_ahead(self, reading: bool = False) -> None:
        self.base.open_ahead(reading)


def _width(window: Window) -> int:
    return -(-len(window.ids) // _WIDTHS) * _WIDTHS
