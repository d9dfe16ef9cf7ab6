"""A quarter of a byte for each number of a vector: rotated, cut, and coded with the more bits the more a number counts.

Of 384 numbers the first 32 have 8 bits, the next 96 have 4, the next 64 have 2, and the rest are dropped.
"""

from functools import cached_property
from statistics import NormalDist
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from densephrases.index.coder import Coder, Floats, Records, Scorer
from densephrases.index.rotation import Rotation
from densephrases.model.statistics import VectorStatistics

Bytes = NDArray[np.uint8]

_NUMBERS_PER_BYTE = {"eight": 1, "four": 2, "two": 4}
_VECTOR_NUMBERS_PER_BYTE = {"eight": 12, "four": 8, "two": 24}  # of the whole vector, for each byte of the field
_VECTOR_NUMBERS_PER_SKETCH_CODE = 12
_LEVEL_ROWS = 1 << 14  # are enough to place levels
_LEVEL_ROUNDS = 25
_MADE_UP = [NormalDist().inv_cdf((i + 0.5) / 64) for i in range(64)]  # steady the levels from few rows
_INT8_LEVELS = 127
_LEAST_RANGE = 4.0  # times a number's spread
_MARGIN = 1.1  # rows that come later may be a little further out

# Shape suffixes: B queries, N rows, D vector size, K coded numbers, L levels, F fields of bytes, S numbers of a sketch.


def field_sizes(dim: int) -> dict[str, int]:
    """Bytes of a row by the bits of the numbers in them."""
    return {name: -(-dim // each) for name, each in _VECTOR_NUMBERS_PER_BYTE.items()}


def coded_numbers(dim: int) -> dict[str, int]:
    return {name: size * _NUMBERS_PER_BYTE[name] for name, size in field_sizes(dim).items()}


class MixedCoder(Coder):
    sketch_numbers_per_code = 2
    sketch_probes = 3  # fewer numbers cluster less well, and take less time to compare

    def __init__(self, rotation: Rotation, step_K: Floats, four_KL: Floats, two_KL: Floats) -> None:
        self.rotation = rotation
        self.step_K = step_K
        self.four_KL = four_KL
        self.two_KL = two_KL

    @classmethod
    def fit(cls, vectors_ND: Floats, statistics: VectorStatistics | None = None) -> Self:
        counts = coded_numbers(vectors_ND.shape[1])
        rotation, spread_K = Rotation.of(vectors_ND, statistics, sum(counts.values()))
        numbers_NK = rotation.numbers(vectors_ND[:: len(vectors_ND) // _LEVEL_ROWS + 1])
        eight, four, two = _split(numbers_NK, counts)
        eight_spread, four_spread, two_spread = _split(spread_K[None], counts)
        largest_K = np.maximum(np.abs(eight).max(axis=0, initial=0.0), _LEAST_RANGE * eight_spread[0])
        step_K = np.maximum(_MARGIN * largest_K / _INT8_LEVELS, np.finfo(np.float32).tiny)
        levels = (_levels(four, four_spread[0], 16), _levels(two, two_spread[0], 4))
        return cls(rotation, step_K.astype(np.float32), *levels)

    @classmethod
    def from_bytes(cls, data: Bytes, dim: int) -> Self:
        (state,) = np.frombuffer(data.tobytes(), dtype=_state_type(dim))
        mean, forth, back, *levels = (np.array(state[name], dtype=np.float32) for name in state.dtype.names)
        return cls(Rotation(mean, forth, back), *levels)

    def to_bytes(self) -> bytes:
        rotation = self.rotation
        values = (rotation.mean_D, rotation.forth_DK, rotation.back_KD, self.step_K, self.four_KL, self.two_KL)
        state = np.zeros((), dtype=_state_type(self.dim))
        for name, value in zip(state.dtype.names or (), values, strict=True):
            state[name] = value
        return state.tobytes()

    @property
    def dim(self) -> int:
        return len(self.rotation.mean_D)

    @property
    def row_type(self) -> np.dtype[Any]:
        sizes = field_sizes(self.dim)
        return np.dtype([("eight", "i1", (sizes["eight"],)), *((n, "u1", (sizes[n],)) for n in ("four", "two"))])

    def encode(self, vectors_ND: NDArray[np.floating[Any]]) -> Records:
        numbers_NK = self.rotation.numbers(np.asarray(vectors_ND, dtype=np.float32))
        eight, four, two = _split(numbers_NK, coded_numbers(self.dim))
        records_N = np.zeros(len(vectors_ND), dtype=self.row_type)
        records_N["eight"] = np.clip(np.rint(eight / self.step_K), -_INT8_LEVELS, _INT8_LEVELS)
        records_N["four"] = _packed(_nearest(four, self.four_KL), 4)
        records_N["two"] = _packed(_nearest(two, self.two_KL), 2)
        return records_N

    def decode(self, records_N: Records) -> Floats:
        return self.rotation.vectors(self._numbers(records_N))

    def scorer(self, queries_BD: Floats) -> Scorer:
        eight_BK, four_BK, two_BK = _split(self.rotation.queries(queries_BD), coded_numbers(self.dim))
        eight_BK = eight_BK * self.step_K
        mean_B1 = (queries_BD @ self.rotation.mean_D)[:, None]

        def scores(records_N: Records) -> Floats:
            products_BN = eight_BK @ records_N["eight"].astype(np.float32).T
            products_BN += four_BK @ _looked_up(records_N["four"], self._fours).T
            products_BN += two_BK @ _looked_up(records_N["two"], self._twos).T
            products_BN += mean_B1
            return np.asarray(products_BN, dtype=np.float32)

        return scores

    def sketch(self, records_N: Records) -> Floats:
        return self._numbers(records_N)[:, self._sketched]

    def sketch_queries(self, queries_BD: Floats) -> Floats:
        return self.rotation.queries(queries_BD)[:, self._sketched]

    @cached_property
    def _sketched(self) -> NDArray[np.int64]:
        """The first numbers in pairs of the one that counts most and the one that counts least, which share a code."""
        codes = -(-self.dim // _VECTOR_NUMBERS_PER_SKETCH_CODE)
        first = np.arange(codes)
        return np.stack([first, 2 * codes - 1 - first], axis=1).ravel()

    def _numbers(self, records_N: Records) -> Floats:
        four_NK = _looked_up(records_N["four"], self._fours)
        two_NK = _looked_up(records_N["two"], self._twos)
        return np.concatenate([records_N["eight"] * self.step_K, four_NK, two_NK], axis=1)

    @cached_property
    def _fours(self) -> Floats:
        return _byte_table(self.four_KL, 4)

    @cached_property
    def _twos(self) -> Floats:
        return _byte_table(self.two_KL, 2)


def _state_type(dim: int) -> np.dtype[Any]:
    counts = coded_numbers(dim)
    kept = sum(counts.values())
    return np.dtype(
        [
            ("mean", "<f4", (dim,)),
            ("forth", "<f2", (dim, kept)),
            ("back", "<f2", (kept, dim)),
            ("step", "<f4", (counts["eight"],)),
            ("four", "<f4", (counts["four"], 16)),
            ("two", "<f4", (counts["two"], 4)),
        ]
    )


def _split(numbers_NK: Floats, counts: dict[str, int]) -> list[Floats]:
    first, second = counts["eight"], counts["eight"] + counts["four"]
    return [numbers_NK[:, :first], numbers_NK[:, first:second], numbers_NK[:, second:]]


def _levels(numbers_NK: Floats, spread_K: Floats, count: int) -> Floats:
    """For each number the levels that leave the least squared error (Lloyd and Max)."""
    made_up = np.array(_MADE_UP, dtype=np.float32)[:, None] * spread_K
    ordered_NK = np.sort(np.concatenate([numbers_NK, made_up]), axis=0)
    return np.stack([_placed(column_N, count) for column_N in ordered_NK.T.astype(np.float64)]).astype(np.float32)


def _placed(ordered_N: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    sums = np.concatenate([[0.0], np.cumsum(ordered_N)])
    levels_L = ordered_N[((np.arange(count) + 0.5) / count * len(ordered_N)).astype(np.int64)]
    for _ in range(_LEVEL_ROUNDS):
        between = (levels_L[1:] + levels_L[:-1]) / 2
        edges = np.concatenate([[0], np.searchsorted(ordered_N, between), [len(ordered_N)]])
        taken_L = np.diff(edges)
        levels_L = np.where(taken_L > 0, np.diff(sums[edges]) / np.maximum(taken_L, 1), levels_L)
    return np.sort(levels_L)


def _nearest(numbers_NK: Floats, levels_KL: Floats) -> Bytes:
    codes_NK = np.zeros(numbers_NK.shape, dtype=np.uint8)
    for edge_K in ((levels_KL[:, 1:] + levels_KL[:, :-1]) / 2).T:
        codes_NK += numbers_NK > edge_K
    return codes_NK


def _packed(codes_NK: Bytes, bits: int) -> Bytes:
    """Neighbours in one byte, the first in its lowest bits."""
    per_byte = 8 // bits
    packed = np.zeros((len(codes_NK), codes_NK.shape[1] // per_byte), dtype=np.uint8)
    for place in range(per_byte):
        packed |= codes_NK[:, place::per_byte] << (bits * place)
    return packed


def _byte_table(levels_KL: Floats, bits: int) -> Floats:
    """The numbers that each of the 256 values stands for, of all bytes in turn."""
    per_byte = 8 // bits
    codes = np.arange(256)[:, None] >> (bits * np.arange(per_byte)) & (2**bits - 1)
    numbers = np.arange(len(levels_KL)).reshape(-1, 1, per_byte)
    return np.ascontiguousarray(levels_KL[numbers, codes].reshape(-1, per_byte))


def _looked_up(codes_NF: Bytes, table: Floats) -> Floats:
    count, size = codes_NF.shape
    places_NF = codes_NF + 256 * np.arange(size)
    return np.take(table, places_NF, axis=0).reshape(count, size * table.shape[1])
