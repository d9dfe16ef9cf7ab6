"""A fifth of a byte for each number of a vector: rotated, cut, and coded with falling bits.

Levels follow from a number's spread over the model's tokens and the index's first rows, not from these rows alone: they
may all be of one article, and what later ones have beyond them would be cut off. For the same reason levels lie further
apart than the least squared error asks for: the rows that questions look for stand out.

Few levels are on average too near to zero, so that what they code scores less than it should. Right answers, which fit
in many small directions at once, lose most by that. So numbers are stretched until they say on average what was there.
"""

from functools import cache, cached_property
from itertools import pairwise
from statistics import NormalDist
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from densephrases.errors import PhraseIndexError
from densephrases.index.coder import Coder, Floats, Records, Scorer
from densephrases.index.fields import WIDTHS, Bytes, Field, bits_of_numbers, fields, row_type
from densephrases.index.rotation import Rotation
from densephrases.model.statistics import VectorStatistics

_VECTOR_NUMBERS_PER_SKETCH_CODE = 16
_NORMAL = np.array([NormalDist().inv_cdf((i + 0.5) / 4096) for i in range(4096)])  # sorted
_WIDENED = 1.3  # times a number's spread: of 1, 1.1, 1.2, 1.3 and 1.4 the one with the least error of the best scores
_LEVEL_ROUNDS = 50
_EVEN_BITS = 8  # from here on levels are at equal distances
_EVEN_RANGE = 4.5  # times a number's spread

# Shape suffixes: B queries, N rows, D vector size, K coded numbers, L levels, F bytes, M numbers in each, V values of a
# byte, S numbers of a sketch.


class MixedCoder(Coder):
    """`levels` are for numbers of spread one by their bits, `stretch` is what they are multiplied with when read."""

    sketch_numbers_per_code = 3
    sketch_probes = 3  # fewer numbers cluster less well, and take less time to compare
    sketch_rescored = 2  # makes up for what three numbers in four bits lack

    def __init__(
        self, rotation: Rotation, spread_K: Floats, levels: dict[int, Floats], stretch: dict[int, float]
    ) -> None:
        self.rotation = rotation
        self.spread_K = spread_K
        self.levels = levels
        self.stretch = stretch

    @classmethod
    def fit(cls, vectors_ND: Floats, statistics: VectorStatistics | None = None) -> Self:
        rotation, spread_K = Rotation.of(vectors_ND, statistics, len(bits_of_numbers(vectors_ND.shape[1])))
        levels = {bits: _levels(bits) for bits in WIDTHS}
        return cls(rotation, spread_K, levels, {bits: _stretch(levels_L) for bits, levels_L in levels.items()})

    @classmethod
    def from_bytes(cls, data: Bytes, dim: int) -> Self:
        if len(data) != _state_type(dim).itemsize:
            raise PhraseIndexError(
                "The index has mixed codes of an earlier kind, which are no longer read; build it anew."
            )
        (state,) = np.frombuffer(data.tobytes(), dtype=_state_type(dim))
        mean, forth, back, spread, stretch, levels = (np.array(state[n], dtype=np.float32) for n in state.dtype.names)
        edges = np.cumsum([0, *(2**bits for bits in WIDTHS)]).tolist()
        parts = {bits: levels[slice(*edge)] for bits, edge in zip(WIDTHS, pairwise(edges), strict=True)}
        return cls(Rotation(mean, forth, back), spread, parts, dict(zip(WIDTHS, stretch.tolist(), strict=True)))

    def to_bytes(self) -> bytes:
        rotation = self.rotation
        levels = np.concatenate([self.levels[bits] for bits in WIDTHS])
        stretch = [self.stretch[bits] for bits in WIDTHS]
        values = (rotation.mean_D, rotation.forth_DK, rotation.back_KD, self.spread_K, stretch, levels)
        state = np.zeros((), dtype=_state_type(self.dim))
        for name, value in zip(state.dtype.names or (), values, strict=True):
            state[name] = value
        return state.tobytes()

    @property
    def dim(self) -> int:
        return len(self.rotation.mean_D)

    @property
    def row_type(self) -> np.dtype[Any]:
        return row_type(self.dim)

    def encode(self, vectors_ND: NDArray[np.floating[Any]]) -> Records:
        numbers_NK = self.rotation.numbers(np.asarray(vectors_ND, dtype=np.float32))
        numbers_NK /= np.maximum(self.spread_K, np.finfo(np.float32).tiny)
        bits_K = np.array(bits_of_numbers(self.dim))
        codes_NK = np.zeros(numbers_NK.shape, dtype=np.uint8)
        for bits, levels_L in self.levels.items():
            alike = bits_K == bits  # numbers with as many bits are neighbours, so that this costs little
            codes_NK[:, alike] = np.searchsorted((levels_L[1:] + levels_L[:-1]) / 2, numbers_NK[:, alike])
        records_N = np.zeros(len(vectors_ND), dtype=self.row_type)
        for field in fields(self.dim):
            records_N[field.name] = field.packed(codes_NK)
        return records_N

    def decode(self, records_N: Records) -> Floats:
        return self.rotation.vectors(self._numbers(records_N))

    def scorer(self, queries_BD: Floats) -> Scorer:
        queries_BK = self.rotation.queries(queries_BD)
        mean_B1 = (queries_BD @ self.rotation.mean_D)[:, None]
        asked = [
            (field.name, table, np.ascontiguousarray(queries_BK[:, field.numbers_FM.ravel()]))
            for field, table in self._tables
        ]

        def scores(records_N: Records) -> Floats:
            products_BN = np.repeat(mean_B1, len(records_N), axis=1)
            for name, table, wanted_BK in asked:
                products_BN += wanted_BK @ _looked_up(records_N[name], table).T
            return np.asarray(products_BN, dtype=np.float32)

        return scores

    def scorers(self, queries_BD: Floats) -> list[Scorer]:
        """By what each byte adds to a score: of rows that one query has for itself less work than decoding them."""
        added_BFV = self._added(self.rotation.queries(queries_BD))
        mean_B = queries_BD @ self.rotation.mean_D
        return [_summing(added_FV, mean) for added_FV, mean in zip(added_BFV, mean_B, strict=True)]

    def sketch(self, records_N: Records) -> Floats:
        return self._numbers(records_N)[:, self._sketched]

    def sketch_queries(self, queries_BD: Floats) -> Floats:
        return self.rotation.queries(queries_BD)[:, self._sketched]

    @cached_property
    def _sketched(self) -> NDArray[np.int64]:
        """The first numbers in threes that share a code: one of those that count most, of the next, and of the last."""
        codes = -(-self.dim // _VECTOR_NUMBERS_PER_SKETCH_CODE)
        first = np.arange(codes)
        return np.stack([first, 2 * codes - 1 - first, 2 * codes + first], axis=1).ravel()

    def _numbers(self, records_N: Records) -> Floats:
        numbers_NK = np.empty((len(records_N), len(self.spread_K)), dtype=np.float32)
        for field, table in self._tables:
            numbers_NK[:, field.numbers_FM.ravel()] = _looked_up(records_N[field.name], table)
        return numbers_NK

    def _added(self, queries_BK: Floats) -> Floats:
        """What each value of each byte adds to scores (B, F, V)."""
        sizes = [len(field.bits_FM) for field, _ in self._tables]
        added_BFV = np.empty((len(queries_BK), sum(sizes), 256), dtype=np.float32)
        parts = np.split(added_BFV, np.cumsum(sizes)[:-1], axis=1)
        for (field, table), part_BFV in zip(self._tables, parts, strict=True):
            wanted_FBM = queries_BK[:, field.numbers_FM].swapaxes(0, 1)
            table_FMV = table.reshape(*field.bits_FM.shape[:1], 256, -1).swapaxes(1, 2)
            np.matmul(wanted_FBM, table_FMV, out=part_BFV.swapaxes(0, 1))
        return added_BFV

    @cached_property
    def _tables(self) -> list[tuple[Field, Floats]]:
        """For each field the numbers of each value of each byte (256 F, M)."""
        levels_KL = np.zeros((len(self.spread_K), 256), dtype=np.float32)
        for number, bits in enumerate(bits_of_numbers(self.dim)):
            levels_KL[number, : 2**bits] = self.levels[bits] * (self.stretch[bits] * self.spread_K[number])
        return [
            (field, levels_KL[field.numbers_FM[:, None], field.codes()].reshape(-1, field.numbers_FM.shape[1]))
            for field in fields(self.dim)
        ]


def _state_type(dim: int) -> np.dtype[Any]:
    kept = len(bits_of_numbers(dim))
    return np.dtype(
        [
            ("mean", "<f4", (dim,)),
            ("forth", "<f2", (dim, kept)),
            ("back", "<f2", (kept, dim)),
            ("spread", "<f4", (kept,)),
            ("stretch", "<f4", (len(WIDTHS),)),
            ("levels", "<f4", (sum(2**bits for bits in WIDTHS),)),
        ]
    )


def _levels(bits: int) -> Floats:
    """For numbers of spread one."""
    if bits >= _EVEN_BITS:
        return np.linspace(-_EVEN_RANGE, _EVEN_RANGE, 2**bits, dtype=np.float32)
    return _placed(_WIDENED * _NORMAL, 2**bits).astype(np.float32)


def _placed(ordered_N: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Levels with the least squared error (Lloyd and Max)."""
    sums = np.concatenate([[0.0], np.cumsum(ordered_N)])
    levels_L = ordered_N[((np.arange(count) + 0.5) / count * len(ordered_N)).astype(np.int64)]
    for _ in range(_LEVEL_ROUNDS):
        edges = np.concatenate([[0], np.searchsorted(ordered_N, (levels_L[1:] + levels_L[:-1]) / 2), [len(ordered_N)]])
        levels_L = np.diff(sums[edges]) / np.diff(edges)
    return levels_L


def _stretch(levels_L: Floats) -> float:
    """Makes the product of a number and its code on average the number's square."""
    coded_N = levels_L[np.searchsorted((levels_L[1:] + levels_L[:-1]) / 2, _NORMAL)]
    return float(np.float32(_NORMAL @ _NORMAL / (coded_N @ _NORMAL)))  # as it is stored


def _looked_up(codes_NF: Bytes, table: Floats) -> Floats:
    count, size = codes_NF.shape
    return np.take(table, codes_NF + _first_places(size), axis=0).reshape(count, size * table.shape[1])


def _summing(added_FV: Floats, mean: np.float32) -> Scorer:
    """Scores rows by what each value of each byte adds to the score of the mean."""
    first_F = _first_places(len(added_FV))

    def scores(records_N: Records) -> Floats:
        codes_NF = records_N.view(np.uint8).reshape(len(records_N), len(first_F))
        return np.asarray(added_FV.take(codes_NF + first_F).sum(axis=1) + mean)

    return scores


@cache
def _first_places(size: int) -> NDArray[np.unsignedinteger[Any]]:
    """Where the values of each byte begin in a table of all, in as few bits as will do: they are added to all codes."""
    return (256 * np.arange(size)).astype(np.min_scalar_type(256 * size))
