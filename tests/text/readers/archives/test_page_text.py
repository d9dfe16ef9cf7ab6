"""Pages inside other files."""

from pathlib import Path

import pytest

from densephrases.errors import DataError
from densephrases.text.readers.archives.page_text import page_text


def test_bytes_and_text() -> None:
    source = "<meta charset=windows-1252><title>T</title><p>Zürich"
    page = page_text(source, Path("a"))
    assert page == page_text(source.encode("cp1252"), Path("a"))
    assert (page.title, page.text) == ("T", "Zürich")


def test_a_slow_page() -> None:
    with pytest.raises(DataError, match=r"'a\.epub' has tags nested too deeply"):
        page_text("<b>" * 100_000, Path("a.epub"))
