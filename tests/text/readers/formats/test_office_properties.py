"""Titles and metadata of office documents."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from densephrases.text.readers.formats.office_properties import title_and_metadata


@pytest.mark.parametrize(
    ("given", "heading", "title"),
    [
        ("A\n title ", "Heading", "A title"),
        ("", "Heading", "Heading"),
        ("PowerPoint Presentation", "Heading", "Heading"),
        ("Microsoft Word - a.doc", "", "stem"),
        (None, "", "stem"),
    ],
)
def test_titles(given: str | None, heading: str, title: str) -> None:
    core = SimpleNamespace(title=given, author=" Ada ", modified=datetime(2024, 5, 3, 12, tzinfo=UTC))
    assert title_and_metadata(core, heading, "stem") == (title, {"author": "Ada", "modified": "2024-05-03"})


def test_nothing_is_known() -> None:
    assert title_and_metadata(SimpleNamespace(title="", author=None, modified=None), "", "stem") == ("stem", {})
