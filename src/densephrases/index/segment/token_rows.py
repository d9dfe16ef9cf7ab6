"""The kept tokens of encoded passages, one row each, passage after passage."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from densephrases.model.bulk_encoder import KeptVectors
from densephrases.model.encoder import PassageVectors
from densephrases.model.packing import PackedPassages

# Shape suffixes: P passages, T tokens of all of them in turn, R rows, D vector size.


@dataclass(frozen=True, slots=True)
class TokenRows:
    vectors_RD: NDArray[np.floating[Any]]
    begins_R: NDArray[np.integer[Any]]
    lengths_R: NDArray[np.integer[Any]]
    max_span_R: NDArray[np.integer[Any]]
    rows_P: NDArray[np.int64]  # kept tokens of each passage
    tokens_P: NDArray[np.int64]  # all tokens of each passage

    def __len__(self) -> int:
        return len(self.begins_R)

    @property
    def tokens(self) -> int:
        """Kept or not."""
        return int(self.tokens_P.sum())

    @classmethod
    def from_vectors(cls, passages: Sequence[PassageVectors], threshold: float | None, dim: int) -> Self:
        kept = [passage.kept(threshold) for passage in passages]
        offsets_T2 = np.concatenate([np.zeros((0, 2), dtype=np.int64), *(p.offsets_T2 for p in passages)])
        max_spans = [passage.max_span_T - np.arange(len(passage.max_span_T)) for passage in passages]
        vectors = [passage.vectors_TD[mask] for passage, mask in zip(passages, kept, strict=True)]
        return cls._from_arrays(
            np.flatnonzero(np.concatenate([np.zeros(0, dtype=bool), *kept])),
            np.concatenate([np.zeros((0, dim), dtype=np.float32), *vectors]),
            (offsets_T2[:, 0], offsets_T2[:, 1] - offsets_T2[:, 0]),
            np.concatenate([np.zeros(0, dtype=np.int64), *max_spans]),
            np.array([len(mask) for mask in kept], dtype=np.int64),
        )

    @classmethod
    def from_packed(cls, passages: PackedPassages, kept: KeptVectors) -> Self:
        spans = (passages.begins_T, passages.widths_T)
        return cls._from_arrays(kept.kept_R, kept.vectors_RD, spans, passages.max_spans_T, passages.tokens_P)

    @classmethod
    def _from_arrays(
        cls,
        kept_R: NDArray[np.int64],
        vectors_RD: NDArray[np.floating[Any]],
        spans: tuple[NDArray[np.integer[Any]], NDArray[np.integer[Any]]],
        max_spans_T: NDArray[np.integer[Any]],
        tokens_P: NDArray[np.int64],
    ) -> Self:
        count = len(max_spans_T)
        before = np.zeros(count + 1, dtype=np.int64)  # number of kept tokens before each
        before[kept_R + 1] = 1
        np.cumsum(before, out=before)
        last_R = kept_R + max_spans_T[kept_R]
        max_span_R = before[last_R + 1] - 1 - np.arange(len(kept_R))
        begins_R, lengths_R = (values_T[kept_R] for values_T in spans)
        assert (begins_R + lengths_R.astype(np.int64) <= np.iinfo(np.uint16).max).all()
        assert (max_span_R <= np.iinfo(np.uint8).max).all()
        rows_P = np.diff(before[np.concatenate([[0], np.cumsum(tokens_P)])])
        return cls(vectors_RD, begins_R, lengths_R, max_span_R, rows_P, tokens_P)
