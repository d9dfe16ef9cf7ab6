"""Mapped files that are compared with checksums when they are first read, block by block.

A file that is read as a whole is verified as a whole. Of a large one only those blocks are verified that are touched,
each once. Threads may verify the same block at the same time, which does no harm.
"""

import os
import zlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Bytes, Ints, Mask, ranges
from densephrases.errors import PhraseIndexError
from densephrases.index.files.durable import BLOCK_BYTES, DAMAGE_REMEDY, FileEntry, HashedFile

_CHECKSUM = np.dtype("<u4")
_BLOCK_BITS = BLOCK_BYTES.bit_length() - 1
_SHARED_BLOCKS = 256  # fewer are verified in the time that threads take to start
_MOST_THREADS = 4

# Shape suffixes: N rows asked for, B blocks.


class CheckedFile:
    """A mapped file; `checksums_B` are those of its blocks, None if its writer kept only the SHA-256 of the whole.

    Raises PhraseIndexError, here and whenever damaged bytes are asked for.
    """

    def __init__(self, path: Path, data: Bytes, entry: FileEntry, checksums_B: NDArray[np.uint32] | None) -> None:
        if len(data) != entry.size:
            raise PhraseIndexError(f"'{path}' has {len(data)} bytes, {entry.size} were written; {DAMAGE_REMEDY}.")
        self.path = path
        self.data = data
        self.has_checksums = checksums_B is not None
        self._entry = entry
        self._checksums_B = checksums_B
        self._is_verified = not self.has_checksums and len(data) == 0
        self._unverified_B: Mask | None = np.ones(len(checksums_B), dtype=bool) if checksums_B is not None else None

    @property
    def is_pending(self) -> bool:
        """Whether some block has not been verified yet."""
        return self._unverified_B is not None

    def whole(self) -> Bytes:
        """All bytes, verified."""
        if self.has_checksums:
            self.verify_bytes(0, len(self.data))
        elif not self._is_verified:
            self._compare_whole()
            self._is_verified = True
        return self.data

    def _compare_whole(self) -> None:
        if sha256(self.data.data).hexdigest() != self._entry.sha256:
            raise self.damaged("its checksum differs")

    def verify_bytes(self, start: int, stop: int) -> None:
        unverified_B = self._unverified_B
        if unverified_B is not None and start < stop:
            blocks = slice(start // BLOCK_BYTES, (stop - 1) // BLOCK_BYTES + 1)
            (unverified,) = unverified_B[blocks].nonzero()
            if len(unverified):
                self._verify(blocks.start + unverified)

    def verify_items(self, start_N: Ints, last_N: Ints) -> None:
        """Verify from each start to its last byte."""
        unverified_B = self._unverified_B
        if unverified_B is None or len(start_N) == 0:
            return
        first_N, last_N = start_N >> _BLOCK_BITS, last_N >> _BLOCK_BITS
        if (last_N - first_N).max() > 1:
            first_N = last_N = ranges(first_N, np.maximum(last_N - first_N + 1, 1))[1]
        if unverified_B.take(first_N, mode="clip").any() or unverified_B.take(last_N, mode="clip").any():
            touched = np.unique(np.concatenate([first_N, last_N]).clip(0, len(unverified_B) - 1))
            self._verify(touched[unverified_B[touched]])

    def _verify(self, blocks: Ints) -> None:
        threads = min(_MOST_THREADS, os.cpu_count() or 1) if len(blocks) >= _SHARED_BLOCKS else 1
        shares = [share.tolist() for share in np.array_split(blocks, threads)]
        if threads == 1:
            found = list(map(self._first_damaged, shares))
        else:
            with ThreadPoolExecutor(threads, "verify") as executor:
                found = list(executor.map(self._first_damaged, shares))
        if any(block is not None for block in found):
            first = min(block for block in found if block is not None)
            raise self.damaged(f"its checksum differs in the {BLOCK_BYTES} bytes from byte {first * BLOCK_BYTES} on")
        unverified_B = self._unverified_B
        if unverified_B is not None:
            unverified_B[blocks] = False
            if not unverified_B.any():
                self._unverified_B = None

    def _first_damaged(self, blocks: Sequence[int]) -> int | None:
        assert self._checksums_B is not None
        data, checksums_B = self.data.data, self._checksums_B
        for block in blocks:
            start = block * BLOCK_BYTES
            if zlib.crc32(data[start : start + BLOCK_BYTES]) != checksums_B[block]:
                return block
        return None

    def damaged(self, reason: str) -> PhraseIndexError:
        return PhraseIndexError(f"'{self.path}' is damaged: {reason}; {DAMAGE_REMEDY}.")


class CheckedArray:
    """Records that are verified before they are given; those in memory need not be."""

    def __init__(self, values: NDArray[Any], file: CheckedFile | None = None) -> None:
        self.values = values
        self._file = file

    @classmethod
    def from_file(cls, file: CheckedFile, kind: np.dtype[Any] | str, count: int | None = None) -> "CheckedArray":
        return cls(as_array(file, file.data, kind, count), file)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.values.dtype

    def __getitem__(self, rows: slice | Ints) -> NDArray[Any]:
        """A view of a range of rows, or a copy of some rows."""
        if self._file is not None and self._file.is_pending:
            if isinstance(rows, slice):
                start, stop, _ = rows.indices(len(self.values))
                self._file.verify_bytes(start * self.values.itemsize, stop * self.values.itemsize)
            else:
                self.verify_ranges(rows)
        return np.asarray(self.values[rows])

    def take(self, rows_N: Ints) -> NDArray[Any]:
        """Some rows, copied as bytes: five times as fast as fields."""
        self.verify_ranges(rows_N)
        values = self.values
        return values.view(f"V{values.itemsize}").take(rows_N).view(values.dtype)

    def verify_ranges(self, first_N: Ints, stop_N: Ints | None = None) -> None:
        """Verify the rows from each first to its stop, or each row alone."""
        if self._file is not None and self._file.is_pending:
            size = self.values.itemsize
            start_N = first_N * size
            self._file.verify_items(start_N, (start_N + size if stop_N is None else stop_N * size) - 1)


def as_array(file: CheckedFile, data: Bytes, kind: np.dtype[Any] | str, count: int | None = None) -> NDArray[Any]:
    """Bytes of a file as numbers, of which the manifest says how many there must be."""
    item = np.dtype(kind)
    if len(data) % item.itemsize or (count is not None and len(data) != count * item.itemsize):
        expected = "whole numbers" if count is None else f"{count} values"
        raise file.damaged(f"its {len(data)} bytes are not {expected} of {item.itemsize} bytes")
    return data.view(item)


def write_block_checksums(path: Path, checksums: Mapping[str, Sequence[int]]) -> FileEntry:
    """A file of the checksums of several files, in the order of their names."""
    file = HashedFile(path)
    try:
        for name in sorted(checksums):
            file.write(np.array(checksums[name], dtype=_CHECKSUM))
        return file.finish()
    except BaseException:
        file.abandon()
        raise


def read_block_checksums(file: CheckedFile, sizes: Mapping[str, int]) -> dict[str, NDArray[np.uint32]]:
    """The checksums of each file by its name; the sizes are those of the files they were written for."""
    blocks = {name: -(-sizes[name] // BLOCK_BYTES) for name in sorted(sizes)}
    stored = as_array(file, file.whole(), _CHECKSUM, sum(blocks.values()))
    edges = np.cumsum([0, *blocks.values()])
    return {name: stored[edges[number] : edges[number + 1]] for number, name in enumerate(blocks)}
