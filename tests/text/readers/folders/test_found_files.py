"""Files of places, each once, with their roots and ids."""

import os
from pathlib import Path

import pytest

from densephrases.errors import DataError
from densephrases.text.readers.folders.found_files import Places
from densephrases.text.readers.folders.left_out import Selection
from densephrases.text.readers.folders.read_report import ReadReport


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a/x.txt", "a/b/y.txt", "a/z.py", "c.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def names(places: Places) -> list[str]:
    return [file.name for file in places.files()]


def test_each_file_once(folder: Path) -> None:
    assert names(Places.from_paths([folder / "a"])) == ["b/y.txt", "x.txt"]
    assert names(Places.from_paths([folder / "a" / "b", folder, folder / "a" / "x.txt"])) == [
        *("a/b/y.txt", "a/x.txt", "c.txt"),
    ]


def test_a_file_that_is_given_is_always_read(folder: Path) -> None:
    (file,) = Places.from_paths([folder / "a" / "z.py"], selection=Selection(exclude=("*",))).files()
    assert (file.name, file.inside) == ("z.py", False)


def test_what_is_left_out_is_counted(folder: Path) -> None:
    report = ReadReport()
    assert len(list(Places.from_paths([folder]).files(report))) == 3
    assert report.left_out == {"source code": 1}


def test_what_a_file_is_now(folder: Path) -> None:
    os.utime(folder / "c.txt", ns=(5, 10**18 + 7))
    (file,) = Places.from_paths([folder / "c.txt"]).files()
    source = file.source()
    assert (source.root, source.path, source.modified_ns, source.size) == (folder.name, "c.txt", 10**18 + 7, 5)
    assert (source.modified, source.type) == ("2001-09-09T01:46:40Z", "txt")


def test_what_is_below_the_places(folder: Path) -> None:
    places = Places.from_paths([folder / "a" / "b", folder / "c.txt"])
    below = ["a/b/y.txt", "a/x.txt", "c.txt", "a/bb"]
    assert [places.contain(folder / name) for name in below] == [True, False, True, False]


def test_what_is_not_there(folder: Path) -> None:
    with pytest.raises(DataError, match="none' does not exist"):
        Places.from_paths([folder / "none"])
