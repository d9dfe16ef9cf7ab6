"""Rows as sentences, and tables as documents."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.text.documents import Document, Skipped
from densephrases.text.passages import RECORD_BREAK, split_passages
from densephrases.text.readers.formats.row_sentences import Table, row_sentence, table_documents, table_text

TABLE = Table("t", "T", "t.csv")


@pytest.mark.parametrize(
    ("names", "row", "sentence"),
    [
        (["Name", "Born"], ["Ada Lovelace", "1815"], "Name: Ada Lovelace, Born: 1815."),
        (["Name", "Born"], ["", "1815"], "Born: 1815."),
        (["Name:", ""], ["Ada", "1815"], "Name: Ada, 1815."),
        (["Name"], ["Ada", "1815"], "Name: Ada, 1815."),
        (["Name", "Born"], ["Ada"], "Name: Ada."),
        ([], ["Ada", "1815"], "Ada, 1815."),
        (["Note"], ["Who is she?"], "Note: Who is she?"),
        (["Name"], [""], ""),
        (["Total"], ["Total"], "Total."),
    ],
)
def test_sentences(names: list[str], row: list[str], sentence: str) -> None:
    assert row_sentence(names, row) == sentence


def test_a_table_in_a_document() -> None:
    assert table_text([["Name", "Age"], ["Ann\nLee", "7"], ["Bob", ""]]) == RECORD_BREAK.join(
        ["Name: Ann Lee, Age: 7.", "Name: Bob."]
    )


def test_two_columns_without_a_header_are_a_record() -> None:
    assert table_text([["Rent", "950"], ["Term", "5 years"], ["Tenant", "A. Berg"]]) == (
        "Rent: 950, Term: 5 years, Tenant: A. Berg."
    )


ROW = st.lists(st.text("ab1. \n\x1e", max_size=30), max_size=4)


@given(st.lists(ROW, max_size=120))
def test_every_row_is_one_passage(rows: list[list[str]]) -> None:
    """Up to the length of a passage, whatever the cells hold."""
    for document in table_documents(rows, TABLE):
        assert isinstance(document, Document)
        passages = [document.text[span.start : span.end] for span in split_passages(document.text)]
        assert passages == [sentence.strip() for sentence in document.text.split(RECORD_BREAK) if sentence.strip()]


def test_bad_rows_are_passed_on() -> None:
    bad = Skipped("t.csv, line 3", "is not CSV")
    assert list(table_documents([["a", "b"], ["1", "2"], bad, ["3", "4"]], TABLE)) == [
        bad,
        Document("t", RECORD_BREAK.join(["a: 1, b: 2.", "a: 3, b: 4."]), "T"),
    ]


def test_a_row_above_the_limit_is_skipped_alone() -> None:
    table = Table("t", "T", "t.csv", limit=100)
    found = list(table_documents([["a", "b"], ["1", "2"], ["x" * 101, "y"], ["3", "4" * 80]], table))
    assert [item for item in found if isinstance(item, Skipped)] == [
        Skipped("t.csv, row 2", "has more than 100 B, the most that a document may have; raise it with --max-document.")
    ]
    assert [item.text for item in found if isinstance(item, Document)] == ["a: 1, b: 2.", f"a: 3, b: {'4' * 80}."]


def test_documents_end_at_their_length_and_come_while_rows_are_read() -> None:
    taken = 0

    def rows() -> Iterator[list[str]]:
        nonlocal taken
        yield ["Number", "Text"]
        for taken in range(5000):
            yield [str(taken), "word " * 1000]

    first = next(iter(table_documents(rows(), TABLE)))
    assert isinstance(first, Document)
    assert 400_000 < len(first.text) <= 500_000
    assert taken < 120
