"""Documents as rows."""

import csv
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.errors import DataError
from densephrases.text.documents import Document, Skipped
from densephrases.text.readers import csv_rows as tables
from densephrases.text.readers.csv_rows import read_table


def read(folder: Path, content: str, name: str = "a.csv") -> list[Document | Skipped]:
    path = folder / name
    path.write_bytes(content.encode())
    return list(read_table(path, name))


def test_columns(tmp_path: Path) -> None:
    content = '\ufefflang,text,id,title\r\nen,"a, ""b""\r\nc",x,T\r\n\r\nde,d,,\r\n'
    assert read(tmp_path, content) == [
        Document("x", 'a, "b"\r\nc', "T", {"lang": "en"}),
        Document("a.csv#2", "d", "", {"lang": "de"}),
    ]


def test_tabs(tmp_path: Path) -> None:
    assert read(tmp_path, "id\ttext\n1\ta, b\n", "a.tsv") == [Document("1", "a, b")]


def test_a_long_field(tmp_path: Path) -> None:
    text = "x" * 500_000
    assert read(tmp_path, f"text\n{text}\n") == [Document("a.csv#1", text)]


@pytest.mark.parametrize("content", ["", "\n\n", "text\n"])
def test_nothing(tmp_path: Path, content: str) -> None:
    assert read(tmp_path, content) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,body\n1,a\n", "has the columns id, body; expected a header with a column 'text'"),
        ("text,n,n\na,1,2\n", "two columns of the same name"),
        ('"text"x,id\na,1\n', "line 1' is not CSV"),
    ],
)
def test_bad_headers(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(tmp_path, content)


@pytest.mark.parametrize(
    ("row", "line", "reason"),
    [
        ("1,a,more", 3, "has 3 columns, but the header has 2."),
        ("1", 3, "has 1 columns, but the header has 2."),
        ('1,"a"b', 3, "is not CSV"),
    ],
)
def test_a_bad_row_is_skipped_alone(tmp_path: Path, row: str, line: int, reason: str) -> None:
    first, skipped, last = read(tmp_path, f"id,text\n0,z\n{row}\n2,b\n")
    assert isinstance(skipped, Skipped)
    assert skipped.place == f"{tmp_path / 'a.csv'}, line {line}"
    assert reason in skipped.reason
    assert (first, last) == (Document("0", "z"), Document("2", "b"))


def test_a_quote_that_is_never_closed(tmp_path: Path) -> None:
    first, skipped = read(tmp_path, 'id,text\n0,z\n1,"a\n2,b\n')
    assert first == Document("0", "z")
    assert isinstance(skipped, Skipped)


def test_a_quote_that_is_never_closed_swallows_no_more_than_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = csv.field_size_limit()
    monkeypatch.setattr(tables, "_LONGEST", 1000)
    try:
        items = read(tmp_path, 'id,text\n1,"a\n' + "x" * 2000 + "\n2,b\n")
    finally:
        csv.field_size_limit(before)
    assert items[-1] == Document(str(2), "b")
    assert isinstance(items[0], Skipped)


ANY_TEXT = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from('\r\n\t",\u2028\x85'))).map(
    lambda text: text.replace("\0", "")
)


@given(st.lists(st.tuples(ANY_TEXT, ANY_TEXT, ANY_TEXT), max_size=4), st.sampled_from([".csv", ".tsv"]))
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]], suffix: str) -> None:
    path = tmp_path_factory.mktemp("round") / f"a{suffix}"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t" if suffix == ".tsv" else ",")
        writer.writerow(["id", "title", "text", "note"])
        writer.writerows([number, *row] for number, row in enumerate(rows))
    expected = [Document(str(number), text, title, {"note": note}) for number, (title, text, note) in enumerate(rows)]
    assert list(read_table(path, "a")) == expected


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text\n" + ("word " * 200 + "\n") * 20_000)
    tracemalloc.start()
    count = sum(1 for _ in read_table(path, "a"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 20_000
    assert peak < 2_000_000


def test_rows_and_headers_out_of_bounds(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for content, reason in {
        "text" + ",a" * 10_000: "has 10,001 columns; expected at most 10,000",
        "text\n" + "," * 1_000_001: "a row of more than 1,000,000 columns or lines",
        'text\n"' + "\nx" * 1_000_001: "a row of more than 1,000,000 columns or lines",
        "text\n" + "\n" * 100_001: "follows 100,000 blank lines",
    }.items():
        path.write_text(content)
        with pytest.raises(DataError, match=reason):
            list(read_table(path, "a"))
