"""Which segments a shard holds."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise

from densephrases.errors import ConfigError


def assigned(vectors_S: Sequence[int], shards: int) -> list[slice]:
    """Consecutive segments for each shard, of about as many vectors.

    Args:
        vectors_S: Token vectors of each segment.
        shards: Number of shards; each has at least one segment.
    """
    if not 1 <= shards <= max(len(vectors_S), 1):
        raise ConfigError(
            f"shards={shards} does not fit an index of {len(vectors_S)} segments, each of which belongs to one shard; "
            f"give 1 to {max(len(vectors_S), 1)}, or divide the index with `densephrases optimize INDEX --segments N`."
        )
    sums = [0, *accumulate(vectors_S)]
    edges = [0]
    for shard in range(1, shards):
        wanted = sums[-1] * shard / shards
        possible = range(edges[-1] + 1, len(vectors_S) - (shards - shard) + 1)
        edges.append(min(possible, key=lambda edge: abs(sums[edge] - wanted)))
    edges.append(len(vectors_S))
    return [slice(first, last) for first, last in pairwise(edges)]


def shard_of(first_segments: Sequence[int], segment: int) -> int:
    """The shard of a segment, given the first segment of each shard."""
    return bisect_right(first_segments, segment) - 1
