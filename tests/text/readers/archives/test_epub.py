"""Books."""

import zipfile
from pathlib import Path

import pytest

from densephrases.errors import DataError
from densephrases.text.documents import Document
from densephrases.text.layout import Layout, Section
from densephrases.text.readers.archives.epub import read_epub

CONTAINER = """<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""
PACKAGE = """<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf"
xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>The Sea</dc:title><dc:creator>M. Storm</dc:creator>
<dc:creator>A. Berg</dc:creator><dc:language>en</dc:language></metadata><manifest>
<item id="two" href="text/b%20two.xhtml" media-type="application/xhtml+xml"/>
<item id="one" href="text/a.xhtml" media-type="application/xhtml+xml"/>
<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>
<item id="css" href="a.css" media-type="text/css"/></manifest>
<spine><itemref idref="nav"/><itemref idref="one"/><itemref idref="css"/><itemref idref="gone"/><itemref idref="two"/>
</spine></package>"""
FILES = {
    "mimetype": "application/epub+zip",
    "META-INF/container.xml": CONTAINER,
    "OEBPS/content.opf": PACKAGE,
    "OEBPS/nav.xhtml": "<p>Contents",
    "OEBPS/a.css": "p {}",
    "OEBPS/text/a.xhtml": "<?xml version='1.0'?><!DOCTYPE html><html><body><h1>One</h1><p>To Zürich.</p></body></html>",
    "OEBPS/text/b two.xhtml": "<html><body><p>Lena Holt steered.</p></body></html>",
}


def book(path: Path, **changed: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in FILES.items():
            archive.writestr(name, changed.get(name.rpartition("/")[2].partition(".")[0], content))
    return path


def test_a_book(tmp_path: Path) -> None:
    (document,) = read_epub(book(tmp_path / "a.epub"), "a.epub")
    assert document == Document(
        "a.epub",
        "One\n\nTo Zürich.\n\nLena Holt steered.",
        "The Sea",
        {"author": "M. Storm, A. Berg", "language": "en"},
        Layout((Section(0, 3, 1, "One"),)),
    )


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"container": "<container/>"}, "its container names no package"),
        ({"container": "no XML"}, "cannot be read as an EPUB book"),
        ({"content": PACKAGE.replace("a.xhtml", "gone.xhtml")}, "cannot be read as an EPUB book"),
        ({"content": f'<!DOCTYPE x [<!ENTITY a "b">]>{PACKAGE[21:]}'}, "defines entities"),
        ({"a": "<p>" + "x" * 100_000}, "has more than 50 KB"),
    ],
)
def test_bad_books(tmp_path: Path, changed: dict[str, str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        list(read_epub(book(tmp_path / "a.epub", **changed), "a", 50_000))


def test_what_is_no_book(tmp_path: Path) -> None:
    (tmp_path / "a.epub").write_bytes(b"PK no")
    with pytest.raises(DataError, match="is damaged or of another format"):
        list(read_epub(tmp_path / "a.epub", "a"))
    with zipfile.ZipFile(tmp_path / "b.epub", "w") as archive:
        archive.writestr("a.txt", "x")
    with pytest.raises(DataError, match="cannot be read as an EPUB book"):
        list(read_epub(tmp_path / "b.epub", "b"))
