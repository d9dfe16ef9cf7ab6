"""PDF, through pypdf itself."""

import gzip
import sys
from io import BytesIO
from pathlib import Path

import pytest

from densephrases.errors import DataError, MissingExtraError
from densephrases.text.readers.pages.pdf import pdf_text

pypdf = pytest.importorskip("pypdf")


def make_pdf(*pages: str, title: str = "", password: str = "") -> bytes:
    """One line of ASCII a page."""
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = pypdf.PdfWriter()
    font = DictionaryObject({NameObject("/Type"): NameObject("/Font"), NameObject("/Subtype"): NameObject("/Type1")})
    font[NameObject("/BaseFont")] = NameObject("/Helvetica")
    for text in pages:
        page = writer.add_blank_page(width=300, height=100)
        fonts = DictionaryObject({NameObject("/F1"): font})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 10 50 Td ({text}) Tj ET".encode("ascii"))
        page[NameObject("/Contents")] = writer._add_object(stream)
    if title:
        writer.add_metadata({"/Title": title})
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    buffer = BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def test_title_and_pages(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(make_pdf("Ann met Bob.", "Then they left.", title="A report"))
    assert pdf_text(path) == ("A report", "Ann met Bob.\n\nThen they left.")


def test_compressed_and_without_title(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf.gz"
    path.write_bytes(gzip.compress(make_pdf("Ann met Bob.")))
    assert pdf_text(path) == ("", "Ann met Bob.")


@pytest.mark.parametrize("content", [b"no PDF at all", make_pdf("a")[:200], make_pdf("a", password="secret")])  # noqa: S106
def test_unreadable(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"a\.pdf' cannot be read as PDF"):
        pdf_text(path)


def test_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdf", None)
    with pytest.raises(MissingExtraError, match=r"densephrases\[pdf\]"):
        pdf_text(tmp_path / "a.pdf")
