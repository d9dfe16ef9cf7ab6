"""Image files as documents; what is recognised has tests of its own."""

import sys
from pathlib import Path

import pytest

from densephrases.errors import DataError, MissingExtraError
from densephrases.text.documents import Document
from densephrases.text.readers.formats import images, ocr
from densephrases.text.readers.formats.images import read_image

pytest.importorskip("rapidocr")
Image = pytest.importorskip("PIL.Image")


@pytest.fixture(autouse=True)
def sized(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each image is recognised as its size."""
    box = (0.0, 0.0, 1.0, 1.0)
    monkeypatch.setattr(ocr, "recognize", lambda image: [ocr.RecognizedLine(f"{image.width} by {image.height}", box)])


@pytest.mark.parametrize("suffix", ["png", "jpg", "webp", "tiff"])
def test_formats(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"scan.{suffix}"
    Image.new("RGB", (30, 20)).save(path)
    assert list(read_image(path, path.name)) == [Document(path.name, "30 by 20", "scan")]


def test_pages_and_rotation(tmp_path: Path) -> None:
    turned = Image.new("RGB", (50, 40)).getexif()
    turned[0x0112] = 6  # a quarter turn
    Image.new("RGB", (50, 40)).save(tmp_path / "a.jpg", exif=turned)
    assert [document.text for document in read_image(tmp_path / "a.jpg", "a")] == ["40 by 50"]
    pages = [Image.new("RGB", (30 + number, 20)) for number in range(3)]
    pages[0].save(tmp_path / "a.tiff", save_all=True, append_images=pages[1:])
    assert [document.text for document in read_image(tmp_path / "a.tiff", "a")] == ["30 by 20\n\n31 by 20\n\n32 by 20"]


def test_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.tiff"
    pages = [Image.new("1", (30, 20))] * 3
    pages[0].save(path, save_all=True, append_images=pages[1:])
    with pytest.raises(DataError, match="has more than 10 B"):
        list(read_image(path, "a", 10))
    monkeypatch.setattr(images, "_MOST_PAGES", 2)
    with pytest.raises(DataError, match="has 3 pages; expected at most 2"):
        list(read_image(path, "a"))
    monkeypatch.setattr(images, "_MOST_PAGES", 3)
    monkeypatch.setattr(images, "_MOST_PIXELS", 599)
    with pytest.raises(DataError, match="has 600 pixels; expected at most 599"):
        list(read_image(path, "a"))


def test_what_is_no_image(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(DataError, match="cannot be read as an image"):
        list(read_image(tmp_path / "a.png", "a"))


def test_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    with pytest.raises(MissingExtraError, match=r"densephrases\[ocr\]"):
        list(read_image(tmp_path / "a.png", "a"))
