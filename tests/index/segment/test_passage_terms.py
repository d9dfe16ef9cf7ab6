"""The terms of passages against plain sets of them."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from densephrases.index.files.checked import CheckedArray
from densephrases.index.folder import IndexFolder
from densephrases.index.segment.passage_terms import TERM_ARRAYS, PassageTerms, SegmentTerms, TermWriter
from densephrases.index.settings import IndexSettings
from densephrases.text.documents import Document
from densephrases.text.hashed_terms import TERMS, terms
from densephrases.text.passages import Passage
from tests.index.made_up import HashEncoder, collections, long_text

ENCODER = HashEncoder()
TERM = st.integers(0, 12) | st.sampled_from([255, 256, TERMS - 1])
PASSAGES = st.lists(st.sets(TERM, max_size=12), max_size=8)


def made(passages: Sequence[set[int]]) -> PassageTerms:
    flat = [term for passage in passages for term in sorted(passage)]
    return PassageTerms(np.array(flat, dtype=np.uint16), np.array(list(map(len, passages)), dtype=np.int64))


def written(parts: Sequence[PassageTerms]) -> SegmentTerms:
    arrays: dict[str, list[NDArray[Any]]] = defaultdict(list)
    writer = TermWriter(lambda name, values: arrays[name].append(np.asarray(values).astype(TERM_ARRAYS[name])))
    for part in parts:
        writer.add(part)
    counts = np.frombuffer(writer.finish(), dtype=np.uint8)
    edges, flat = (np.concatenate([*arrays[name], np.zeros(0, kind)]) for name, kind in TERM_ARRAYS.items())
    return SegmentTerms.open(edges, CheckedArray(flat), counts)


@given(PASSAGES, st.lists(st.tuples(st.integers(0, 7), TERM), max_size=30))
def test_which_passages_have_which_terms(passages: list[set[int]], asked: list[tuple[int, int]]) -> None:
    found = written([made(passages)])
    asked = [(passage, term) for passage, term in asked if passage < len(passages)]
    passages_N, terms_N = np.array(asked, dtype=np.int64).reshape(-1, 2).T
    expected = [term in passages[passage] for passage, term in asked]
    assert found.contain(passages_N, terms_N.astype(np.uint16)).tolist() == expected
    assert [int(found.passages_V[t]) for t in range(13)] == [sum(t in p for p in passages) for t in range(13)]


@given(PASSAGES, st.sets(TERM, min_size=1, max_size=3))
def test_passages_with_all_of_some_terms(passages: list[set[int]], wanted: set[int]) -> None:
    found = written([made(passages)]).passages_with(sorted(wanted))
    assert found.tolist() == [number for number, each in enumerate(passages) if each >= wanted]


@given(PASSAGES, st.integers(0, 8))
def test_parts_leave_no_trace(passages: list[set[int]], cut: int) -> None:
    cut = min(cut, len(passages))
    whole, parts = written([made(passages)]), written([made(passages[:cut]), made(passages[cut:])])
    copied = written([whole.of_passages(0, cut), whole.of_passages(cut, len(passages))])
    for other in (parts, copied):
        np.testing.assert_array_equal(other.edges_P, whole.edges_P)
        np.testing.assert_array_equal(other.terms_T[:], whole.terms_T[:])
        np.testing.assert_array_equal(other.passages_V, whole.passages_V)


def test_titles_count_to_every_passage() -> None:
    found = PassageTerms.from_passages([Passage("was born in Warsaw", "Marie Curie"), Passage("", "Marie Curie")])
    assert found.counts_P.tolist() == [4, 2]
    assert set(found.terms_T[:4].tolist()) == terms("Marie Curie, born: Warsaw")
    assert found.terms_T[4:].tolist() == sorted(terms("Curie Marie"))


def check_against_texts(index: IndexFolder) -> None:
    for segment in index.segments:
        expected = [
            terms(f"{segment.record(int(document)).title}\n{segment.passage_text(passage)}")
            for passage, document in enumerate(segment.passage_documents)
        ]
        found = segment.terms.of_passages(0, segment.passages)
        parts = np.split(found.terms_T, np.cumsum(found.counts_P))[:-1]
        assert [set(part.tolist()) for part in parts] == expected
        counts = np.bincount(found.terms_T, minlength=TERMS)
        np.testing.assert_array_equal(segment.terms.passages_V, counts)


@settings(max_examples=15)
@given(collections(6), collections(6), st.data())
def test_as_the_text_says_through_all_changes(
    tmp_path_factory: pytest.TempPathFactory, first: list[Document], second: list[Document], data: st.DataObject
) -> None:
    index = IndexFolder.create(tmp_path_factory.mktemp("index") / "index", IndexSettings.from_encoder(ENCODER, "hash"))
    index.add([*first, Document("a long one", long_text(1))], ENCODER)
    check_against_texts(index)
    index.update(second, ENCODER)
    check_against_texts(index)
    ids = sorted({document.id for document in first + second})
    index.delete(data.draw(st.sets(st.sampled_from(ids))) if ids else [])
    index.optimize()
    check_against_texts(index)
