"""Passages: properties over odd text, and where hand-written texts are cut and joined."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from densephrases.text.documents import Document
from densephrases.text.layout import Layout, Section
from densephrases.text.passages import (
    LONGEST,
    SHORTEST,
    Passage,
    document_passages,
    passage_of,
    section_context,
    split_passages,
    without_number,
)
from densephrases.text.sentences import TextSpan

WORDS = [
    "a",
    "Word.",
    "Two words",
    "a" * 30,
    "\u4e2d\u6587\u3002",
    "\u05d0\u05d1",
    "\U0001d538",
    "e\u0301\u0302",
    "\u200d",
]
WORDS += ["## Title", "- item", "\u200b", "\ufeff", "\u200f", "\x00", "Then it ended! "]
SPACES = [" ", " " * 9, "\t", "\n", "\r\n", "\r", "\n\n", "\r\n \r\n", "\u00a0", "\u2028", "\u2029", "\x0c", "\x85"]
ODD_TEXT = st.lists(st.sampled_from(WORDS + SPACES), max_size=60).map("".join) | st.text(max_size=80)


def pieces(text: str, shortest: int = SHORTEST, longest: int = LONGEST) -> list[str]:
    return [text[span.start : span.end] for span in split_passages(text, shortest=shortest, longest=longest)]


def assert_passages(text: str, passages: list[TextSpan], shortest: int, longest: int) -> None:
    """All that the docstring of split_passages promises."""
    borders = [0, *(border for passage in passages for border in (passage.start, passage.end)), len(text)]
    assert borders == sorted(borders)
    assert all(not text[end:start].strip() for end, start in zip(borders[::2], borders[1::2], strict=True))
    assert all(text[p.start : p.end] == text[p.start : p.end].strip() != "" for p in passages)
    assert all(passage.length <= longest for passage in passages)
    for one, other in pairwise(passages):
        assert min(one.length, other.length) >= shortest or other.end - one.start > longest


@given(ODD_TEXT, st.integers(1, 40), st.integers(0, 40))
@example("a" + " " * 50 + "b" + " " * 50 + "c", 10, 0)
@example("a" * 5 + "\n\n" + "b" * 20, 10, 0)
def test_every_character_lies_in_one_passage(text: str, shortest: int, more: int) -> None:
    longest = 2 * shortest + more
    passages = split_passages(text, shortest=shortest, longest=longest)
    assert_passages(text, passages, shortest, longest)
    assert passages == split_passages(text, shortest=shortest, longest=longest)


@given(ODD_TEXT)
def test_short_text_is_one_passage(text: str) -> None:
    text = text[: LONGEST - SHORTEST]
    assert pieces(text) == ([text.strip()] if text.strip() else [])


@pytest.mark.parametrize(
    "text",
    [
        "x" * 200_000,
        "e" + "\u0301" * 200_000,
        "\u200d" * 200_000,
        "word " * 40_000,
        "A short one. " * 20_000,
        "Hm.\n\n" * 50_000,
        "line\n" * 50_000,
        "Line.\r\n" * 50_000,
        "a" + " " * 200_000 + "b",
        "\n" * 200_000 + "b",
        ("a" + " " * 4000) * 50,
        ("x" * 2600 + "\n\nTitle\n\n") * 50,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_giant_texts(text: str) -> None:
    assert_passages(text, split_passages(text), SHORTEST, LONGEST)


@pytest.mark.parametrize("text", ["", " ", "\r\n\t\u2029\u3000"])
def test_no_passage_in_space(text: str) -> None:
    assert split_passages(text) == []


@pytest.mark.parametrize("gap", ["\n\n", "\n\n\n", "\r\n\r\n", "\r\r", "\n \t\n", "\n\u00a0\n", "\u2029", "\n\r\n"])
def test_blank_lines_part_paragraphs(gap: str) -> None:
    assert pieces(f"One is\nhere.{gap}Two is\r\nthere.", 1) == ["One is\nhere.", "Two is\r\nthere."]


def test_short_neighbours_are_joined() -> None:
    text = "Aaa.\n\nBbb.\n\nCcc.\n\nDdddddddddddd.\n\nE."
    assert pieces(text, 10) == ["Aaa.\n\nBbb.", "Ccc.\n\nDdddddddddddd.\n\nE."]


def test_heading_goes_to_the_paragraph_below() -> None:
    above, below = "Above it. " * 60, "Below it. " * 60
    text = f"{above}\n\nA heading\n\n{below}\n\n"
    assert pieces(text) == [above.strip(), f"A heading\n\n{below.strip()}"]
    assert pieces("Up here.\n\nHeading\n\nDown.\n\nEnd of it.", 10) == ["Up here.\n\nHeading\n\nDown.", "End of it."]


def test_a_list_does_not_grow_for_ever() -> None:
    *most, last = pieces("An item\n\n" * 1000)
    assert max(map(len, most)) < SHORTEST + 10
    assert len(last) < 2 * SHORTEST


def test_short_paragraph_before_a_giant_one() -> None:
    title, giant = "A heading", "It goes on here. " * 1000
    first, *rest = pieces(f"{title}\n\n{giant}")
    assert first.startswith(f"{title}\n\nIt goes")
    assert rest


def test_giant_paragraphs_are_cut_evenly_at_sentence_ends() -> None:
    found = pieces("It goes on here, Mr. Smith. " * 300)
    assert all(piece.endswith("Smith.") and piece.startswith("It") for piece in found)
    assert max(map(len, found)) - min(map(len, found)) < 100


def test_without_sentences_cut_at_spaces() -> None:
    assert set(" ".join(pieces("word, " * 2000)).split(" ")) == {"word,"}


def test_without_spaces_cut_between_characters() -> None:
    found = pieces("e\u0301\u0302" * 3000)
    assert len(found) == 4
    assert all(piece.startswith("e") for piece in found)
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    assert all(piece.startswith(family) and piece.endswith(family) for piece in pieces(family * 1000))


LINE = "A line of text that is as long as lines of text often are, wrapped by"
LONG = "This paragraph is one line, and longer than what is wrapped by hand; " * 4 + "it ends."


def test_wrapped_lines_are_one_paragraph() -> None:
    wrapped = "\n".join([LINE] * 20)
    assert pieces(wrapped, 100) == [wrapped]


def test_wrapped_lines_with_one_long_link() -> None:
    wrapped = "\n".join([LINE] * 10 + ["https://example.org/" + "x" * 300] + [LINE] * 10)
    assert pieces(wrapped, 100) == [wrapped]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_long_lines_are_paragraphs(newline: str) -> None:
    assert pieces(newline.join([LONG] * 3), 100) == [LONG] * 3
    assert pieces(newline.join(["Heading", LONG] * 2), 100) == [f"Heading{newline}{LONG}"] * 2


def test_long_lines_are_paragraphs_after_a_blank_line_too() -> None:
    assert pieces(f"{LONG}\n\n{LONG}\n{LONG}", 100) == [LONG] * 3


def test_sentences_in_lines_are_paragraphs_only_without_blank_lines() -> None:
    lines = "\n".join([f"{LINE} hand."] * 4)
    assert pieces(lines, 50) == [f"{LINE} hand."] * 4
    assert pieces(f"{lines}\n\n{lines}", 50) == [lines] * 2


@pytest.mark.parametrize(("shortest", "longest"), [(0, 10), (6, 11), (-1, 5)])
def test_impossible_lengths(shortest: int, longest: int) -> None:
    with pytest.raises(ValueError, match=f"shortest={shortest} and longest={longest}"):
        split_passages("text", shortest=shortest, longest=longest)


def test_a_heading_begins_a_passage_unless_the_one_before_is_short() -> None:
    body = "A sentence of some words. " * 12  # 312 characters
    text = f"One\n\n{body.strip()}\n\nWhat is it?\n\n{body.strip()}\n\nThree\n\nShort."
    starts = [text.index(name) for name in ("One", "What is it?", "Three")]
    found = [text[span.start : span.end].split("\n")[0] for span in split_passages(text, headings=set(starts))]
    assert found == ["One", "What is it?"]
    assert len(split_passages(text)) == 1


def test_passages_have_the_headings_above_them_that_they_do_not_say() -> None:
    body = "A sentence of some words. " * 30
    text = f"Memory\n\n{body}\n\n1.2. Disk\n\n{body}\n\n{body}"
    layout = Layout((Section(0, 6, 1, "Memory"), Section(text.index("1.2"), text.index("Disk") + 4, 2, "1.2. Disk")))
    document = Document("a", text, "Manual", layout=layout)
    passages = [passage_of(document, span) for span in document_passages(document)]
    assert [(each.text.split()[0], each.section) for each in passages] == [
        ("Memory", ""),
        ("1.2.", "Memory"),
        ("A", "Disk, Memory"),
    ]
    assert passages[0] == Passage(text[: len(passages[0].text)], "Manual")


@given(ODD_TEXT, st.sets(st.integers(0, 80)))
def test_headings_cut_nothing_off(text: str, headings: set[int]) -> None:
    passages = split_passages(text, shortest=8, longest=20, headings=headings)
    whole = "".join("".join(text[span.start : span.end].split()) for span in passages)
    assert whole == "".join(text.split())
    assert all(span.length <= 20 for span in passages)


@pytest.mark.parametrize(
    ("heading", "text"),
    [
        ("20.4. Resource Consumption", "Resource Consumption"),
        ("19.1 Basics", "Basics"),
        ("Chapter 3. Types", "Types"),
        ("A.1. Codes", "Codes"),
        ("3 things", "3 things"),
        ("1984. A novel", "1984. A novel"),
        ("2.", "2."),
        ("", ""),
    ],
)
def test_numbers_of_headings(heading: str, text: str) -> None:
    assert without_number(heading) == text


def test_the_title_is_not_repeated_in_the_context() -> None:
    assert section_context(["2. Memory", "Buffers"], "Memory") == "Buffers"
