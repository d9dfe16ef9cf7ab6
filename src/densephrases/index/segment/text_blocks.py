"""Text in compressed blocks, of which a passage needs one or two.

The texts of a segment, in UTF-8 and one after the other, are cut into blocks of equal size wherever that falls: bytes
are joined before they are decoded. Every block is compressed alone, but with the segment's first blocks as what deflate
looks back to, which saves a tenth: words that are common in a text are common in its beginning. What is stored depends
on the text alone, not on the pieces in which it came.
"""

import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from densephrases.errors import PhraseIndexError
from densephrases.index.files.checked import CheckedArray
from densephrases.index.files.durable import DAMAGE_REMEDY, HashedFile

# Ten passages from all over take 0.7 ms on one ARM core, and the text of `squad-dev` 0.403 of its size; with blocks of
# 16, 32 and 64 KiB these are 1.1, 1.7 and 2.8 ms for 0.389, 0.379 and 0.372.
BLOCK_BYTES = 1 << 13
FIRST_BLOCKS = 4  # 32 KiB, which is as far as deflate looks back
_LEVEL = 6  # the highest saves 0.2% more and takes a quarter more time
_MEMORY = 9
_CACHED_BLOCKS = 256  # two megabytes
_THREADS = 4
_THREAD_BLOCKS = 16  # fewer are not worth starting threads for


class BlockWriter:
    """Takes text in pieces of any size.

    `append_edges` is given where blocks end in the file, in order.
    """

    def __init__(self, file: HashedFile, append_edges: Callable[[Sequence[int]], None]) -> None:
        self.size = 0  # of the text, before it is compressed
        self._file = file
        self._append_edges = append_edges
        self._first = b""
        self._pending = bytearray()

    def write(self, text: bytes) -> None:
        self.size += len(text)
        self._pending += text
        whole = len(self._pending) // BLOCK_BYTES * BLOCK_BYTES
        blocks = [bytes(self._pending[at : at + BLOCK_BYTES]) for at in range(0, whole, BLOCK_BYTES)]
        del self._pending[:whole]
        self._save(blocks)

    def finish(self) -> None:
        """The last block, which may be smaller."""
        if self._pending:
            self._save([bytes(self._pending)])

    def _save(self, blocks: Sequence[bytes]) -> None:
        edges = []
        for packed in self._packed(blocks):
            self._file.write(packed)
            edges.append(self._file.size)
        self._append_edges(edges)

    def _packed(self, blocks: Sequence[bytes]) -> Iterator[bytes]:
        growing = FIRST_BLOCKS - len(self._first) // BLOCK_BYTES
        for block in blocks[:growing]:
            yield _deflated(block, self._first)
            self._first += block
        yield from _all_deflated(blocks[growing:], self._first)


def _all_deflated(blocks: Sequence[bytes], first: bytes) -> Iterator[bytes]:
    """By several threads where there are many."""
    if len(blocks) < _THREAD_BLOCKS:
        yield from (_deflated(block, first) for block in blocks)
        return
    with ThreadPoolExecutor(_THREADS, "compress") as executor:
        yield from executor.map(_deflated, blocks, repeat(first))


def _deflated(block: bytes, first: bytes) -> bytes:
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, zlib.MAX_WBITS, _MEMORY, zlib.Z_DEFAULT_STRATEGY, first)
    return packer.compress(block) + packer.flush()


class BlockedText:
    """Reads any bytes of the texts from mapped blocks; several threads may."""

    def __init__(self, path: Path, data: CheckedArray, edges: NDArray[np.int64]) -> None:
        # Not a method of this object: it would never be given back, as the cache knows what fills it.
        self._block = lru_cache(_CACHED_BLOCKS)(_PackedBlocks(path, data, edges).block)

    def read(self, start: int, stop: int) -> bytes:
        if start == stop:
            return b""
        numbers = range(start // BLOCK_BYTES, (stop - 1) // BLOCK_BYTES + 1)
        skipped = numbers.start * BLOCK_BYTES
        return b"".join(map(self._block, numbers))[start - skipped : stop - skipped]


@dataclass(frozen=True)
class _PackedBlocks:
    path: Path
    data: CheckedArray
    edges: NDArray[np.int64]  # in `data`, one more than blocks

    def block(self, number: int) -> bytes:
        if not 0 <= number < len(self.edges) - 1:
            raise PhraseIndexError(f"'{self.path}' has no block {number}, but a passage in it; {DAMAGE_REMEDY}.")
        if number < FIRST_BLOCKS:
            return self._first[number * BLOCK_BYTES : (number + 1) * BLOCK_BYTES]
        return self._inflated(number, self._first)

    @cached_property
    def _first(self) -> bytes:
        first = b""
        for number in range(min(FIRST_BLOCKS, len(self.edges) - 1)):
            first += self._inflated(number, first)
        return first

    def _inflated(self, number: int, first: bytes) -> bytes:
        start, stop = self.edges[number : number + 2].tolist()
        unpacker: Any = zlib.decompressobj(zdict=first)
        try:
            block: bytes = unpacker.decompress(self.data[start:stop], BLOCK_BYTES + 1)
        except zlib.error as error:
            raise self._damaged(number, str(error)) from error
        if not unpacker.eof:
            raise self._damaged(number, "it has no end")
        return block

    def _damaged(self, number: int, reason: str) -> PhraseIndexError:
        return PhraseIndexError(
            f"'{self.path}' is damaged: its block {number} cannot be decompressed ({reason}); {DAMAGE_REMEDY}."
        )
