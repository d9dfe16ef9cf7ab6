"""Inverted lists: what is read is what faiss had, row numbers included, and damage is named before faiss sees it."""

from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from densephrases.errors import PhraseIndexError
from densephrases.index.candidates.ivf_file import (
    CODES_FILE,
    EMPTY_FILE,
    INVERTED_FILES,
    LIST_CENTROIDS_FILE,
    LISTS_FILE,
    list_numbers,
    planes,
    read_inverted,
    write_inverted,
)
from densephrases.index.candidates.ivf_training import build_ivf
from densephrases.index.files.durable import FileEntry
from densephrases.index.kinds import CandidateKind
from densephrases.index.vectors.store import VectorStore
from tests.index.candidates.oracle import contents
from tests.index.made_up import store_of

ROWS = 3001
APPROXIMATE: list[CandidateKind] = ["ivf-pq", "ivf-sq4"]


def serialized(index: Any) -> NDArray[np.uint8]:
    return np.asarray(faiss.serialize_index(index))


@pytest.fixture(scope="module")
def store() -> VectorStore:
    return store_of(np.random.default_rng(0).normal(size=(ROWS, 32)).astype(np.float32), "int8")


@pytest.fixture
def folder(store: VectorStore, tmp_path: Path) -> Path:
    write_inverted(build_ivf(store, "ivf-pq"), tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", APPROXIMATE)
def test_what_is_read_is_what_was_written(kind: CandidateKind, store: VectorStore, tmp_path: Path) -> None:
    index = build_ivf(store, kind)
    expected = serialized(index).copy()
    write_inverted(index, tmp_path)
    found = read_inverted(contents(tmp_path), ROWS, 32)
    assert found.ntotal == ROWS
    assert (serialized(found) == expected).all()


def test_lists_without_rows(tmp_path: Path) -> None:
    """All rows are alike, so that most centres have none."""
    store = store_of(np.ones((1000, 8), dtype=np.float32), "fp16")
    index = build_ivf(store, "ivf-pq")
    expected = serialized(index).copy()
    write_inverted(index, tmp_path)
    assert (serialized(read_inverted(contents(tmp_path), 1000, 8)) == expected).all()


def test_entries_are_those_of_the_files(store: VectorStore, tmp_path: Path) -> None:
    entries = write_inverted(build_ivf(store, "ivf-pq"), tmp_path)
    written = set(INVERTED_FILES) - {LIST_CENTROIDS_FILE}
    assert entries == {name: FileEntry.from_file(tmp_path / name) for name in written}


def test_a_row_takes_the_bits_of_its_list(store: VectorStore, tmp_path: Path) -> None:
    entries = write_inverted(build_ivf(store, "ivf-sq4"), tmp_path)
    assert entries[LISTS_FILE].size == 6 * -(-ROWS // 8)
    assert entries[CODES_FILE].size == ROWS * 16


@given(st.integers(1, 70), st.data())
def test_numbers_of_lists_survive(lists: int, data: st.DataObject) -> None:
    expected = np.array(data.draw(st.lists(st.integers(0, lists - 1), max_size=40)), dtype=np.uint16)
    stored = np.concatenate([np.zeros(0, dtype=np.uint8), *planes(expected, lists)])
    found = list_numbers(stored, len(expected), lists)
    assert found is not None
    assert found.tolist() == expected.tolist()


def damage_start(file: Path) -> None:
    file.write_bytes(b"no index" + file.read_bytes())


def damage_numbers(file: Path) -> None:
    """Some row is then in list 63."""
    file.write_bytes(b"\xff" * file.stat().st_size)


def move_all_rows(file: Path) -> None:
    """All rows are then in the first list, which leaves no room at the ends of others."""
    file.write_bytes(bytes(file.stat().st_size))


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


@pytest.mark.parametrize(
    ("name", "damage", "named"),
    [
        (EMPTY_FILE, damage_start, EMPTY_FILE),
        (LISTS_FILE, cut, LISTS_FILE),
        (LISTS_FILE, damage_numbers, LISTS_FILE),
        (LISTS_FILE, move_all_rows, CODES_FILE),
        (CODES_FILE, cut, CODES_FILE),
    ],
)
def test_damage_is_named(folder: Path, name: str, damage: Any, named: str) -> None:
    damage(folder / name)
    with pytest.raises(PhraseIndexError, match=rf"{named}' cannot be read as part of a candidate index.*damaged"):
        read_inverted(contents(folder), ROWS, 32)
