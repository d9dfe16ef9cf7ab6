"""Filters by the index of metadata against reading every record, through all that may happen to an index."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from densephrases.index.folder import IndexFolder
from densephrases.index.segment.metadata_index import METADATA_ARRAYS, MetadataIndex, MetadataWriter
from densephrases.index.segment.reader import Segment
from densephrases.index.settings import IndexSettings
from densephrases.search.filtering.filters import Filter
from densephrases.search.scoring.searchable import allowed_documents
from densephrases.text.documents import Document
from densephrases.text.readers.jsonl import read_json_lines
from tests.index.made_up import HashEncoder

FORMER = Path(__file__).parents[2] / "fixtures" / "v0_1"
ENCODER = HashEncoder()
TEXTS = st.sampled_from(["", "en", "True", "true", "1", "1.0", "2", "\U0001f600", "a\0b", "b", "é"])
PLAIN = TEXTS | st.booleans() | st.integers(-1, 2) | st.sampled_from([1.0, 2.0, 2.5, 1e300]) | st.none()
VALUES = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=2))
KEYS = st.sampled_from(["lang", "year", "", "a", "a\0"])
METADATA = st.dictionaries(KEYS, VALUES, max_size=4)
WANTED = TEXTS | st.booleans() | st.integers(-1, 2) | st.sampled_from([1.0, 2.5])
FILTERS = st.builds(
    Filter.from_conditions,
    st.none() | st.dictionaries(KEYS | st.just("missing"), WANTED | st.lists(WANTED, min_size=1), max_size=2),
    st.none() | st.lists(st.sampled_from([f"d{number}" for number in range(9)]), max_size=4),
)


def documents(first: int, several: Sequence[dict[str, Any]]) -> list[Document]:
    return [Document(f"d{first + place}", "the city", "", metadata) for place, metadata in enumerate(several)]


def brute_force(segment: Segment, wanted: Filter, deleted: Any) -> list[bool]:
    gone = np.zeros(segment.documents, dtype=bool) if deleted is None else deleted
    return [wanted.matches(segment.record(number)) and not gone[number] for number in range(segment.documents)]


def assert_filters(index: IndexFolder, filters: Sequence[Filter]) -> None:
    for segment, deleted in zip(index.segments, index.deleted, strict=True):
        assert segment.metadata_index is not None
        for wanted in filters:
            allowed = allowed_documents(segment, wanted, deleted)
            found = [True] * segment.documents if allowed is None else allowed.tolist()
            assert found == brute_force(segment, wanted, deleted)


@settings(max_examples=60)
@given(
    st.lists(METADATA, min_size=1, max_size=4),
    st.lists(METADATA, min_size=1, max_size=3),
    METADATA,
    st.lists(FILTERS, min_size=3, max_size=6),
)
def test_like_reading_every_record(
    first: list[dict[str, Any]], more: list[dict[str, Any]], changed: dict[str, Any], filters: list[Filter]
) -> None:
    with TemporaryDirectory() as place:
        chosen = IndexSettings.from_encoder(ENCODER, "hash", "int8")
        index = IndexFolder.create(Path(place) / "index", chosen, None)
        index.add(documents(0, first), ENCODER)
        assert_filters(index, filters)
        index.add(documents(4, more), ENCODER)
        index.update([Document("d0", "the river", "", changed)], ENCODER)
        assert_filters(index, filters)
        index.delete(["d4"])
        assert_filters(index, filters)
        index.optimize()
        assert_filters(IndexFolder.open(index.folder), filters)
        left = [segment.record(number) for segment in index.segments for number in range(segment.documents)]
        again = IndexFolder.create(Path(place) / "again", chosen, None)
        again.add([Document(record.id, "the city", "", record.metadata) for record in left], ENCODER)
        assert array_bytes(again) == array_bytes(index)  # however the index came to hold them


def array_bytes(index: IndexFolder) -> list[bytes]:
    assert len(index.segments) <= 1
    return [segment.array(name).tobytes() for segment in index.segments for name in METADATA_ARRAYS]


@pytest.mark.parametrize("name", ["index-int8"])
def test_segments_of_earlier_versions(name: str, tmp_path: Path) -> None:
    """Their records are read, until a merge gives them an index."""
    shutil.copytree(FORMER / name, tmp_path / name)
    index = IndexFolder.open(tmp_path / name)
    known = [d for d in read_json_lines(FORMER / "documents.jsonl", "documents") if isinstance(d, Document)]
    pairs = [(key, value) for document in known for key, value in document.metadata.items()]
    filters = [Filter.from_conditions({key: value}, None) for key, value in pairs if isinstance(value, str | int)]
    filters += [Filter.from_conditions({key: "no"}, ["short"]) for key, _ in pairs[:1]]
    assert filters
    for _ in ("before", "after a merge"):
        for segment, deleted in zip(index.segments, index.deleted, strict=True):
            for wanted in filters:
                allowed = allowed_documents(segment, wanted, deleted)
                assert allowed is not None
                assert allowed.tolist() == brute_force(segment, wanted, deleted)
        if index.segments[0].metadata_index is None:
            index.delete(["short"])
            index.optimize()
    assert all(segment.metadata_index is not None for segment in index.segments)


def test_no_record_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = IndexFolder.create(tmp_path, IndexSettings.from_encoder(ENCODER, "hash", "int8"), None)
    index.add(documents(0, [{"lang": "en"}, {"lang": ["de", "en"]}, {}]), ENCODER)
    monkeypatch.setattr(Segment, "record", None)
    (segment,) = index.segments
    allowed = allowed_documents(segment, Filter.from_conditions({"lang": "en"}, None), None)
    assert allowed is not None
    assert allowed.tolist() == [True, True, False]


def test_documents_without_metadata_take_no_bytes(tmp_path: Path) -> None:
    index = IndexFolder.create(tmp_path, IndexSettings.from_encoder(ENCODER, "hash", "int8"), None)
    index.add(documents(0, [{}] * 5), ENCODER)
    assert index.disk_usage().purposes["metadata"] == 0
    index.add(documents(5, [{"lang": "en", "tags": ["a", "b"]}, {"lang": "en"}]), ENCODER)
    assert index.disk_usage().purposes["metadata"] == 3 * (16 + 4) + 4 * 4


def test_half_a_digest_in_common_is_not_enough() -> None:
    written: dict[str, Any] = {}
    writer = MetadataWriter(written.__setitem__)
    writer.add([b'["d0","",{"a":"x"}]', b'["d1","",{}]', b'["d2","",{"a":["y","x"]}]'])
    writer.finish()
    arrays = {name: np.asarray(values).astype(METADATA_ARRAYS[name]) for name, values in written.items()}
    found = MetadataIndex.open(arrays.__getitem__)
    assert found.documents_with("a", ["x"]).tolist() == [0, 2]
    assert found.documents_with("a", ["y"]).tolist() == [2]
    assert found.documents_with("ax", [""]).tolist() == []
    arrays["metadata_digests"][1::2] += 1
    assert MetadataIndex.open(arrays.__getitem__).documents_with("a", ["x", "y"]).tolist() == []
