"""Documents as rows."""

import csv
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.errors import DataError
from densephrases.text.documents import Document, Skipped
from densephrases.text.passages import RECORD_BREAK
from densephrases.text.readers.formats import csv_rows as tables
from densephrases.text.readers.formats.csv_rows import read_table


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
    ("content", "text"),
    [
        ("Name;Preis\r\nMüller;1,50\r\nÖzil;2,75\r\n", ["Name: Müller, Preis: 1,50.", "Name: Özil, Preis: 2,75."]),
        ("Ada,1815,London\nAlan,1912,London\n", ["Ada, 1815, London.", "Alan, 1912, London."]),
        ('id,note\n1,"one\ntwo, more"\n2,"say ""hi"""\n', ["id: 1, note: one two, more.", 'id: 2, note: say "hi".']),
        ("sep=;\r\na;b\r\n1,0;2\r\n", ["a: 1,0, b: 2."]),
        ("a\tb\n1\t2, 3\n", ["a: 1, b: 2, 3."]),
        (
            "Report,,\n,,\nWho,What,Units\nA,Saw,5\nB,Saw,7\n",
            ["Report", "Who: A, What: Saw, Units: 5.", "Who: B, What: Saw, Units: 7."],
        ),
        ("a,b,c\n1,2\n1,2,3,4\n\n,,\n", ["a: 1, b: 2.", "a: 1, b: 2, c: 3, 4."]),
        ("Name\nAda\nBob\n", ["Name: Ada.", "Name: Bob."]),
        ("Name,City\n", ["Name, City."]),
        ('a,b\n1,"x\n2,y\n', ["a: 1, b: x 2,y."]),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
def test_rows_without_a_text_column(tmp_path: Path, content: str, text: list[str], encoding: str) -> None:
    (tmp_path / "a.csv").write_bytes(content.encode(encoding))
    (document,) = read_table(tmp_path / "a.csv", "a.csv")
    assert document == Document("a.csv", RECORD_BREAK.join(text), "a")


def test_texts_with_another_delimiter(tmp_path: Path) -> None:
    assert read(tmp_path, "id;text;lang\n1;a, b;en\n") == [Document("1", "a, b", "", {"lang": "en"})]


def test_rows_come_in_documents_of_a_thousand(tmp_path: Path) -> None:
    found = read(tmp_path, "Name,Age\n" + "".join(f"Ann {number},{number}\n" for number in range(1, 2101)))
    assert [item.id for item in found if isinstance(item, Document)] == ["a.csv", "a.csv#1001", "a.csv#2001"]
    last = found[-1]
    assert isinstance(last, Document)
    assert last.text.startswith("Name: Ann 2001, Age: 2001.")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("text,n,n\na,1,2\n", "two columns of the same name"),
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


@pytest.mark.parametrize(("header", "documents", "most"), [("text", 20_000, 2_000_000), ("words", 41, 6_000_000)])
def test_memory_does_not_grow_with_the_file(tmp_path: Path, header: str, documents: int, most: int) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"{header}\n" + ("word " * 200 + "\n") * 20_000)
    tracemalloc.start()
    count = sum(1 for _ in read_table(path, "a"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == documents
    assert peak < most


def test_rows_and_headers_out_of_bounds(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for content, reason in {
        "text" + ",a" * 10_000: "has 10,001 columns; expected at most 10,000",
        "text\n" + "," * 1_000_001: "a row of more than 1,000,000 columns or lines",
        'text\n"' + "\nx" * 1_000_001: "a row of more than 1,000,000 columns or lines",
        "text\n" + "\n" * 100_001: "follows 100,000 blank lines",
        "a" + ",a" * 10_000: "has 10,001 columns; expected at most 10,000",
    }.items():
        path.write_text(content)
        with pytest.raises(DataError, match=reason):
            list(read_table(path, "a"))
