"""Opening, naming and finding files."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from densephrases.errors import DataError
from densephrases.text.readers.files import open_file, open_lines, read_text, split_name, walk, write_file

COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
    ".GZ": gzip.compress,
}


@pytest.mark.parametrize("suffix", COMPRESSORS)
def test_every_way_of_opening(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(COMPRESSORS[suffix]("\ufeffé\r\nb\rc\n".encode()))
    assert read_text(path) == "é\r\nb\rc\n"
    with open_file(path) as file:
        assert file.read() == "\ufeffé\r\nb\rc\n".encode()
    with open_lines(path) as lines:
        assert list(lines) == ["é\r\n".encode(), b"b\rc\n"]


@pytest.mark.parametrize("suffix", COMPRESSORS)
def test_what_is_written_is_compressed_as_its_name_says(tmp_path: Path, suffix: str) -> None:
    path, content = tmp_path / f"a.txt{suffix}", b"again " * 1000
    write_file(path, content)
    with open_file(path) as file:
        assert file.read() == content
    assert (path.stat().st_size < len(content)) == bool(suffix)
    before = path.read_bytes()
    write_file(path, content)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "stem", "suffix"),
    [
        ("a.txt", "a", ".txt"),
        ("A.TXT.gz", "A", ".txt"),
        ("a.b.Jsonl.XZ", "a.b", ".jsonl"),
        ("README", "README", ""),
        ("notes.gz", "notes", ""),
        ("simplewiki-20240101-pages-articles.xml.bz2", "simplewiki-20240101-pages-articles", ".xml"),
        ("enwiki-20240101-pages-articles1.xml-p1p41242.bz2", "enwiki-20240101-pages-articles1", ".xml"),
    ],
)
def test_names(name: str, stem: str, suffix: str) -> None:
    assert split_name(Path("some.folder") / name) == (stem, suffix)


def test_walk_is_sorted_and_leaves_out_the_hidden(tmp_path: Path) -> None:
    for name in ["b.txt", "a.txt", "B/z.txt", "B/.hidden", ".git/config", "a/deep/er/x", ".x"]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    assert [path.relative_to(tmp_path).as_posix() for path in walk(tmp_path)] == [
        "B/z.txt",
        "a/deep/er/x",
        "a.txt",
        "b.txt",
    ]


def test_walk_does_not_run_in_circles(tmp_path: Path) -> None:
    (tmp_path / "again").symlink_to(tmp_path)
    assert list(walk(tmp_path)) == [tmp_path / "again"]


def test_a_folder_that_cannot_be_listed_is_given_itself(tmp_path: Path) -> None:
    assert list(walk(tmp_path / "gone")) == [tmp_path / "gone"]


@pytest.mark.parametrize("content", [b"ab\0c", "text".encode("utf-16")])
def test_binary(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a"
    path.write_bytes(content)
    with pytest.raises(DataError, match="binary or not UTF-8"):
        read_text(path)


@pytest.mark.parametrize("padding", [0, 1 << 16])
def test_other_encodings(tmp_path: Path, padding: int) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * padding + "Zürich".encode("latin-1"))
    with pytest.raises(UnicodeDecodeError):
        read_text(path)


def test_a_character_may_lie_across_the_inspected_head(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("x" * ((1 << 16) - 1) + "é", encoding="utf-8")
    assert read_text(path).endswith("xé")


def test_walk_goes_as_deep_as_folders_are(tmp_path: Path) -> None:
    folders = [tmp_path]
    for _ in range(1200):  # more than Python's calls may be nested
        folders.append(folders[-1] / "a")
        folders[-1].mkdir()
    file = folders[-1] / "b.txt"
    file.write_text("x")
    try:
        assert list(walk(tmp_path)) == [file]
    finally:  # what removes the folders of tests is nested itself
        file.unlink()
        for folder in reversed(folders[1:]):
            folder.rmdir()


def test_archives_of_several_streams(tmp_path: Path) -> None:
    for suffix, compress in COMPRESSORS.items():
        path = tmp_path / f"a.txt{suffix}"
        path.write_bytes(compress(b"one ") + compress(b"two"))
        assert read_text(path) == "one two"
    (tmp_path / "b.txt.xz").write_bytes(lzma.compress(b"one") + bytes(8) + lzma.compress(b" two") + bytes(4))
    assert read_text(tmp_path / "b.txt.xz") == "one two"
    (tmp_path / "c.txt.xz").write_bytes(lzma.compress(b"one")[:-4])
    with pytest.raises(EOFError):
        read_text(tmp_path / "c.txt.xz")


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".bz2"])
def test_a_bomb_ends_in_an_error_at_once(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(COMPRESSORS[suffix](bytes(1_000_000).replace(b"\0", b"x")) * 500)
    with pytest.raises(DataError, match="expands to more than 200 times its size"):
        read_text(path)
