"""Checksums: published, recorded, listed by the owner."""

from hashlib import sha1, sha256
from pathlib import Path

import pytest

from densephrases.data.download.catalog import RemoteFile
from densephrases.data.download.verify import SUMS_FILE, check, read_sums, record
from densephrases.errors import DataError

DIGEST = sha256(b"text").hexdigest()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.txt"
    path.write_bytes(b"text")
    return path


def no_list(address: str) -> str:
    raise AssertionError(address)


def test_a_published_checksum(path: Path) -> None:
    file = RemoteFile(name="a.txt", address="x", sha256=DIGEST)
    assert check(path, file, path.parent, no_list) == "published"
    assert (path.parent / SUMS_FILE).read_text() == f"{DIGEST}  a.txt\n"
    path.write_bytes(b"other")
    with pytest.raises(DataError, match=f"has the SHA-256 {sha256(b'other').hexdigest()}, expected the published"):
        check(path, file, path.parent, no_list)
    assert check(path, file, path.parent, no_list, accept_changed=True) == "first seen"
    assert read_sums(path.parent) == {"a.txt": sha256(b"other").hexdigest()}


def test_a_recorded_checksum(path: Path) -> None:
    file = RemoteFile(name="a.txt", address="x")
    assert check(path, file, path.parent, no_list) == "first seen"
    assert check(path, file, path.parent, no_list) == "as before"
    path.write_bytes(b"other")
    with pytest.raises(DataError, match=r"expected the recorded .*--accept-changed"):
        check(path, file, path.parent, no_list)


def test_a_list_of_the_owner(path: Path) -> None:
    """Lists of `latest` name files by their date."""
    file = RemoteFile(name="simplewiki-latest-pages-articles.xml.bz2", address="x", sha1_list="list")
    right = f"{'0' * 40}  simplewiki-20181220-pages-articles-multistream.xml.bz2\n" + (
        f"{sha1(b'text').hexdigest()}  simplewiki-20181220-pages-articles.xml.bz2\n"  # noqa: S324
    )
    with pytest.raises(DataError, match=r"has the SHA-1 .*, expected the published 0000"):
        check(path, file, path.parent, lambda _: f"{'0' * 40}  simplewiki-20181220-pages-articles.xml.bz2\n")
    with pytest.raises(DataError, match="'list' lists no checksum"):
        check(path, file, path.parent, lambda _: "")
    assert check(path, file, path.parent, lambda _: right) == "published"
    assert check(path, file, path.parent, no_list) == "as before"  # it may have been replaced since


def test_damaged_records(tmp_path: Path) -> None:
    record(tmp_path, "b", DIGEST)
    record(tmp_path, "a", DIGEST)
    assert list(read_sums(tmp_path)) == ["a", "b"]
    (tmp_path / SUMS_FILE).write_text("nonsense\n")
    with pytest.raises(DataError, match="is damaged: a line is no SHA-256 and name"):
        read_sums(tmp_path)
