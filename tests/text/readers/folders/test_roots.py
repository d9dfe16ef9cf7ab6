"""Names of folders: ids are unique across them and the same every time."""

import os
from pathlib import Path

import pytest

from densephrases.errors import ConfigError, DataError
from densephrases.text.readers.folders.roots import Root, Roots, parse_named


def folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def prefixes(roots: Roots) -> dict[str, str]:
    return {root.name: root.prefix for root in roots.roots}


def test_one_folder_alone_has_short_ids(tmp_path: Path) -> None:
    roots = Roots().with_places([folder(tmp_path / "docs")])
    assert roots.roots == (Root("docs", tmp_path / "docs"),)


def test_several_folders_have_their_names_before_ids(tmp_path: Path) -> None:
    assert prefixes(Roots().with_places([folder(tmp_path / "a"), folder(tmp_path / "b")])) == {"a": "a/", "b": "b/"}


def test_a_known_folder_keeps_its_prefix_in_any_company(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = Roots().with_places([folder(tmp_path / "a" / "inner").parent])
    later = alone.with_places([folder(tmp_path / "b"), tmp_path / "a"])
    assert prefixes(later) == {"a": "", "b": "b/"}
    monkeypatch.chdir(tmp_path / "a" / "inner")
    for same in (Path(".."), Path(), tmp_path / "b" / ".." / "a"):
        assert later.with_places([same]) == later, "from any working directory, also a folder below"


def test_what_an_index_records_is_read_back(tmp_path: Path) -> None:
    roots = Roots().with_places([folder(tmp_path / "a"), folder(tmp_path / "b" / "c")])
    recorded = {root.name: {"folder": str(root.folder), "prefix": root.prefix} for root in roots.roots}
    assert Roots.from_recorded(recorded) == roots


def test_files_belong_to_their_folder(tmp_path: Path) -> None:
    (folder(tmp_path / "a") / "x.txt").touch()
    (folder(tmp_path / "b") / "x.txt").touch()
    assert prefixes(Roots().with_places([tmp_path / "a" / "x.txt"])) == {"a": ""}
    both = Roots().with_places([tmp_path / "a" / "x.txt", tmp_path / "b" / "x.txt"])
    assert prefixes(both) == {"a": "a/", "b": "b/"}


def test_a_folder_inside_another_is_no_root_of_its_own(tmp_path: Path) -> None:
    inner = folder(tmp_path / "docs" / "inner")
    assert prefixes(Roots().with_places([inner, tmp_path / "docs"])) == {"docs": ""}
    known = Roots().with_places([inner]).with_places([tmp_path / "docs"])
    found = {path: known.of(tmp_path / "docs" / path) for path in ("inner/x", "x")}
    assert {path: root and root.name for path, root in found.items()} == {"inner/x": "inner", "x": "docs"}


def test_another_folder_of_the_same_name_is_refused(tmp_path: Path) -> None:
    known = Roots().with_places([folder(tmp_path / "one" / "docs")])
    other = folder(tmp_path / "two" / "docs")
    with pytest.raises(DataError, match=rf"--root OTHER={other}, .*--moved"):
        known.with_places([other])
    with pytest.raises(DataError, match="--root OTHER="):
        Roots().with_places([tmp_path / "one" / "docs", other])
    assert prefixes(known.with_places([], {"second": other})) == {"docs": "", "second": "second/"}


def test_names_that_the_user_gives(tmp_path: Path) -> None:
    place = folder(tmp_path / "docs")
    assert prefixes(Roots().with_places([], {"notes": place})) == {"notes": "notes/"}
    assert prefixes(Roots().with_places([place], {"": place})) == {"docs": ""}
    named = Roots().with_places([], {"notes": place})
    assert named.with_places([place]) == named
    with pytest.raises(DataError, match="is known as 'notes', and its ids stay as they are"):
        named.with_places([], {"other": place})
    with pytest.raises(DataError, match="would begin as those of"):
        Roots().with_places([place]).with_places([], {"": folder(tmp_path / "other")})
    with pytest.raises(DataError, match="names no folder"):
        Roots().with_places([], {"x": tmp_path / "none"})
    with pytest.raises(ConfigError, match="is no name of a root"):
        Roots().with_places([], {"a/b": place})


def test_links_lead_to_their_folder(tmp_path: Path) -> None:
    os.symlink(folder(tmp_path / "docs"), tmp_path / "link")  # noqa: PTH211
    roots = Roots().with_places([tmp_path / "link"])
    assert roots.with_places([tmp_path / "docs"]) == roots


def test_names_at_the_command_line() -> None:
    assert parse_named(["a=b", "c=/d=e", "=x"]) == {"a": Path("b"), "c": Path("/d=e"), "": Path("x")}
    for wrong, expected in {("a",): "NAME=FOLDER", ("a=",): "NAME=FOLDER", ("a=b", "a=c"): "twice"}.items():
        with pytest.raises(ConfigError, match=expected):
            parse_named(wrong)
