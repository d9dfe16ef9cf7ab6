"""Indexes of version 0.1 open, answer as they did, and become schema 8 with the first write."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from densephrases.errors import PhraseIndexError
from densephrases.index.folder import IndexFolder
from densephrases.index.former_manifest import FORMER_SCHEMA, from_former
from densephrases.index.manifest import MANIFEST_FILE, SCHEMA_VERSION, Manifest
from densephrases.index.segment.files import FORMER_FILES, SEGMENT_FILES
from densephrases.model.load import load
from densephrases.quantize.codebooks import ProductQuantizer
from densephrases.search.phrase_index import PhraseIndex
from densephrases.text.documents import Document
from densephrases.text.readers.jsonl import read_json_lines

FORMER = Path(__file__).parents[1] / "fixtures" / "v0_1"
MODEL = FORMER / "model"
EXPECTED = json.loads((FORMER / "expected.json").read_text(encoding="utf-8"))
INDEXES = sorted(EXPECTED["indexes"])
NEW = Document("new", "A new tower was built in Paris by a company of the city.", "New tower")
INT8_TOLERANCE, FP32_TOLERANCE = 0.5, 1e-3  # int8 graphs depend on the processor


@pytest.fixture(scope="module")
def documents() -> dict[str, Document]:
    found = read_json_lines(FORMER / "documents.jsonl", "documents")
    return {document.id: document for document in found if isinstance(document, Document)}


@pytest.fixture
def copied(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A copy of an index, as git gives it: without empty folders."""
    return copy(request.param, tmp_path)


def copy(name: str, to: Path) -> Path:
    for file in (FORMER / name).rglob("*"):
        if file.is_file() and file.name != ".gitkeep":
            place = to / name / file.relative_to(FORMER / name)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, place)
    return to / name


def assert_answers(index: PhraseIndex, entries: list[dict[str, Any]], tolerance: float) -> None:
    for entry in entries:
        found = [answer.to_dict() for answer in index.search(entry["question"], k=5, overlapping=True)]
        assert list(map(phrase, found)) == list(map(phrase, entry["answers"])), entry["question"]
        for ours, theirs in zip(found, entry["answers"], strict=True):
            assert ours["score"] == pytest.approx(theirs["score"], abs=tolerance)
            assert (ours["passage"], ours.get("sentence")) == (theirs["passage"], theirs.get("sentence"))


def phrase(answer: dict[str, Any]) -> tuple[str, int, int, str]:
    return answer["document"]["id"], answer["start"], answer["end"], answer["text"]


@pytest.mark.parametrize("name", INDEXES)
def test_what_it_holds(name: str, documents: dict[str, Document]) -> None:
    index, expected = PhraseIndex.open(FORMER / name, MODEL), EXPECTED["indexes"][name]
    assert index.check() == []
    info = expected["info"]
    found = index.info()
    for count in ("package_version", "building", "segments", "documents", "deleted", "passages", "bytes"):
        assert getattr(found, count) == info[count]
    assert found.vectors == info["rows"]
    former = info["settings"]
    assert found.settings.quantizer == ("pq" if former["quantizer"] == "compact" else former["quantizer"])
    assert found.settings.product_quantizer == former["code"]
    for setting in ("model", "fingerprint", "tokenizer", "dim", "filter_threshold", "candidates", "passage_tokens"):
        assert getattr(found.settings, setting) == former[setting]
    assert [identifier for identifier in documents if index.document(identifier)] == expected["documents"]
    assert all(index.document(identifier) == documents[identifier] for identifier in expected["documents"])
    usage = index.disk_usage()
    assert (usage.bytes, usage.vectors) == (info["bytes"], info["rows"])
    assert usage.purposes["vectors"] > usage.purposes["tokens"] > 0


@pytest.mark.parametrize("name", INDEXES)
def test_what_it_answers(name: str) -> None:
    expected = EXPECTED["indexes"][name]
    index = PhraseIndex.open(FORMER / name, MODEL)
    assert_answers(index, expected["search"], INT8_TOLERANCE)
    tolerance = INT8_TOLERANCE if index.info().deleted else FP32_TOLERANCE  # deleted documents counted in IDFs once
    assert_answers(PhraseIndex.open(FORMER / name, load(MODEL, "fp32")), expected["search_fp32"], tolerance)


@pytest.mark.parametrize("copied", INDEXES, indirect=True)
def test_a_deletion_keeps_its_segments(copied: Path) -> None:
    before = json.loads((copied / MANIFEST_FILE).read_text())
    index = PhraseIndex.open(copied, MODEL)
    index.delete(["short"])
    values = json.loads((copied / MANIFEST_FILE).read_text())
    assert (before["schema_version"], values["schema_version"]) == (FORMER_SCHEMA, SCHEMA_VERSION)
    assert [list(entry["files"]) for entry in values["segments"]] == [list(e["files"]) for e in before["segments"]]
    assert [entry["vectors"] for entry in values["segments"]] == [entry["rows"] for entry in before["segments"]]
    again = PhraseIndex.open(copied, MODEL)
    assert again.check() == []
    assert again.document("short") is None
    assert again.info().documents == len(EXPECTED["indexes"][copied.name]["documents"]) - 1


@pytest.mark.parametrize("copied", INDEXES, indirect=True)
def test_documents_are_added_and_segments_merged(copied: Path, documents: dict[str, Document]) -> None:
    expected = {identifier: documents[identifier] for identifier in EXPECTED["indexes"][copied.name]["documents"]}
    index = PhraseIndex.open(copied, MODEL)
    index.add([NEW])
    index.delete(["short"])
    expected = {**expected, NEW.id: NEW}
    del expected["short"]
    for _ in ("with segments of both versions", "merged"):
        again = PhraseIndex.open(copied, MODEL)
        assert again.check() == []
        assert {name: again.document(name) for name in expected} == expected
        assert again.info().documents == len(expected)
        index.optimize()
    merged = IndexFolder.open(copied)
    (segment,) = merged.segments
    assert set(segment.entry.files) >= set(SEGMENT_FILES)
    assert not set(segment.entry.files) & set(FORMER_FILES.values())
    assert [path.name for path in (copied / "segments").iterdir()] == [segment.name]
    assert list((copied / "deleted").glob("*.bin")) == []


@pytest.mark.parametrize("copied", INDEXES, indirect=True)
def test_a_merge_copies_vectors_and_offsets(copied: Path) -> None:
    """Documents are not encoded again."""
    pq = ProductQuantizer.read(MODEL, 24)
    before = contents(IndexFolder.open(copied, pq))
    IndexFolder.open(copied, pq).delete(["short"])
    index = IndexFolder.open(copied, pq)
    index.optimize()
    del before["short"]
    assert contents(index) == contents(IndexFolder.open(copied, pq)) == before


def contents(index: IndexFolder) -> dict[str, list[Any]]:
    """Vectors, and offsets in the text, of the tokens of each document that is not deleted."""
    found = {}
    for segment, deleted in zip(index.segments, index.deleted, strict=True):
        for document in range(segment.documents):
            if deleted is None or not deleted[document]:
                rows_N = np.arange(*segment.document_vectors[document : document + 2])
                offsets_N = segment.token_offsets(rows_N) - segment.array("text_edges")[document]
                arrays = (segment.store.decode(rows_N), offsets_N, segment.lengths(rows_N), segment.max_span(rows_N))
                found[segment.record(document).id] = [array.tolist() for array in arrays]
    return found


@pytest.mark.parametrize("copied", ["unfinished"], indirect=True)
def test_an_unfinished_build_is_resumed(copied: Path, documents: dict[str, Document]) -> None:
    expected = EXPECTED["unfinished"]
    index = PhraseIndex.open(copied, MODEL)
    assert index.check() == []
    assert index.info().building
    assert [name for name in documents if index.document(name)] == expected["documents"]
    report = index.add([documents[name] for name in expected["all_documents"]])
    added = len(expected["all_documents"]) - len(expected["documents"])
    assert (report.unchanged, report.documents) == (len(expected["documents"]), added)
    again = PhraseIndex.open(copied, MODEL)
    assert again.check() == []
    assert not again.info().building
    assert again.info().segments == 1
    assert {name: again.document(name) for name in expected["all_documents"]} == {
        name: documents[name] for name in expected["all_documents"]
    }


@pytest.mark.parametrize("copied", ["unfinished"], indirect=True)
def test_creation_resumes_it_with_the_same_settings(copied: Path) -> None:
    settings = Manifest.load(copied).settings
    assert IndexFolder.create(copied, settings).manifest.building
    with pytest.raises(PhraseIndexError, match="unfinished index with filter_threshold="):
        IndexFolder.create(copied, settings.with_threshold(None))


@pytest.mark.parametrize("copied", ["index-int8"], indirect=True)
def test_files_of_both_versions_that_no_manifest_names_are_removed(copied: Path) -> None:
    left = copied / "segments" / "000099"
    left.mkdir()
    for name in (*SEGMENT_FILES, *FORMER_FILES.values()):
        (left / name).touch()
    IndexFolder.open(copied).delete(["short"])
    assert not left.exists()
    assert IndexFolder.open(copied).check() == []


@pytest.mark.parametrize("missing", ["settings", "segments"])
def test_a_former_manifest_without_its_keys_is_refused(missing: str, tmp_path: Path) -> None:
    values = json.loads((FORMER / "index-int8" / MANIFEST_FILE).read_text())
    assert from_former(values, SCHEMA_VERSION)["schema_version"] == SCHEMA_VERSION
    del values[missing]
    (tmp_path / MANIFEST_FILE).write_text(json.dumps(values))
    with pytest.raises(PhraseIndexError, match=rf"missing or unknown values \('{missing}'\)"):
        Manifest.load(tmp_path)
