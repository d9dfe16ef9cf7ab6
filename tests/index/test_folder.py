"""An index folder against a plain dictionary, through crashes, and what it refuses."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from densephrases.arrays import Floats, owners
from densephrases.errors import ConfigError, DataError, PhraseIndexError
from densephrases.index import folder
from densephrases.index.build import builder
from densephrases.index.candidates import exact
from densephrases.index.files import durable as disk
from densephrases.index.files.lock import only_writer
from densephrases.index.folder import IndexFolder
from densephrases.index.kinds import QUANTIZERS, Quantizer
from densephrases.index.progress import Progress, ProgressCallback
from densephrases.index.settings import IndexSettings
from densephrases.model.padding import TokenBatch
from densephrases.text.documents import Document
from densephrases.text.passages import Passage

from .made_up import METADATA, TEXT, CodedEncoder, HashEncoder, collections, long_text

QUIET = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
LONG = [Document(f"d{i}", long_text(i, 40 + 37 * (i % 5)), f"title {i}", {"n": i}) for i in range(20)]


class KilledError(Exception):
    """What stops a run in these tests."""


@pytest.fixture(autouse=True)
def small_segments(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(builder, "PARTIAL_VECTORS", 60)
    monkeypatch.setattr(builder, "_LOOKED_UP", 2)


@pytest.fixture(scope="module")
def encoder() -> HashEncoder:
    return HashEncoder()


def fresh(encoder: HashEncoder, quantizer: Quantizer = "int8", at: Path | None = None) -> IndexFolder:
    place = at or Path(tempfile.mkdtemp()) / "index"
    return IndexFolder.create(place, IndexSettings.from_encoder(encoder, "hash", quantizer), encoder.product_quantizer)


def test_models_with_codebooks_get_pq_indexes(encoder: HashEncoder) -> None:
    assert IndexSettings.from_encoder(encoder, "hash").quantizer == "int8"
    assert IndexSettings.from_encoder(CodedEncoder(), "hash").quantizer == "pq"
    assert IndexSettings.from_encoder(CodedEncoder(), "hash", "fp16").quantizer == "fp16"
    with pytest.raises(ConfigError, match="quantizer='pq' needs a model with a product quantizer"):
        IndexSettings.from_encoder(encoder, "hash", "pq")
    with pytest.raises(ConfigError, match="candidates='passages' goes with quantizer='pq', not with 'int8'"):
        IndexSettings.from_encoder(CodedEncoder(), "hash", "int8").with_candidates("passages")


def contents(index: IndexFolder) -> dict[str, bytes]:
    """All bytes of all segments, whatever they are called."""
    return {
        f"{number}/{path.name}": path.read_bytes()
        for number, segment in enumerate(index.segments)
        for path in sorted(segment.folder.iterdir())
    }


def stored(index: IndexFolder) -> dict[str, Document]:
    return {
        document.id: document
        for segment, deleted in zip(index.segments, index.deleted, strict=True)
        for number in range(segment.documents)
        if deleted is None or not deleted[number]
        for document in [segment.document(number)]
    }


def cut(documents: Iterable[Document], count: int) -> Iterator[Document]:
    for number, document in enumerate(documents):
        if number == count:
            raise KilledError
        yield document


@QUIET
@given(collections(), st.sampled_from(QUANTIZERS))
def test_every_row_stands_where_its_token_does(made: list[Document], quantizer: Quantizer) -> None:
    encoder = CodedEncoder()
    index = fresh(encoder, quantizer)
    report = index.add(made, encoder)
    assert report.documents == index.documents == len(made)
    assert stored(index) == {document.id: document for document in made}
    for segment in index.segments:
        assert segment.vector_edges[-1] == segment.vectors == len(segment.store)
        for passage in range(segment.passages):
            document = segment.document(int(segment.passage_documents[passage]))
            text, offset = segment.passage_text(passage), int(segment.passage_offsets[passage])
            assert document.text[offset : offset + len(text)] == text
            (vectors,) = encoder.encode_passages([Passage(text, document.title)])
            rows_N = np.arange(*segment.vector_edges[passage : passage + 2])
            offsets = {tuple(pair) for pair in vectors.offsets_T2.tolist()}
            begins_N, lengths_N = (
                segment.token_offsets(rows_N) - segment.passage_bytes[passage],
                segment.lengths(rows_N),
            )
            assert offsets.issuperset(zip(begins_N.tolist(), (begins_N + lengths_N).tolist(), strict=True))
            assert set(rows_N.tolist()).issuperset((rows_N + segment.max_span(rows_N)).tolist())
            assert owners(segment.vector_edges, rows_N).tolist() == [passage] * len(rows_N)


def test_max_span_counts_kept_tokens_only(encoder: HashEncoder) -> None:
    index = fresh(encoder)
    index.add(LONG[:1], encoder)
    segment = index.segments[0]
    (vectors,) = encoder.encode_passages([Passage(segment.passage_text(0), LONG[0].title)])
    kept = vectors.kept(0.0)
    assert not kept.all()
    expected = [int(kept[t + 1 : vectors.max_span_T[t] + 1].sum()) for t in np.flatnonzero(kept)]
    rows_N = np.arange(len(expected))
    assert segment.max_span(rows_N).tolist() == expected
    assert segment.token_offsets(rows_N).tolist() == vectors.offsets_T2[kept, 0].tolist()
    assert (segment.token_offsets(rows_N) + segment.lengths(rows_N)).tolist() == vectors.offsets_T2[kept, 1].tolist()


@pytest.mark.parametrize("quantizer", ["int8", "int4", "pq"])
@pytest.mark.parametrize("cuts", [[0], [1], [7], [13, 6], [19, 20]], ids=str)
def test_a_build_cut_anywhere_ends_the_same(
    quantizer: Quantizer, cuts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact, "EXACT_VECTORS", 500)
    encoder = CodedEncoder()
    whole = fresh(encoder, quantizer)
    whole.add(LONG, encoder)
    broken = fresh(encoder, quantizer)
    for count in cuts:
        with pytest.raises(KilledError):
            broken.add(cut([*LONG, LONG[0]], count), encoder)
        assert broken.manifest.building
        assert broken.documents > count - 6
        broken = IndexFolder.create(
            broken.folder, IndexSettings.from_encoder(encoder, "hash", quantizer), encoder.product_quantizer
        )
    broken.add(LONG, encoder)
    assert whole.vectors > 1000
    assert [entry.candidates for entry in whole.manifest.segments] == ["passages" if quantizer == "pq" else "ivf-pq"]
    assert contents(broken) == contents(whole)
    assert not broken.manifest.building


@QUIET
@given(collections(12), st.lists(st.integers(0, 12), max_size=4), st.integers(0, 40))
def test_any_documents_cut_anywhere_end_the_same(made: list[Document], cuts: list[int], partial_vectors: int) -> None:
    encoder = HashEncoder()
    whole, broken = fresh(encoder), fresh(encoder)
    whole.add(made, encoder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builder, "PARTIAL_VECTORS", partial_vectors)
        for count in cuts:
            with suppress(KilledError):
                broken.add(cut(made, count), encoder)
            broken = IndexFolder.open(broken.folder, encoder.product_quantizer)
            if not broken.manifest.building:
                return
        broken.add(made, encoder)
    assert contents(broken) == contents(whole)


class FailingEncoder(HashEncoder):
    """Fails in one of its forward passes."""

    def __init__(self, fails_at: int) -> None:
        super().__init__()
        self.fails_at = fails_at

    def forward_passages(self, batch: TokenBatch) -> tuple[Floats, Floats]:
        if self.forwards == self.fails_at:
            raise KilledError
        return super().forward_passages(batch)


@pytest.mark.parametrize("fails_at", [0, 3, 30, 60])
def test_an_encoder_that_fails_loses_nothing_that_was_committed(encoder: HashEncoder, fails_at: int) -> None:
    whole, broken = fresh(encoder), fresh(encoder)
    whole.add(LONG, encoder)
    failing = FailingEncoder(fails_at)
    with pytest.raises(KilledError):
        broken.add(LONG, failing)
    kept = stored(broken)
    assert kept == {document.id: document for document in LONG[: len(kept)]}
    report = broken.add(LONG, encoder)
    assert (report.unchanged, report.documents) == (len(kept), len(LONG) - len(kept))
    assert contents(broken) == contents(whole)


GIANT = Document("giant", long_text(0, 4000), "long")


def stopping_at(reports: int) -> ProgressCallback:
    """Ends a build after so many chunks."""
    told = []

    def report(progress: Progress) -> None:
        told.append(progress)
        if len(told) == reports:
            raise KilledError

    return report


@pytest.mark.parametrize("quantizer", ["int8", "pq"])
@pytest.mark.parametrize("cuts", [[2], [5], [20], [3, 6, 1, 4]], ids=str)
def test_a_document_cut_anywhere_goes_on_inside(quantizer: Quantizer, cuts: list[int]) -> None:
    """No search sees a part of it; what is committed is not encoded again, and the end is the same."""
    made = [LONG[0], GIANT, LONG[1]]
    encoder = CodedEncoder()
    whole, broken = fresh(encoder, quantizer), fresh(encoder, quantizer)
    whole.add(made, encoder)
    once, encoder.forwards = encoder.forwards, 0
    done = 0
    for count in cuts:
        with pytest.raises(KilledError):
            broken.add(made, encoder, stopping_at(count))
        assert stored(broken) == ({LONG[0].id: LONG[0]} if broken.documents else {})
        assert broken.check() == []
        parts = broken.manifest.unfinished
        assert [part.characters for part in parts] == sorted({part.characters for part in parts})
        assert done < len(GIANT.text)
        done = max([done, *(part.characters for part in parts)])
        broken = IndexFolder.open(broken.folder, encoder.product_quantizer)
    broken.add(made, encoder)
    assert done, "no part was committed"
    assert encoder.forwards < 1.2 * once + 30 * len(cuts), "but for chunks that were on the way"
    assert stored(broken) == {document.id: document for document in made}
    assert contents(broken) == contents(whole)
    assert broken.manifest.unfinished == ()
    names = {entry.name for entry in broken.manifest.segments}
    assert {path.name for path in (broken.folder / "segments").iterdir()} == names


@QUIET
@given(
    st.lists(st.tuples(st.booleans(), st.integers(1, 30)), max_size=5),
    st.integers(0, 80),
)
def test_long_documents_stopped_and_changed_at_will(steps: list[tuple[bool, int]], partial_vectors: int) -> None:
    """The same text goes on, another begins anew, and the former one is found until the new one is complete."""
    encoder = HashEncoder()
    first = [Document(f"g{n}", long_text(n, 700)) for n in range(2)]
    index, whole = fresh(encoder), fresh(encoder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builder, "PARTIAL_VECTORS", partial_vectors)
        index.add(first, encoder)
        generation = 0
        for is_new, count in steps:
            generation += is_new
            with suppress(KilledError):
                index.update([Document(d.id, f"{d.text} {generation}") for d in first], encoder, stopping_at(count))
            index = IndexFolder.open(index.folder)
            assert stored(index).keys() == {"g0", "g1"}
        index.update(final := [Document(d.id, f"{d.text} last") for d in first], encoder)
        index.optimize()
    whole.add(final, encoder)
    whole.optimize()
    assert stored(index) == {d.id: d for d in final}
    assert index.manifest.unfinished == ()
    assert [s.array("passage_offsets").tolist() for s in index.segments] == [
        s.array("passage_offsets").tolist() for s in whole.segments
    ]
    assert index.check() == []


def test_parts_wait_while_others_are_added(encoder: HashEncoder) -> None:
    index = fresh(encoder)
    with pytest.raises(KilledError):
        index.add([GIANT], encoder, stopping_at(9))
    begun = index.manifest.unfinished
    other = Document("other", long_text(5, 3000))
    with pytest.raises(KilledError):
        index.add([other], encoder, stopping_at(9))
    index.add([LONG[0]], encoder)
    assert not index.manifest.building
    assert index.manifest.unfinished[: len(begun)] == begun
    assert {part.document for part in index.manifest.unfinished} == {"giant", "other"}
    index.add([other, GIANT], encoder)
    assert stored(index) == {d.id: d for d in (LONG[0], other, GIANT)}
    assert index.manifest.unfinished == ()


def test_optimizing_drops_parts(encoder: HashEncoder) -> None:
    index = fresh(encoder)
    with pytest.raises(KilledError):
        index.add([LONG[0], GIANT], encoder, stopping_at(9))
    assert index.manifest.unfinished
    index.optimize()
    assert index.manifest.unfinished == ()
    index.add([GIANT], encoder)
    assert stored(index) == {d.id: d for d in (LONG[0], GIANT)}


def test_one_document_of_many_chunks(encoder: HashEncoder) -> None:
    index = fresh(encoder)
    report = index.add([LONG[0], GIANT, LONG[1]], encoder)
    assert report.passages > 20
    assert stored(index) == {d.id: d for d in (LONG[0], GIANT, LONG[1])}
    (segment,) = index.segments
    assert np.diff(segment.document_passages).tolist()[1] > 15
    assert (np.diff(segment.passage_documents.astype(int)) >= 0).all()


@pytest.mark.parametrize("letter", ["a", "é", "中", "😀", "e\u0301"])
def test_text_of_many_blocks_whatever_its_letters(encoder: HashEncoder, letter: str) -> None:
    shifted = [Document(str(shift), "x" * shift + f"{letter * 7}. " * 2000) for shift in range(4)]
    index = fresh(encoder)
    index.add([*shifted, Document("empty", "")], encoder)
    index.add([Document("later", letter)], encoder)
    index.delete(["1"])
    index.optimize()
    (segment,) = index.segments
    assert list(stored(index).values()) == [
        *shifted[:1],
        *shifted[2:],
        Document("empty", ""),
        Document("later", letter),
    ]
    for passage in range(segment.passages):
        whole = segment.text(int(segment.passage_documents[passage]))
        text, offset = segment.passage_text(passage), int(segment.passage_offsets[passage])
        assert whole[offset : offset + len(text)] == text


SMALL = st.builds(Document, st.sampled_from("abcdef"), TEXT, st.just("t"), METADATA)
STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "update"]), st.lists(SMALL, max_size=4, unique_by=lambda d: d.id))
    | st.tuples(st.just("delete"), st.lists(st.sampled_from("abcdef"), max_size=2))
    | st.tuples(st.just("optimize"), st.just([])),
    max_size=8,
)


@QUIET
@given(STEPS)
def test_any_sequence_of_changes_equals_a_dictionary(steps: list[tuple[str, list[Any]]]) -> None:
    encoder = HashEncoder()
    index, model = fresh(encoder), dict[str, Document]()
    for step, values in steps:
        if step == "delete" and not model.keys() >= set(values):
            with pytest.raises(DataError, match="nothing was deleted"):
                index.delete(values)
        elif step == "delete":
            assert index.delete(values) == len(set(values))
            model = {k: v for k, v in model.items() if k not in values}
        elif step == "optimize":
            index.optimize()
            assert len(index.segments) <= 1
            assert index.info().deleted == 0
        else:
            clash = [d for d in values if d.id in model and model[d.id] != d] if step == "add" else []
            if clash:
                with pytest.raises(DataError, match="update it"):
                    index.add(values, encoder)
                model |= {d.id: stored(index)[d.id] for d in values[: values.index(clash[0])] if d.id in stored(index)}
            else:
                getattr(index, step)(values, encoder)
                model |= {d.id: d for d in values}
        assert stored(index) == stored(IndexFolder.open(index.folder)) == model
        assert index.documents == len(model)
        assert index.check() == []
        for name in "abcdef":
            assert index.find(name) == model.get(name)


def test_update_replaces_what_changed(encoder: HashEncoder) -> None:
    index = fresh(encoder)
    index.add(LONG[:5], encoder)
    changed = Document("d2", "the tower was built in paris", "title 2", {"n": 2})
    report = index.update([LONG[1], changed, LONG[7]], encoder)
    assert (report.documents, report.unchanged, report.replaced) == (2, 1, 1)
    assert index.find("d2") == changed
    assert index.documents == 6
    before = index.vectors
    index.optimize()
    assert index.vectors < before
    assert list(stored(index)) == ["d0", "d1", "d3", "d4", "d2", "d7"]


def test_segments_stay_few_whatever_is_added(encoder: HashEncoder) -> None:
    index = fresh(encoder)
    for document in LONG:
        index.add([document], encoder)
        vectors = [entry.vectors for entry in index.manifest.segments]
        assert all(a > b for a, b in pairwise(vectors))
    assert len(index.segments) < 8
    again = fresh(encoder)
    again.add(LONG, encoder)
    index.optimize()
    assert [s.vectors for s in index.segments] == [s.vectors for s in again.segments]
    assert stored(index) == stored(again)


def test_large_segments_are_split_at_documents(encoder: HashEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "largest_segment", lambda dim: 300)
    index = fresh(encoder)
    index.add(LONG, encoder)
    assert len(index.segments) > 3
    assert all(segment.vectors <= 300 for segment in index.segments)
    assert list(stored(index)) == [document.id for document in LONG]


@pytest.mark.parametrize("second", [LONG[0], Document("d0", "other")], ids=["same", "other"])
@pytest.mark.parametrize("between", [0, 3, 19])
@pytest.mark.parametrize("known", [False, True], ids=["new", "known"])
def test_an_id_twice_in_one_run(encoder: HashEncoder, second: Document, between: int, known: bool) -> None:
    index = fresh(encoder)
    if known:
        index.add(LONG[:1], encoder)
    with pytest.raises(DataError, match="'d0'"):
        index.update([*LONG[: between + 1], second], encoder)


@pytest.mark.parametrize("looked_up", [1, 256])
def test_ids_of_the_same_block_and_of_others(
    encoder: HashEncoder, looked_up: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builder, "_LOOKED_UP", looked_up)
    for count in (2, 20):
        with pytest.raises(DataError, match="Two documents have the id 'd0'"):
            fresh(encoder).add([*LONG[:count], LONG[0]], encoder)


def test_what_cannot_be_stored_is_named(encoder: HashEncoder) -> None:
    index = fresh(encoder)
    with pytest.raises(DataError, match=r"Document 'odd' has metadata that JSON cannot hold"):
        index.add([Document("odd", "text", metadata={"when": object()})], encoder)
    with pytest.raises(DataError, match=r"Document 'half' has half a surrogate pair"):
        index.add([Document("half", "text \ud800")], encoder)
    with pytest.raises(DataError, match=r"Document '\\ud800' has half a surrogate pair in its id"):
        index.add([Document("\ud800", "the text")], encoder)
    for value in ({"\ud800": 1}, {"a": ["\udfff"]}, {"a": float("nan")}, {"a": 10**5000}, {"a": nested(700)}):
        with pytest.raises(DataError, match=r"Document 'odd' has metadata that JSON cannot hold"):
            index.add([Document("odd", "the text", metadata=value)], encoder)
    with pytest.raises(DataError, match="Document 'five' has a title of type int; expected text"):
        index.add([Document("five", "the text", 5)], encoder)  # type: ignore[arg-type]
    kept = Document("\U0001f600", "the text", metadata={"\U0001f600": nested(90)})
    index.add([kept], encoder)
    assert stored(index) == {"\U0001f600": kept}


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def test_progress_tells_all_counts(encoder: HashEncoder) -> None:
    seen: list[Any] = []
    index = fresh(encoder)
    report = index.add(LONG, encoder, seen.append)
    assert len(seen) > 3
    assert [p.documents for p in seen] == sorted(p.documents for p in seen)
    assert report.vectors == index.vectors <= report.tokens
    assert report.characters == sum(len(document.text) for document in LONG)
    assert report.passages == index.info().passages


def test_left_over_files_are_removed_and_old_ones_kept(encoder: HashEncoder) -> None:
    index = fresh(encoder)
    index.add(LONG[:3], encoder)
    (index.folder / "segments" / "000099").mkdir()
    (index.folder / "segments" / "000099" / "text.bin").write_text("half")
    (index.folder / "deleted" / "000098.bin").write_text("half")
    before = contents(index)
    index.add([], encoder)
    assert contents(IndexFolder.open(index.folder)) == before
    assert [path.name for path in (index.folder / "segments").iterdir()] == [index.segments[0].name]
    assert list((index.folder / "deleted").iterdir()) == []


def test_two_writers(encoder: HashEncoder) -> None:
    index = fresh(encoder)
    with only_writer(index.folder), pytest.raises(PhraseIndexError, match=f"process {os.getpid()}"):
        index.add(LONG[:1], encoder)
    index.add(LONG[:1], encoder)


def test_a_reader_keeps_what_it_opened_until_it_refreshes(encoder: HashEncoder) -> None:
    index = fresh(encoder)
    index.add(LONG[:2], encoder)
    reader = IndexFolder.open(index.folder)
    index.add(LONG[2:4], encoder)
    assert reader.documents == 2
    reader.refresh()
    assert reader.documents == 4


def test_a_full_disk_keeps_what_was_committed(encoder: HashEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    index = fresh(encoder)
    index.add(LONG[:3], encoder)
    room = 20_000

    def write(file: disk.HashedFile, data: Any) -> None:
        nonlocal room
        room -= len(memoryview(data).cast("B")) if len(data) else 0
        if room < 0:
            raise OSError(28, "No space left on device")
        original(file, data)

    original = disk.HashedFile.write
    monkeypatch.setattr(disk.HashedFile, "write", write)
    with pytest.raises(PhraseIndexError, match=r"disk is full.*free some space"):
        index.add(LONG, encoder)
    monkeypatch.undo()
    again = IndexFolder.open(index.folder)
    assert again.check() == []
    assert set(stored(again)) >= {"d0", "d1", "d2"}
    again.add(LONG, encoder)
    assert len(stored(again)) == len(LONG)


def damaged(encoder: HashEncoder, name: str) -> tuple[IndexFolder, Path]:
    index = fresh(encoder)
    index.add(LONG[:3], encoder)
    index.delete(["d1"])
    return index, next(index.folder.rglob(name))


@pytest.mark.parametrize("name", ["text.bin", "text_blocks.bin", "vectors.bin", "token_extents.bin", "quantizer.bin"])
def test_damaged_files_are_named(encoder: HashEncoder, name: str) -> None:
    index, path = damaged(encoder, name)
    data = path.read_bytes()
    path.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    assert [str(path) in problem and "checksum" in problem for problem in IndexFolder.open(index.folder).check()] == [
        True
    ]
    path.write_bytes(data[:-1])
    with pytest.raises(PhraseIndexError, match=f"{name}' has {len(data) - 1} bytes, {len(data)} were written"):
        IndexFolder.open(index.folder)
    path.unlink()
    with pytest.raises(PhraseIndexError, match=f"{name}' is missing"):
        IndexFolder.open(index.folder)


def test_damaged_text_is_named_when_it_is_read(encoder: HashEncoder) -> None:
    index, path = damaged(encoder, "text.bin")
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(PhraseIndexError, match=f"'{path}' is damaged: .*; restore it from a copy"):
        IndexFolder.open(index.folder).find("d0")


def test_folders_that_are_no_index(tmp_path: Path, encoder: HashEncoder) -> None:
    with pytest.raises(PhraseIndexError, match=r"is no index: it has no manifest\.json"):
        IndexFolder.open(tmp_path)
    (tmp_path / "photo.jpg").touch()
    with pytest.raises(PhraseIndexError, match=r"is not empty: it holds 'photo.jpg'"):
        fresh(encoder, at=tmp_path)
    with pytest.raises(PhraseIndexError, match="is a file"):
        fresh(encoder, at=tmp_path / "photo.jpg")
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(PhraseIndexError, match="not valid JSON"):
        IndexFolder.open(tmp_path)
    for values, message in [
        ({"schema_version": 2}, "schema version 2, this package reads 7 to 9"),
        ([], "version None"),
    ]:
        (tmp_path / "manifest.json").write_text(json.dumps(values))
        with pytest.raises(PhraseIndexError, match=message):
            IndexFolder.open(tmp_path)
    for version in (7, 8):
        (tmp_path / "manifest.json").write_text(json.dumps({"schema_version": version}))
        with pytest.raises(PhraseIndexError, match="missing or unknown values"):
            IndexFolder.open(tmp_path)


def test_creating_twice(encoder: HashEncoder) -> None:
    index = fresh(encoder)
    assert fresh(encoder, at=index.folder).documents == 0
    with pytest.raises(PhraseIndexError, match="unfinished index with quantizer='int8', not 'int4'"):
        fresh(encoder, "int4", at=index.folder)
    index.add(LONG[:2], encoder)
    with pytest.raises(PhraseIndexError, match="already holds an index of 2 documents"):
        fresh(encoder, at=index.folder)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"fingerprint": "xyz"}, r"model 'hash' \(fingerprint abc\), not .* base 'hash' \(fingerprint xyz\)"),
        ({"dim": 5}, r"vector size 12.*vector size 5"),
        ({"max_words": 9}, "max_words=4, the given model of base 'hash' has max_words=9"),
        ({"share": True, "split": True}, "split=True: its coherency score cannot be searched"),
    ],
)
def test_other_models_are_refused(encoder: HashEncoder, settings: dict[str, Any], message: str) -> None:
    index = fresh(encoder)
    with pytest.raises(PhraseIndexError, match=message):
        index.add(LONG[:1], HashEncoder(**settings))


KILLED = """
import sys, time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from densephrases.index.build import builder
from tests.index.made_up import HashEncoder
from tests.index.test_folder import LONG, fresh
builder.PARTIAL_VECTORS, builder._LOOKED_UP = 60, 2

def slowly():
    for number, document in enumerate(LONG):
        if number == 15:
            print("far enough", flush=True)
            time.sleep(600)
        yield document

fresh(HashEncoder(), at=Path(sys.argv[1])).add(slowly(), HashEncoder())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGKILL")
def test_a_killed_process_is_resumed(encoder: HashEncoder, tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", KILLED, str(tmp_path / "index")], stdout=subprocess.PIPE, text=True, cwd=root
    )
    assert process.stdout is not None
    with process.stdout as output:
        assert output.readline() == "far enough\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    resumed = fresh(encoder, at=tmp_path / "index")
    report = resumed.add(LONG, encoder)
    assert report.unchanged > 0
    whole = fresh(encoder)
    whole.add(LONG, encoder)
    assert contents(resumed) == contents(whole)


def test_a_sample_is_spread_over_the_index(encoder: HashEncoder) -> None:
    index = fresh(encoder)
    assert list(index.sample(3)) == []
    index.add(LONG[:10], encoder)
    index.add(LONG[10:], encoder)
    assert {each.id for each in index.sample(100)} == {each.id for each in LONG}
    few = list(index.sample(3))
    assert few == [LONG[0], LONG[9], LONG[19]]
    index.delete([LONG[0].id])
    assert list(index.sample(3))[-1] == LONG[19]
    assert LONG[0] not in index.sample(100)
