"""The rows of a segment that a search may find, against a list of all."""

from hypothesis import given

from densephrases.arrays import owners
from densephrases.search.filtering.filters import Filter
from densephrases.search.scoring.searchable import exact_candidates, searchable_segments
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


@given(indexes(hide=True))
def test_one_inexact_segment_makes_a_search_inexact(index: MemoryIndex) -> None:
    segments = index.searchable()
    assert exact_candidates(segments) == (not segments)
