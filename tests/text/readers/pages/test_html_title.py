"""Titles without the name of the site."""

import pytest

from densephrases.text.readers.pages.html_title import page_title


@pytest.mark.parametrize(
    ("title", "heading", "site", "expected"),
    [
        ("enum \u2014 Support \u2014 Python 3.11 documentation", "enum \u2014 Support", "", "enum \u2014 Support"),
        ("19.4. Memory \u2014 PostgreSQL 15 documentation", "19.4. Memory", "", "19.4. Memory"),
        ("Memory | PostgreSQL", "19.4. Memory", "", "Memory"),
        ("PostgreSQL: Documentation: 15: 19.4. Memory", "19.4. Memory", "", "19.4. Memory"),
        ("The Site | memory", "Memory", "", "memory"),
        ("Memory - The Site", "Another heading", "The Site", "Memory"),
        ("The Site: Memory", "", "the site", "Memory"),
        ("Memory - The Site", "Another heading", "", "Memory - The Site"),
        ("Memory-mapped files", "Memory", "", "Memory-mapped files"),
        ("Memory", "Memory", "Memory", "Memory"),
        ("", " A\n heading", "", "A heading"),
        ("", "", "x", ""),
    ],
)
def test_titles(title: str, heading: str, site: str, expected: str) -> None:
    assert page_title(title, heading, site) == expected
