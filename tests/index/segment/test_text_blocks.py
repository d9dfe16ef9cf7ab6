"""Compressed text against the text itself, in pieces of any size and read anywhere, and with bytes changed."""

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.errors import PhraseIndexError
from densephrases.index.files.checked import CheckedArray
from densephrases.index.files.durable import HashedFile
from densephrases.index.segment import text_blocks as blocks
from densephrases.index.segment.text_blocks import BLOCK_BYTES, FIRST_BLOCKS, BlockedText, BlockWriter
from tests.index.made_up import long_text

TEXT = st.text("aé中😀\u0301 .", max_size=12).map(str.encode)
PIECES = st.lists(TEXT | st.binary(max_size=40), max_size=12)
LONG = long_text(0, 9 * BLOCK_BYTES // 5).encode()
assert len(LONG) > (FIRST_BLOCKS + 3) * BLOCK_BYTES


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("blocks") / "text.bin"


def written(path: Path, pieces: Sequence[bytes]) -> tuple[bytes, list[int]]:
    edges = [0]
    file = HashedFile(path)
    writer = BlockWriter(file, edges.extend)
    for piece in pieces:
        writer.write(piece)
    writer.finish()
    file.finish()
    assert writer.size == sum(map(len, pieces))
    return path.read_bytes(), edges


def opened(path: Path, data: bytes, edges: Sequence[int]) -> BlockedText:
    return BlockedText(path, CheckedArray(np.frombuffer(data, dtype=np.uint8)), np.array(edges, dtype=np.int64))


@given(PIECES, st.integers(1, 9))
def test_any_bytes_are_read_from_anywhere(path: Path, pieces: list[bytes], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", size)
        text = b"".join(pieces)
        data, edges = written(path, pieces)
        assert edges[-1] == len(data)
        assert len(edges) - 1 == -(-len(text) // size)
        read = opened(path, data, edges).read
        for start, stop in product(range(len(text) + 1), repeat=2):
            if start <= stop:
                assert read(start, stop) == text[start:stop]


@given(PIECES, PIECES)
def test_pieces_leave_no_trace(path: Path, first: list[bytes], second: list[bytes]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", 7)
        assert written(path, [*first, *second]) == written(path, [b"".join(first), b"".join(second)])


def test_threads_leave_no_trace(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = written(path, [LONG])
    monkeypatch.setattr(blocks, "_THREAD_BLOCKS", 2)
    assert written(path, [LONG]) == alone


def test_later_blocks_look_back_to_the_first(path: Path) -> None:
    """Of bytes made by chance nothing can be saved, unless they stood before."""
    random = np.random.default_rng(0).bytes(FIRST_BLOCKS * BLOCK_BYTES)
    data, _ = written(path, [random, random[-2 * BLOCK_BYTES :]])
    assert len(data) < 1.05 * len(random)


@pytest.mark.parametrize("cached", [1, 256])
def test_several_threads_read(path: Path, monkeypatch: pytest.MonkeyPatch, cached: int) -> None:
    monkeypatch.setattr(blocks, "_CACHED_BLOCKS", cached)
    text = opened(path, *written(path, [LONG]))
    starts = np.random.default_rng(0).integers(len(LONG), size=400).tolist()
    with ThreadPoolExecutor(4) as executor:
        found = list(executor.map(lambda start: text.read(start, min(start + 900, len(LONG))), starts))
    assert found == [LONG[start : start + 900] for start in starts]


@given(st.data())
def test_any_changed_byte_is_found(path: Path, data: st.DataObject) -> None:
    """Unless it has only bits that fill up the last byte of a compressed block, which change no text."""
    content, edges = written(path, [LONG])
    place = data.draw(st.integers(0, len(content) - 1))
    change = data.draw(st.integers(1, 255))
    damaged = bytes([*content[:place], content[place] ^ change, *content[place + 1 :]])
    message = None
    try:
        found = opened(path, damaged, edges).read(0, len(LONG))
    except PhraseIndexError as error:
        found, message = LONG, str(error)
    assert found == LONG
    assert message is None or re.search(
        rf"'{path}' is damaged: its block \d+ .*restore it from a copy or build", message
    )


def test_blocks_before_and_behind_a_damaged_one_are_read(path: Path) -> None:
    content, edges = written(path, [LONG])
    number = FIRST_BLOCKS + 1
    place = edges[number] + 20
    text = opened(path, content[:place] + b"\0\0\0\0" + content[place + 4 :], edges)
    start, stop = number * BLOCK_BYTES, (number + 1) * BLOCK_BYTES
    assert text.read(0, start) + text.read(stop, len(LONG)) == LONG[:start] + LONG[stop:]
    with pytest.raises(PhraseIndexError, match=f"block {number} "):
        text.read(start - 1, start + 1)


def test_a_block_without_its_end_is_named(path: Path) -> None:
    content, edges = written(path, [b"the end"])
    with pytest.raises(PhraseIndexError, match=r"block 0 cannot be decompressed \(it has no end\)"):
        opened(path, content[:-1], edges).read(0, 7)
