"""Manifests: what is saved is what is loaded, numbers are never used twice, and wrong values are named."""

import json
from pathlib import Path
from typing import Any

import pytest

from densephrases.errors import PhraseIndexError
from densephrases.index.files.durable import FileEntry
from densephrases.index.manifest import MANIFEST_FILE, SCHEMA_VERSION, Manifest, SegmentEntry
from densephrases.index.settings import IndexSettings

SETTINGS = IndexSettings(model="small", fingerprint="f", tokenizer="t", dim=4)
FILES = {"text.bin": FileEntry(3, "abc")}
ENTRY = SegmentEntry("000001", 2, 3, 5, FILES, "exact", partial=True)
MARKED = SegmentEntry("000002", 2, 3, 5, FILES, "passages", False, 1, "000003.bin", FileEntry(4, "def"))


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    manifest = Manifest(SETTINGS, "1.0", (ENTRY, MARKED), building=True, next_number=4)
    manifest.save(tmp_path)
    assert Manifest.load(tmp_path) == manifest
    values = json.loads((tmp_path / MANIFEST_FILE).read_text())
    assert values["schema_version"] == SCHEMA_VERSION
    assert (values["segments"][0]["vectors"], values["segments"][0]["partial"]) == (5, True)


def test_numbers_are_never_used_twice() -> None:
    manifest = Manifest(SETTINGS, "1.0", next_number=4)
    assert manifest.with_segments((ENTRY,), 1, building=True).next_number == 4
    assert manifest.with_segments((ENTRY,), 7, building=True).next_number == 7


def test_all_files_of_a_segment() -> None:
    assert dict(MARKED.paths()) == {
        "segments/000002/text.bin": FILES["text.bin"],
        "deleted/000003.bin": FileEntry(4, "def"),
    }


def test_entries_without_their_marks() -> None:
    assert MARKED.unmarked() != MARKED
    assert MARKED.unmarked() == SegmentEntry("000002", 2, 3, 5, FILES, "passages")
    assert ENTRY.unmarked() == ENTRY


@pytest.mark.parametrize("change", [{"quantizer": "compact"}, {"code": ""}, {"shortest_passage": 500}])
def test_former_keys_are_unknown_to_schema_8(tmp_path: Path, change: dict[str, object]) -> None:
    Manifest(SETTINGS, "1.0").save(tmp_path)
    values = json.loads((tmp_path / MANIFEST_FILE).read_text())
    values["settings"] |= change
    del values["checksum"]
    (tmp_path / MANIFEST_FILE).write_text(json.dumps(values))
    with pytest.raises(PhraseIndexError, match="missing or unknown values"):
        Manifest.load(tmp_path)


def test_a_changed_value_is_noticed(tmp_path: Path) -> None:
    Manifest(SETTINGS, "1.0", (ENTRY, MARKED)).save(tmp_path)
    path = tmp_path / MANIFEST_FILE
    text = path.read_text()
    path.write_text(text.replace('"documents": 2', '"documents": 3'))
    with pytest.raises(PhraseIndexError, match=r"manifest.json' is damaged: its checksum differs; .*changed the file"):
        Manifest.load(tmp_path)
    values = json.loads(text)
    del values["checksum"]
    path.write_text(json.dumps(values))
    assert Manifest.load(tmp_path).segments == (ENTRY, MARKED)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"package_version": 1}, "package_version=1 is not a text"),
        ({"building": "no"}, "building='no' is not true or false"),
        ({"next_number": "7"}, "next_number='7' is not a whole number"),
        ({"next_number": -1}, "next_number=-1 is negative"),
        ({"next_number": 10**300}, "next_number=1000"),
        ({"colour": 1}, "unknown 'colour'"),
        ({"segments": 5}, "not iterable"),
        ({"settings": []}, "is no object"),
        ({"settings.dim": 10**18}, "dim=1000000000000000000 is not a whole number"),
        ({"settings.dim": 0}, "dim=0 is not a whole number from 1"),
        ({"settings.max_words": 1.5}, "max_words=1.5 is not a whole number"),
        ({"settings.model": ["small"]}, "is not a text"),
        ({"settings.model": "\ud800"}, "is not a text"),
        ({"settings.filter_threshold": "0"}, "is not a finite number or null"),
        ({"segment.documents": True}, "documents=True is not a whole number"),
        ({"segment.documents": 2**60}, "documents=1152921504606846976 is not a whole number"),
        ({"segment.vectors": -1}, "vectors=-1 is negative"),
        ({"segment.deleted": 3}, "3 deleted of 2 documents"),
        ({"segment.candidates": "hnsw"}, "candidates='hnsw' is not one of"),
        ({"segment.name": "x" * 101}, "is no name of a segment"),
        ({"segment.name": 7}, "expected string"),
        ({"segment.files": {"text.bin": {"size": "3", "sha256": "abc"}}}, "size='3' is not a whole number"),
        ({"segment.files": {"text.bin": {"size": -3, "sha256": "abc"}}}, "size=-3 is negative"),
        ({"segment.files": {"text.bin": 3}}, "is no object"),
        ({"segment.files": {"digests.bin": {"size": 8, "sha256": "abc"}}}, "digests.bin has 8 bytes, expected 16"),
    ],
)
def test_every_value_is_checked(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    Manifest(SETTINGS, "1.0", (ENTRY,)).save(tmp_path)
    values = json.loads((tmp_path / MANIFEST_FILE).read_text())
    del values["checksum"]
    for key, value in change.items():
        place, _, name = key.rpartition(".")
        {"": values, "settings": values["settings"], "segment": values["segments"][0]}[place][name] = value
    (tmp_path / MANIFEST_FILE).write_text(json.dumps(values))
    with pytest.raises(PhraseIndexError, match=f"missing or unknown values.*{reason}"):
        Manifest.load(tmp_path)


@pytest.mark.parametrize("content", [b"\xff", b"[" * 100_000, b'{"schema_version": NaN}', b"9" * 5000])
def test_what_is_no_json(tmp_path: Path, content: bytes) -> None:
    (tmp_path / MANIFEST_FILE).write_bytes(content)
    with pytest.raises(PhraseIndexError, match="is not valid JSON"):
        Manifest.load(tmp_path)
