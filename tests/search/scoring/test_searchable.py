"""The rows of a segment that a search may find, against a list of all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.arrays import owners
from densephrases.search.filtering.filters import Filter
from densephrases.search.scoring import searchable
from densephrases.search.scoring.searchable import exact_candidates, known_terms, searchable_segments
from tests.search.made_up import MemoryIndex, indexes


@given(indexes())
def test_rows_of_matching_documents(index: MemoryIndex) -> None:
    wanted = Filter.from_conditions({"lang": "en"}, None)
    expected = []
    for made, deleted in zip(index.made, index.deleted, strict=True):
        documents = [
            number
            for number, document in enumerate(made.texts)
            if document.metadata["lang"] == "en" and not (deleted is not None and deleted[number])
        ]
        passages = [p for p, document in enumerate(made.passage_documents.tolist()) if document in documents]
        rows = [row for p in passages for row in range(*made.vector_edges[p : p + 2].tolist())]
        expected += [rows] if rows else []
    assert [each.listed_rows().tolist() for each in searchable_segments(index, wanted)] == expected


@given(indexes())
def test_counts_are_those_of_the_rows(index: MemoryIndex) -> None:
    for each in index.searchable():
        rows = each.listed_rows()
        passages = owners(each.segment.vector_edges, rows)
        documents = each.segment.passage_documents[passages]
        assert (each.rows, each.passages) == (len(rows), len(set(passages.tolist())))
        assert each.documents == len(set(documents.tolist()))


@pytest.mark.parametrize("most_counted", [searchable._MOST_COUNTED, 0])
@given(index=indexes(), wanted=st.sampled_from([None, ["0-0"], ["0-0", "1-0", "1-1"], []]))
def test_known_terms_are_those_of_the_allowed_passages(
    index: MemoryIndex, wanted: list[str] | None, most_counted: int
) -> None:
    """Of all passages of segments with some, if none may be counted."""
    chosen = Filter.from_conditions(None, wanted)
    expected: set[int] = set()
    for made, deleted in zip(index.made, index.deleted, strict=True):
        marks = [chosen.matches(d) and not (deleted is not None and deleted[i]) for i, d in enumerate(made.texts)]
        passages = [p for p, document in enumerate(made.passage_documents.tolist()) if marks[document]]
        if not any(made.vector_edges[p] < made.vector_edges[p + 1] for p in passages):
            continue
        if not most_counted and 0 < len(passages) < made.terms.passages:
            passages = list(range(made.terms.passages))
        expected = expected.union(*(made.terms.of_passages[p] for p in passages))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searchable, "_MOST_COUNTED", most_counted)
        found = known_terms(searchable_segments(index, chosen))
    assert set(np.flatnonzero(found).tolist()) == expected


@given(indexes(hide=True))
def test_one_inexact_segment_makes_a_search_inexact(index: MemoryIndex) -> None:
    segments = index.searchable()
    assert exact_candidates(segments) == (not segments)
