"""Mapped files: whatever part of a file is read, damage in it is noticed, and damage elsewhere is not in the way."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.errors import PhraseIndexError
from densephrases.index.files import checked
from densephrases.index.files.checked import (
    CheckedArray,
    CheckedFile,
    as_array,
    read_block_checksums,
    write_block_checksums,
)
from densephrases.index.files.durable import BLOCK_BYTES, FileEntry, HashedFile
from densephrases.index.files.mapped import map_file

SIZE = 5 * BLOCK_BYTES + 100
ROW = np.dtype([("codes", "u1", (7,))])  # rows that lie in two blocks


def content(size: int = SIZE) -> bytes:
    return np.random.default_rng(size).bytes(size)


def written(folder: Path, data: bytes, pieces: int = 1) -> tuple[FileEntry, list[int]]:
    file = HashedFile(folder / "file.bin")
    for piece in np.array_split(np.frombuffer(data, dtype=np.uint8), pieces):
        file.write(piece)
    return file.finish(), file.checksums


def opened(folder: Path, data: bytes, damaged: bytes | None = None, *, blocks: bool = True) -> CheckedFile:
    """A file that was written with some bytes and holds others."""
    entry, checksums = written(folder, data)
    path = folder / "file.bin"
    path.write_bytes(data if damaged is None else damaged)
    return CheckedFile(path, map_file(path), entry, np.array(checksums, dtype=np.uint32) if blocks else None)


def flipped(data: bytes, byte: int) -> bytes:
    return data[:byte] + bytes([data[byte] ^ 16]) + data[byte + 1 :]


@given(st.integers(0, 3 * BLOCK_BYTES + 5), st.integers(1, 9))
def test_checksums_do_not_depend_on_the_pieces(
    tmp_path_factory: pytest.TempPathFactory, size: int, pieces: int
) -> None:
    folder = tmp_path_factory.mktemp("pieces")
    whole, parts = written(folder, content(size)), written(folder, content(size), pieces)
    assert parts == whole
    assert len(whole[1]) == -(-size // BLOCK_BYTES)


@pytest.mark.parametrize("blocks", [True, False])
def test_sound_files_are_read(tmp_path: Path, blocks: bool) -> None:
    data = content()
    file = opened(tmp_path, data, blocks=blocks)
    array = CheckedArray.from_file(file, "u1")
    rows = np.array([0, SIZE - 1, BLOCK_BYTES, 3])
    assert array[rows].tolist() == array.take(rows).tolist() == [data[row] for row in rows]
    assert array[5:9].tobytes() == data[5:9]
    assert file.is_pending is blocks
    assert file.whole().tobytes() == data
    assert not file.is_pending
    assert array[rows].tolist() == [data[row] for row in rows]


@given(st.integers(0, SIZE - 1), st.integers(0, SIZE // 7 - 1), st.integers(1, 9000))
def test_damage_is_noticed_where_it_is(
    tmp_path_factory: pytest.TempPathFactory, byte: int, first: int, count: int
) -> None:
    data = content(SIZE // 7 * 7)
    byte = min(byte, len(data) - 1)
    file = opened(tmp_path_factory.mktemp("damaged"), data, flipped(data, byte))
    array = CheckedArray.from_file(file, ROW)
    stop = min(first + count, len(array))
    blocks = range(7 * first // BLOCK_BYTES, (7 * stop - 1) // BLOCK_BYTES + 1)
    one = range(7 * first // BLOCK_BYTES, (7 * first + 6) // BLOCK_BYTES + 1)
    several: list[tuple[Any, range]] = [
        (lambda: array[first:stop], blocks),
        (lambda: array[np.arange(first, stop)], blocks),
        (lambda: array.verify_ranges(np.array([first]), np.array([stop])), blocks),
        (lambda: array.take(np.array([first])), one),
    ]
    for read, touched in several:
        for _ in range(2):
            if byte // BLOCK_BYTES in touched:
                with pytest.raises(
                    PhraseIndexError, match=rf"file.bin' is damaged: .* from byte {byte // 16384 * 16384}"
                ):
                    read()
            else:
                read()
    with pytest.raises(PhraseIndexError, match="restore it from a copy"):
        file.whole()


def test_without_checksums_of_blocks_only_the_whole_is_verified(tmp_path: Path) -> None:
    data = content()
    file = opened(tmp_path, data, flipped(data, 7), blocks=False)
    assert CheckedArray.from_file(file, "u1")[:9].tobytes() == flipped(data, 7)[:9]
    for _ in range(2):
        with pytest.raises(PhraseIndexError, match=r"file.bin' is damaged: its checksum differs; restore"):
            file.whole()


def test_threads_notice_damage_in_large_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checked, "_SHARED_BLOCKS", 2)
    data = content()
    with pytest.raises(PhraseIndexError, match="from byte 65536 on"):
        opened(tmp_path, data, flipped(flipped(data, SIZE - 1), 4 * BLOCK_BYTES)).whole()
    assert opened(tmp_path, data).whole().tobytes() == data


@pytest.mark.parametrize("changed", [content()[:-1], content() + b"x", b""])
def test_other_sizes_are_refused_at_once(tmp_path: Path, changed: bytes) -> None:
    with pytest.raises(PhraseIndexError, match=f"file.bin' has {len(changed)} bytes, {SIZE} were written; restore"):
        opened(tmp_path, content(), changed)


def test_checksums_of_several_files(tmp_path: Path) -> None:
    checksums = {"b": [1, 2, 3], "a": [4], "c": []}
    sizes = {"c": 0, "a": 5, "b": 2 * BLOCK_BYTES + 1}
    path = tmp_path / "sums.bin"
    entry = write_block_checksums(path, checksums)
    file = CheckedFile(path, map_file(path), entry, None)
    assert {name: found.tolist() for name, found in read_block_checksums(file, sizes).items()} == checksums
    with pytest.raises(PhraseIndexError, match="16 bytes are not 5 values of 4 bytes"):
        read_block_checksums(file, sizes | {"c": 1})


def test_bytes_that_are_no_whole_numbers(tmp_path: Path) -> None:
    file = opened(tmp_path, content(10))
    with pytest.raises(PhraseIndexError, match="its 10 bytes are not whole numbers of 4 bytes"):
        as_array(file, file.whole(), "<u4")
    with pytest.raises(PhraseIndexError, match="its 10 bytes are not 4 values of 2 bytes"):
        as_array(file, file.whole(), "<u2", 4)
