"""Which words of a question are identifiers, where they stand, and under which heading."""

import pytest

from densephrases.search.query.identifier_words import (
    heading_above,
    identifiers_of,
    is_heading,
    paragraph_around,
    whole_identifier,
)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("What is the default value of max_parallel_workers_per_gather?", ["max_parallel_workers_per_gather"]),
        ("what does --depth do in git clone", ["--depth"]),
        ("which versions does CVE-2024-3094 affect", ["CVE-2024-3094"]),
        ("what does \u00a7 12a say", ["\u00a7 12a"]),
        ("what does os.path.join return?", ["os.path.join"]),
        ('when does "connection refused" appear', ["connection refused"]),
        ("`git gc` and pack.threads", ["git gc", "pack.threads"]),
        ("set -x meaning", ["-x"]),
        ("when was PyObject_Call added", ["PyObject_Call"]),
        ("who won the 34th cup in the 1980s", []),
        ("what is the well-known port of the U.S. server", []),
        ("When was Python 4 released?", []),
    ],
)
def test_identifiers(question: str, found: list[str]) -> None:
    assert list(identifiers_of(question)) == found


@pytest.mark.parametrize(
    ("identifier", "text", "stands"),
    [
        ("--depth", "use --depth=1", True),
        ("--depth", "use --depth-first", False),
        ("max_wal_size", "MAX_WAL_SIZE", True),
        ("CVE-2024-3094", "cve-2024-3094", False),
        ("\u00a7 12a", "see \u00a7\u00a012a.", True),
        ("\u00a7 12", "see \u00a7 12a.", False),
        ("disk full", "disk\nfull", True),
    ],
)
def test_only_the_whole_identifier_is_found(identifier: str, text: str, stands: bool) -> None:
    assert (whole_identifier(identifier).search(text) is not None) == stands


def test_headings_are_short_lines_that_end_no_sentence() -> None:
    assert is_heading("max_wal_size (integer)")
    assert not is_heading("It is one.")
    assert not is_heading("a\nb")
    assert not is_heading("word " * 50)
    assert heading_above("A\n\nB (x)\n\nIt is one.") == "B (x)"
    assert heading_above("It is one.") is None


def test_paragraphs_are_between_blank_lines() -> None:
    text = "one\n\ntwo\nthree \n \n four"
    start = text.index("three")
    first, last = paragraph_around(text, start, start + 5)
    assert text[first:last] == "two\nthree"
    assert paragraph_around("one", 0, 1) == (0, 3)
