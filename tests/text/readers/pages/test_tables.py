"""Rows of tables as sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.text.readers.pages.html import html_page
from densephrases.text.readers.pages.tables import row_sentence


@pytest.mark.parametrize(
    ("rows", "sentences"),
    [
        ("<tr><th>Setting<th>Default<tr><td>port<td>5432", ["Setting: port; Default: 5432."]),
        ("<thead><tr><td>a<td>b<tbody><tr><td>1<td>2.", ["a: 1; b: 2."]),
        ("<tr><td><b>a</b><td><b>b</b><tr><td>1<td>2", ["a: 1; b: 2."]),
        ("<tr><td><th>2001<th>2002<tr><th>Sales<td>5<td>7", ["Sales; 2001: 5; 2002: 7."]),
        ("<tr><th>a<th>b<th>c<tr><td>1<td><td>3", ["a: 1; c: 3."]),
        ("<tr><th>Born<td>1815<tr><th>Died:<td>1852", ["Born: 1815.", "Died: 1852."]),
        ("<tr><td>a<td>b<tr><td>c<td>d", ["a: b.", "c: d."]),
        ("<tr><td>a<td>b<td>c", ["a; b; c."]),
        (
            "<tr><th rowspan=2>Name<th colspan=2>Size<tr><th>min<th>max<tr><td>x<td>1<td>9",
            ["Name: x; Size min: 1; Size max: 9."],
        ),
        ("<tr><th>a<th>b<tr><td rowspan=2>x<td>1<tr><td>2", ["a: x; b: 1.", "a: x; b: 2."]),
        ("<tr><th>a<th>b<tr><td colspan=2>both", ["a: both."]),
        ("<tr><th colspan=2>Title<tr><th>a<th>b<tr><td>1<td>2", ["a: 1; b: 2."]),
        ("<tr><td><td><tr><td>a<td>b", ["a: b."]),
        ("<tr><th>only<th>headers", ["only; headers."]),
        ("<tr><th>a<th>b<tr><td>1<td>2<td>3", ["a: 1; b: 2; 3."]),
        ("<tr><td>one<tr><td>column", ["one", "column"]),
        ("<tr><td colspan=9999>a<td>b", ["a", "b"]),
        ("<tr><td rowspan=x>a<td colspan=-1>b", ["a: b."]),
    ],
)
def test_rows(rows: str, sentences: list[str]) -> None:
    assert html_page(f"<table>{rows}</table>").text.split("\n\n") == sentences


def test_a_cell_alone_in_its_row_may_begin_with_a_name() -> None:
    rows = "<tr><td><p>relkind char</p><p>Its kind.</p><p>Or more.</p><tr><td><p>A sentence.</p><p>Another.</p>"
    assert html_page(f"<table><thead><tr><th>Column</thead>{rows}</table>").text == (
        "relkind char: Its kind.\n\nOr more.\n\nA sentence.\n\nAnother."
    )


def test_a_caption_stands_before_the_rows() -> None:
    assert html_page("<table><caption>Cap<tr><td>a<td>b</table>").text == "Cap\n\na: b."


def test_spans_do_not_multiply_the_text() -> None:
    cell = "<td rowspan=1000>" + "x" * 900
    source = f"<table><tr>{cell * 90}</tr>" + "<tr><td>y</tr>" * 999 + "</table>"
    assert len(html_page(source).text) < 20 * len(source)


@given(st.lists(st.tuples(st.text("ab .:;"), st.text("ab .:;"))))
def test_a_row_is_one_line_that_ends(pairs: list[tuple[str, str]]) -> None:
    sentence = row_sentence(pairs)
    assert sentence.endswith(".") or not any(value for _, value in pairs)
