"""Sections and pages of documents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.text.layout import Layout, Section

TEXT = "One a Two b Three c Four d"
LAYOUT = Layout(
    (
        Section(0, 3, 1, "One"),
        Section(6, 9, 3, "Two"),
        Section(12, 17, 7, "Three"),
        Section(18, 18, 7, ""),
        Section(20, 24, 2, "Four"),
    ),
    (0, 6, 6, 20),
)


@pytest.mark.parametrize(
    ("position", "path"),
    [(4, ["One"]), (10, ["One", "Two"]), (14, ["One", "Two", "Three"]), (18, ["One", "Two"]), (25, ["One", "Four"])],
)
def test_paths(position: int, path: list[str]) -> None:
    assert LAYOUT.path(position) == path


def test_a_passage_that_begins_with_a_heading_says_it_itself() -> None:
    assert LAYOUT.path_before(6) == ["One"]
    assert LAYOUT.path_before(7) == ["One", "Two"]
    assert LAYOUT.path_before(20) == ["One"]
    assert Layout().path_before(3) == []


def test_terms_are_no_headings() -> None:
    assert list(LAYOUT.headings(0, len(TEXT))) == [(0, 3), (6, 9), (20, 24)]
    assert list(LAYOUT.headings(2, 7)) == [(0, 3), (6, 9)]
    assert list(LAYOUT.headings(3, 6)) == []
    assert list(LAYOUT.headings(9, 20)) == []


def test_pages() -> None:
    assert [LAYOUT.page(place) for place in (0, 5, 6, 19, 20, 99)] == [1, 1, 3, 3, 4, 4]
    assert LAYOUT.page_span(1, 26) == (0, 6)
    assert LAYOUT.page_span(2, 26) == (6, 6)
    assert LAYOUT.page_span(4, 26) == (20, 26)
    assert Layout().page(3) is None


def test_json() -> None:
    assert Layout.from_json(LAYOUT.to_json()) == LAYOUT
    assert Layout().to_json() == {}
    assert not Layout()


@pytest.mark.parametrize(
    "values",
    [
        {"sections": [[0, 1]]},
        {"sections": [[5, 6, 1, "a"], [0, 1, 1, "b"]]},
        {"pages": [3, 1]},
        {"pages": ["x"]},
        {"sections": [["0", 1, 1, "a"]]},
        {"sections": 5},
    ],
)
def test_what_is_no_layout(values: dict[str, object]) -> None:
    with pytest.raises((TypeError, ValueError)):
        Layout.from_json(values)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 8))), st.integers(0, 40))
def test_paths_as_a_slow_walk_finds_them(steps: list[tuple[int, int]], position: int) -> None:
    sections, start = [], 0
    for number, (step, level) in enumerate(steps):
        start += step
        sections.append(Section(start, start + 1, level, str(number)))
    opened: list[Section] = []
    for section in sections:
        if section.start <= position:
            opened = [each for each in opened if each.level < section.level] + [section]
    assert Layout(tuple(sections)).path(position) == [section.name for section in opened]
