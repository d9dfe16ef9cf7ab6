"""What is not ours is neither removed nor followed."""

import json
from pathlib import Path

import pytest

from densephrases.errors import PhraseIndexError
from densephrases.index.folder import IndexFolder
from densephrases.index.settings import IndexSettings
from densephrases.text.documents import Document

from .made_up import HashEncoder

DOCUMENTS = [Document("a", "the city was old"), Document("b", "the tower is tall")]


def created(folder: Path) -> IndexFolder:
    return IndexFolder.create(folder, IndexSettings.from_encoder(HashEncoder(), "hash", "int8"))


def built(folder: Path) -> IndexFolder:
    index = created(folder)
    index.add(DOCUMENTS, HashEncoder())
    return index


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "name",
    [
        "segments/holiday/clip.mp4",
        "deleted/notes.txt",
        "segments/000001/text.bin",
        "writer.lock",
        ".manifest.json.new",
        "manifest.new",
    ],
)
def test_a_folder_with_files_of_others_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("mine")
    before = tree(tmp_path)
    with pytest.raises(PhraseIndexError, match=f"is not empty: it holds '{Path(name).parts[0]}'; give a new or empty"):
        created(tmp_path)
    assert tree(tmp_path) == before


def test_even_empty_folders_are_not_ours_without_a_manifest(tmp_path: Path) -> None:
    (tmp_path / "segments").mkdir()
    with pytest.raises(PhraseIndexError, match="it holds 'segments'"):
        created(tmp_path)


@pytest.mark.parametrize("lock", [b"", b"4711\n"])
@pytest.mark.parametrize("manifest", [None, b"", b"{", b'{\n "settings": {\n  "mod'])
@pytest.mark.parametrize("name", [".manifest.json.new", "manifest.new"])
def test_a_creation_that_was_killed_is_done_again(
    tmp_path: Path, lock: bytes, manifest: bytes | None, name: str
) -> None:
    """Version 0.1 wrote `manifest.new`."""
    (tmp_path / "writer.lock").write_bytes(lock)
    if manifest is not None:
        (tmp_path / name).write_bytes(manifest)
    assert built(tmp_path).documents == 2


def test_the_new_manifest_is_where_a_killed_creation_would_leave_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(path: Path, target: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", killed)
    monkeypatch.setattr(Path, "unlink", lambda path, missing_ok=False: None)
    with pytest.raises(KeyboardInterrupt):
        created(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".manifest.json.new", "writer.lock"]
    monkeypatch.undo()
    assert built(tmp_path).documents == 2


def test_what_the_manifest_begins_with_is_known(tmp_path: Path) -> None:
    """Else a killed creation could not be told from a file of others."""
    created(tmp_path)
    assert (tmp_path / "manifest.json").read_bytes().startswith(b'{\n "settings": {')


def test_files_of_others_inside_an_index_stay(tmp_path: Path) -> None:
    index = built(tmp_path)
    others = [
        "segments/holiday/clip.mp4",
        "segments/000099/clip.mp4",
        f"segments/{index.segments[0].name}/clip.mp4",
        "deleted/notes.txt",
        "deleted/000098.txt",
        "notes.txt",
    ]
    for name in others:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("mine")
    index.delete(["a"])
    index.add([Document("c", "a river by the city")], HashEncoder())
    index.optimize()
    assert {name: (tmp_path / name).read_text() for name in others} == dict.fromkeys(others, "mine")
    assert IndexFolder.open(tmp_path).check() == []


def test_numbers_that_others_use_are_left_out(tmp_path: Path) -> None:
    index = built(tmp_path)
    number = index.manifest.next_number
    (tmp_path / "segments" / f"{number:06d}").mkdir()
    (tmp_path / "segments" / f"{number:06d}" / "clip.mp4").write_text("mine")
    index.add([Document("c", "a river by the city")], HashEncoder())
    assert IndexFolder.open(tmp_path).documents == 3
    assert [path.name for path in (tmp_path / "segments" / f"{number:06d}").iterdir()] == ["clip.mp4"]


@pytest.mark.parametrize(
    "place",
    ["manifest.json", "confidence.json", "segments", "deleted", "segments/SEGMENT", "segments/SEGMENT/text.bin"],
)
def test_links_are_refused_by_readers_and_writers(tmp_path: Path, place: str) -> None:
    folder, outside = tmp_path / "index", tmp_path / "outside"
    index = built(folder)
    index.delete(["a"])
    (folder / "confidence.json").write_text("{}")
    path = folder / place.replace("SEGMENT", index.segments[0].name)
    path.rename(outside)
    path.symlink_to(outside)
    before = tree(tmp_path)
    with pytest.raises(PhraseIndexError, match=f"'{path}' is a symbolic link, and an index follows none; "):
        IndexFolder.open(folder)
    for write in (lambda: index.delete(["b"]), lambda: index.add(DOCUMENTS, HashEncoder()), index.optimize):
        with pytest.raises(PhraseIndexError, match="is a symbolic link"):
            write()
    after = tree(tmp_path)
    assert {name: data for name, data in after.items() if "lock" not in name} == {
        name: data for name, data in before.items() if "lock" not in name
    }


@pytest.mark.parametrize("name", ["writer.lock", ".manifest.json.new"])
def test_links_in_place_of_files_that_are_written_are_refused(tmp_path: Path, name: str) -> None:
    folder, outside = tmp_path / "index", tmp_path / "outside"
    index = built(folder)
    outside.write_text("mine")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(outside)
    with pytest.raises(PhraseIndexError, match=f"{name}' is a symbolic link"):
        index.delete(["a"])
    assert outside.read_text() == "mine"
    assert (folder / name).is_symlink()
    assert set(IndexFolder.open(folder).snapshot.locate(["a", "b"])) == {"a", "b"}


def test_a_left_over_link_is_not_followed(tmp_path: Path) -> None:
    folder, outside = tmp_path / "index", tmp_path / "outside"
    index = built(folder)
    outside.mkdir()
    (outside / "text.bin").write_text("mine")
    (folder / "segments" / "000099").symlink_to(outside)
    index.delete(["a"])
    assert (outside / "text.bin").read_text() == "mine"


def test_the_index_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    built(tmp_path / "index")
    (tmp_path / "link").symlink_to(tmp_path / "index")
    IndexFolder.open(tmp_path / "link").delete(["a"])
    assert IndexFolder.open(tmp_path / "index").documents == 1


@pytest.mark.parametrize("name", ["../../outside", "/outside", "..", "a/b", ""])
@pytest.mark.parametrize("key", ["name", "file", "deleted_file"])
def test_names_that_lead_elsewhere_are_refused(tmp_path: Path, key: str, name: str) -> None:
    index = built(tmp_path)
    index.delete(["a"])
    values = json.loads((tmp_path / "manifest.json").read_text())
    del values["checksum"]  # as a forger would
    entry = values["segments"][0]
    if key == "file":
        entry["files"][name] = entry["files"].pop("text.bin")
    else:
        entry[key] = name
    (tmp_path / "manifest.json").write_text(json.dumps(values))
    with pytest.raises(PhraseIndexError, match="is no name of a segment or a file"):
        IndexFolder.open(tmp_path)
