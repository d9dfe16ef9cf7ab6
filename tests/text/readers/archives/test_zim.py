"""ZIM archives, written for the test."""

import sys
from pathlib import Path
from typing import Any

import pytest

from densephrases.errors import DataError, MissingExtraError
from densephrases.text.documents import Document, Skipped
from densephrases.text.readers.archives.zim import read_zim

PAGE = (
    "<html><head><meta charset=utf-8><title>Inner</title></head><body><p>Zürich lies on the Limmat.</p></body></html>"
)
WITHOUT_LIBZIM = "libzim is not installed: it is under the GPL, and only the extra 'zim' has it"


def archive(path: Path, capfd: pytest.CaptureFixture[str]) -> Path:
    """With a page, a long page, a page without a title, a style sheet and a redirect."""
    writer = pytest.importorskip("libzim.writer", reason=WITHOUT_LIBZIM)

    class Item(writer.Item):  # type: ignore[name-defined, misc]
        def __init__(self, place: str, title: str, content: str, kind: str) -> None:
            super().__init__()
            self._place, self._title, self._content, self._kind = place, title, content, kind

        def get_path(self) -> str:
            return self._place

        def get_title(self) -> str:
            return self._title

        def get_mimetype(self) -> str:
            return self._kind

        def get_contentprovider(self) -> Any:
            return writer.StringProvider(self._content)

        def get_hints(self) -> dict[Any, Any]:
            return {writer.Hint.FRONT_ARTICLE: True}

    with writer.Creator(path).config_indexing(False, "eng") as creator:
        creator.set_mainpath("home")
        creator.add_item(Item("home", "Home", PAGE, "text/html"))
        creator.add_item(Item("long", "Long", "<p>" + "x" * 5000, "text/html; charset=utf-8"))
        creator.add_item(Item("style.css", "", "p {}", "text/css"))
        creator.add_redirection("old", "Old", "home", {})
    capfd.readouterr()
    return path


def test_pages(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = archive(tmp_path / "a.zim", capfd)
    assert list(read_zim(path, "a.zim", 1000)) == [
        Document("a.zim#home", "Zürich lies on the Limmat.", "Home"),
        Skipped(
            f"{path}, page long",
            "has more than 1 KB, the most that a document may have; raise it with --max-document.",
        ),
    ]


def test_what_is_no_archive(tmp_path: Path) -> None:
    pytest.importorskip("libzim", reason=WITHOUT_LIBZIM)
    path = tmp_path / "a.zim"
    path.write_bytes(b"no archive")
    with pytest.raises(DataError, match="cannot be read as a ZIM archive"):
        list(read_zim(path, "a"))
    with pytest.raises(DataError, match="decompress it first"):
        list(read_zim(tmp_path / "a.zim.gz", "a"))


def test_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "libzim.reader", None)
    with pytest.raises(MissingExtraError, match=r"densephrases\[zim\]"):
        list(read_zim(tmp_path / "a.zim", "a"))
