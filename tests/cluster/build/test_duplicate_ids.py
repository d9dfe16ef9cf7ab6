"""Ids that occur twice are told from ids that only share a hash."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.cluster.build.duplicate_ids import Hashed, refuse_duplicates
from densephrases.errors import DataError
from densephrases.index.segment.document_record import DocumentRecord
from densephrases.text.documents import SourceFile


def compare(segments: list[list[str]]) -> list[Hashed]:
    """With a hash of the first letter; returns what was read."""
    read: list[Hashed] = []

    def record(place: Hashed) -> DocumentRecord:
        read.append(place)
        identifier = segments[place.segment][place.document]
        return DocumentRecord(identifier, "", {}, file=SourceFile("root", f"{place.segment}.txt", 0, 0))

    refuse_duplicates([np.array([ord(each[0]) for each in ids], dtype=np.uint64) for ids in segments], record)
    return read


def test_none() -> None:
    assert compare([["ab", "ba"], [], ["ca"]]) == []
    assert compare([]) == []


def test_equal_hashes_of_different_ids() -> None:
    assert compare([["ab", "ba"], ["ac"]]) == [Hashed(0, 0), Hashed(1, 0)]


@given(st.lists(st.lists(st.text("ab", min_size=1, max_size=3), max_size=5), max_size=5))
def test_as_by_comparing_all(segments: list[list[str]]) -> None:
    ids = [each for segment in segments for each in segment]
    twice = next((each for number, each in enumerate(ids) if each in ids[:number]), None)
    if twice is None:
        compare(segments)
        return
    with pytest.raises(DataError, match=rf"Two documents have the id '{twice}' \("):
        compare(segments)


def test_both_files_are_named() -> None:
    with pytest.raises(DataError, match=r"the id 'a' \(in '0.txt' and in '2.txt'\); every"):
        compare([["a"], ["b"], ["a"]])
    with pytest.raises(DataError, match=r"the id 'a' \(both in '0.txt'\); every"):
        compare([["a", "a"]])
