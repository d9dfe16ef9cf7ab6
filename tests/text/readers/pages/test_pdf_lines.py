"""Lines of PDF pages to paragraphs."""

from collections import Counter

import pytest

from densephrases.text.readers.pages.pdf_lines import (
    HYPHEN,
    Line,
    body_size,
    heading_levels,
    paragraphs,
    unbroken,
    with_words_joined,
    without_repetitions,
    words_of,
)


@pytest.mark.parametrize(
    ("text", "elsewhere", "expected"),
    [
        (f"a build{HYPHEN}ing", "", "a building"),
        (f"a well{HYPHEN}known man", "", "a well-known man"),
        (f"the S{HYPHEN}Plus system", "", "the S-Plus system"),
        (f"a read{HYPHEN}only file", "a read-only disk", "a read-only file"),
        (f"a self{HYPHEN}ish man", "selfish", "a selfish man"),
        (f"day-to{HYPHEN}day", "", "day-to-day"),
        (f"{HYPHEN} alone", "", "- alone"),
        (f"19{HYPHEN}20", "", "19-20"),
    ],
)
def test_hyphens(text: str, elsewhere: str, expected: str) -> None:
    assert unbroken(text, words_of([[Line(elsewhere)]])) == expected


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["a build-", "ing here"], "a building here"),
        (["a well-", "known man"], "a well-known man"),
        (["ends with -", "so"], "ends with -\nso"),
        (["a build-", "in-", "side"], "a buildinside"),
        (["the last-"], "the last-"),
        (["Jan-", "1970"], "Jan-1970"),
    ],
)
def test_words_over_two_lines(lines: list[str], text: str) -> None:
    found = "".join(gap + part for gap, part in with_words_joined([Line(line) for line in lines], Counter()))
    assert found.strip() == text


def test_a_page_of_a_manual() -> None:
    lines = [
        Line("Memory", 10, 700, 16),
        Line("It is fast,", 10, 670, 10),
        Line("and large.", 10, 658, 10),
        Line("An indented paragraph", 30, 646, 10),
        Line("that ends.", 10, 634, 10),
        Line("After a gap.", 10, 610, 10),
        Line("next column goes on", 300, 670, 10),
        Line("here.", 300, 658, 10),
        Line("Another.", 300, 400, 10),
    ]
    assert [[line.text for line in each] for each in paragraphs(lines)] == [
        ["Memory"],
        ["It is fast,", "and large."],
        ["An indented paragraph", "that ends."],
        ["After a gap."],
        ["next column goes on", "here."],
        ["Another."],
    ]
    assert body_size([lines]) == 10
    level = heading_levels([lines], 10)
    assert [level(each) for each in paragraphs(lines)] == [1, 0, 0, 0, 0, 0]
    assert paragraphs([]) == []


def test_what_repeats_at_the_edge_of_near_pages_goes_and_nothing_else() -> None:
    pages = [[Line("Head", 0, 800), Line("abde"[n], 0, 700), Line(f"{n + 5}", 0, 10)] for n in range(4)]
    pages.append([Line("Head", 0, 300), Line("1999", 0, 10)])
    kept = [[line.text for line in lines] for lines in without_repetitions(pages)]
    assert kept == [["a"], ["b"], ["d"], ["e"], ["Head", "1999"]]
    assert without_repetitions([]) == []
