"""ZIP files that are bombs, encrypted, damaged or none."""

import gzip
import zipfile
from pathlib import Path

import pytest

from densephrases.errors import DataError
from densephrases.text.readers.formats.zip_limits import open_zip, refuse_costly_xml


def write(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def refused(path: Path, limit: int = 1000, streamed: str = "\0") -> str:
    with pytest.raises(DataError) as caught, open_zip(path, limit, streamed=streamed) as archive:
        refuse_costly_xml(archive, path)
    return str(caught.value)


def test_what_is_within_bounds(tmp_path: Path) -> None:
    path = write(tmp_path / "a.docx", {"a.xml": b"x" * 900, "big.png": b"x" * 100_000, "s/a.xml": b"x" * 5000})
    with open_zip(path, 1000, streamed="s/") as archive:
        assert len(archive.read("a.xml")) == 900
    (tmp_path / "a.docx.gz").write_bytes(gzip.compress(path.read_bytes()))
    with open_zip(tmp_path / "a.docx.gz", 10_000, streamed="s/") as archive:
        assert len(archive.read("a.xml")) == 900


def test_texts_above_the_limit(tmp_path: Path) -> None:
    path = write(tmp_path / "a.docx", {"a.xml": b"x" * 600, "b.XHTML": b"x" * 600})
    assert "has more than 1 KB, the most that a document may have" in refused(path)


def test_a_streamed_bomb(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xlsx", {"s/a.xml": bytes(70_000_000)})
    assert "expands to more than 200 times its size" in refused(path, streamed="s/")


def test_costly_xml(tmp_path: Path) -> None:
    path = write(tmp_path / "a.docx", {"a.xml": b'<!DOCTYPE a [<!ENTITY b "c">]><a/>'})
    assert "defines entities" in refused(path)
    path = write(tmp_path / "b.docx", {"a.xml": b"<a>" + b"<b/>" * 4_000_000 + b"</a>"})
    assert "a part with more than 2,000,000 elements" in refused(path, 50_000_000)


def test_too_many_members(tmp_path: Path) -> None:
    path = write(tmp_path / "a.docx", {f"{number}": b"" for number in range(100_001)})
    assert "has more than 100,000 members" in refused(path)


def test_encrypted(tmp_path: Path) -> None:
    path = write(tmp_path / "a.docx", {"a.xml": b"<a/>"})
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(bytes(content))
    assert "is encrypted; save it without a password" in refused(path)
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1000))
    assert "has a password or is of Office's old format" in refused(path)


@pytest.mark.parametrize("content", [b"", b"no ZIP", b"PK\x03\x04" + bytes(100)])
def test_no_zip(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.docx").write_bytes(content)
    assert "is damaged or of another format" in refused(tmp_path / "a.docx")


def test_a_member_whose_content_is_not_what_the_archive_says(tmp_path: Path) -> None:
    path = write(tmp_path / "a.docx", {"a.xml": b"<a>" + b"x" * 500})
    content = bytearray(path.read_bytes())
    content[40] ^= 0xFF
    path.write_bytes(bytes(content))
    assert "is damaged or of another format" in refused(path)
