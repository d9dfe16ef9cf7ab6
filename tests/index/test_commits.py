"""Commits while others read: opening is repeated when the manifest has changed, and no commit is undone or lost."""

import errno
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from densephrases import atomic_files
from densephrases.errors import DataError, DiskFullError, PhraseIndexError
from densephrases.index import commits
from densephrases.index.files import durable
from densephrases.index.folder import IndexFolder
from densephrases.index.manifest import Manifest
from densephrases.index.settings import IndexSettings
from densephrases.text.documents import Document

from .made_up import HashEncoder, long_text

DOCUMENTS = [Document(f"d{i}", long_text(i, 80)) for i in range(6)]
ENCODER = HashEncoder()


def created(folder: Path) -> IndexFolder:
    return IndexFolder.create(folder, IndexSettings.from_encoder(ENCODER, "hash", "int8"))


@pytest.fixture
def index(tmp_path: Path) -> IndexFolder:
    made = created(tmp_path / "index")
    made.add(DOCUMENTS[:3], ENCODER)
    return made


def names(index: IndexFolder) -> set[str]:
    """Of all files in segments and of deletion marks."""
    return {
        path.relative_to(index.folder).as_posix()
        for place in ("segments", "deleted")
        for path in (index.folder / place).rglob("*")
        if path.is_file()
    }


def after_the_next_load(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Act when a manifest is loaded for the first time, before it is used."""
    load = Manifest.load
    pending = [act]

    def load_and_act(folder: Path) -> Manifest:
        manifest = load(folder)
        if pending:
            pending.pop()()
        return manifest

    monkeypatch.setattr(Manifest, "load", load_and_act)


@pytest.mark.parametrize("opening", ["open", "refresh", "reopened"])
def test_opening_is_repeated_if_the_manifest_has_changed(
    index: IndexFolder, opening: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = IndexFolder.open(index.folder)
    index.update([Document("d0", "the new text")], ENCODER)
    after_the_next_load(monkeypatch, index.optimize)
    if opening == "refresh":
        reader.refresh()
    else:
        reader = IndexFolder.open(index.folder) if opening == "open" else reader.reopened()
    assert reader.manifest == index.manifest
    found = reader.find("d0")
    assert found is not None
    assert found.text == "the new text"


@pytest.mark.parametrize("opening", ["open", "refresh"])
def test_a_missing_file_of_the_same_manifest_is_damage(index: IndexFolder, opening: str) -> None:
    reader = IndexFolder.open(index.folder)
    index.add(DOCUMENTS[3:], ENCODER)
    path = index.segments[-1].folder / "vectors.bin"
    path.unlink()
    read = reader.refresh if opening == "refresh" else lambda: IndexFolder.open(index.folder)
    with pytest.raises(PhraseIndexError, match=r"vectors\.bin' is missing; restore it"):
        read()
    assert index.check() == [f"'{path}' is missing; restore it from a copy or build a new index."]


def test_attempts_end(index: IndexFolder) -> None:
    seen = []

    def fail(manifest: Manifest) -> None:
        seen.append(manifest)
        if index.documents:
            index.delete([min(index.snapshot.locate([document.id for document in DOCUMENTS]))])
        raise PhraseIndexError("always")

    with pytest.raises(PhraseIndexError, match="always"):
        commits.with_newest(index.folder, fail)
    assert len(seen) == 4  # the manifest changes three times


def test_a_handle_checks_the_index_as_it_is_now(index: IndexFolder) -> None:
    """Not as it was: what was merged since is gone, and nothing is damaged."""
    reader = IndexFolder.open(index.folder)
    index.delete(["d1"])
    index.optimize()
    assert reader.check() == []


def test_files_of_the_state_before_stay_until_the_next_write(index: IndexFolder) -> None:
    first = set(index.manifest.files())
    index.delete(["d0"])
    second = set(index.manifest.files())
    index.delete(["d1"])
    third = set(index.manifest.files())
    assert names(index) == second | third != third
    index.add(DOCUMENTS[3:], ENCODER)
    assert names(index) >= third | set(index.manifest.files())
    assert not names(index) & (second - third)
    assert first <= second


def test_a_merge_that_was_asked_for_frees_its_room_at_once(index: IndexFolder) -> None:
    index.delete(["d0"])
    index.optimize()
    assert names(index) == set(index.manifest.files())


def test_a_finished_build_takes_no_more_room_than_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("densephrases.index.build.builder.PARTIAL_VECTORS", 10)
    monkeypatch.setattr("densephrases.index.build.builder._LOOKED_UP", 2)
    index = created(tmp_path / "index")
    with pytest.raises(DataError, match="Two documents have the id 'd0'"):
        index.add([*DOCUMENTS, DOCUMENTS[0]], ENCODER)
    assert index.manifest.building
    assert len(index.segments) > 1
    index.add(DOCUMENTS, ENCODER)
    assert names(index) == set(index.manifest.files())


def test_a_refresh_does_not_undo_a_commit(index: IndexFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread reads the manifest, another commits, then the first would see the old state for good."""
    writer = threading.Thread(target=lambda: index.delete(["d0"]))
    original = Manifest.load

    def load_slowly(folder: Path) -> Manifest:
        manifest = original(folder)
        if threading.current_thread() is threading.main_thread() and not writer.ident:
            writer.start()
            writer.join(0.5)
        return manifest

    monkeypatch.setattr(Manifest, "load", load_slowly)
    index.refresh()
    writer.join(60)
    assert index.documents == 2


def test_two_creations_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second finds no index, then the first makes one and fills it: the second must not empty it."""
    folder = tmp_path / "index"

    def refuse_foreign(place: Path) -> None:
        monkeypatch.undo()
        created(place).add(DOCUMENTS[:2], ENCODER)

    monkeypatch.setattr("densephrases.index.folder.refuse_foreign", refuse_foreign)
    with pytest.raises(PhraseIndexError, match="already holds an index of 2 documents"):
        created(folder)
    assert IndexFolder.open(folder).documents == 2


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_not_kept_full(index: IndexFolder, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    before = names(index)

    def full(file: durable.HashedFile) -> None:
        raise OSError(number, "full")

    monkeypatch.setattr(durable.HashedFile, "finish", full)
    with pytest.raises(DiskFullError, match="everything committed before is kept: free some space"):
        index.add(DOCUMENTS[3:], ENCODER)
    assert names(index) == before
    monkeypatch.undo()
    assert index.add(DOCUMENTS[3:], ENCODER).documents == 3


def test_a_commit_whose_folder_cannot_be_synced_loses_nothing(
    index: IndexFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new manifest is in place: neither its files nor those of the old one may be removed."""

    def fail(folder: Path) -> None:
        raise OSError(errno.EIO, "Input/output error", str(folder))

    monkeypatch.setattr(atomic_files, "sync_folder", fail)
    with pytest.raises(OSError, match="Input/output error"):
        index.add(DOCUMENTS[3:], ENCODER)
    monkeypatch.undo()
    assert IndexFolder.open(index.folder).documents == 6
    assert names(index) >= set(index.manifest.files())
    assert index.add(DOCUMENTS, ENCODER).unchanged == 6
    assert IndexFolder.open(index.folder).check() == []


def test_errors_of_writing_name_the_file(index: IndexFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(number: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match=r"Input/output error: '.*index'"):
        index.delete(["d0"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "has 0 bytes, 8 were written"),
        (b"\0\0\0\0\1\0\0", "has 7 bytes, 8 were written"),
        (b"\0\0\0\0\0\0\0\1", "is damaged: its checksum differs"),
    ],
)
def test_damaged_deletion_marks_are_refused(index: IndexFolder, content: bytes, message: str) -> None:
    index.delete(["d0", "d1"])
    (index.folder / "deleted" / index.manifest.segments[0].deleted_file).write_bytes(content)
    with pytest.raises(PhraseIndexError, match=message):
        IndexFolder.open(index.folder)


@pytest.mark.parametrize(
    ("documents", "deleted", "message"),
    [(1, 2, "2 deleted of 1 documents"), (3, 1, "its 8 bytes are not 1 values of 4 bytes")],
)
def test_marks_that_do_not_fit_their_segment_are_refused(
    index: IndexFolder, documents: int, deleted: int, message: str
) -> None:
    index.delete(["d0", "d2"])
    path = index.folder / "manifest.json"
    values = json.loads(path.read_text())
    del values["checksum"]
    values["segments"][0] |= {"documents": documents, "deleted": deleted}
    path.write_text(json.dumps(values))
    with pytest.raises(PhraseIndexError, match=message):
        IndexFolder.open(index.folder)


def test_files_that_cannot_be_removed_are_left_to_the_next_writer(
    index: IndexFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows, where a reader has them mapped."""
    index.delete(["d0"])

    def refuse(path: Path, missing_ok: bool = False) -> None:
        raise PermissionError(errno.EACCES, "used by another process", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refuse)
        index.optimize()
    assert IndexFolder.open(index.folder).documents == 2
    assert names(index) > set(index.manifest.files())
    index.optimize()
    assert names(index) == set(index.manifest.files())
