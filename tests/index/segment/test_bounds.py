"""Arrays that lead nowhere are refused, even if every checksum vouches for them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from densephrases.errors import PhraseIndexError
from densephrases.index.folder import IndexFolder
from densephrases.index.manifest import SEGMENTS_FOLDER
from densephrases.index.segment.files import ARRAYS, CHECKSUMS_FILE, array_file
from densephrases.index.settings import IndexSettings
from densephrases.search.phrase_index import PhraseIndex
from densephrases.text.documents import Document
from tests.index.forged import forge, without_block_checksums
from tests.index.made_up import CodedEncoder, long_text

DOCUMENTS = [Document(f"d{i}", long_text(i, 150), f"title {i}", {"year": i}) for i in range(16)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    encoder = CodedEncoder()
    settings = IndexSettings.from_encoder(encoder, "hash", "int8").with_candidates("ivf-pq")
    IndexFolder.create(tmp_path / "index", settings, encoder.product_quantizer).add(DOCUMENTS, encoder)
    return tmp_path / "index"


def use(folder: Path) -> Any:
    index = PhraseIndex.open(folder, CodedEncoder())
    found = index.search(["where is the city", "who built the tower"], 5, lexical_weight=0.5)
    index.search("where is the city", 3, where={"year": 3})
    assert [(len(segment.digests), len(segment.document_vectors)) for segment in index.folder.segments] == [(16, 17)]
    return found, [index.document(document.id) for document in DOCUMENTS], index.disk_usage()


def sound(folder: Path, name: str) -> bytes:
    return next(folder.rglob(name)).read_bytes()


def values(name: str, change: Callable[[Any], Any]) -> Callable[[bytes], bytes]:
    return lambda data: np.asarray(change(np.frombuffer(data, ARRAYS[name]).copy())).astype(ARRAYS[name]).tobytes()


def put(at: int, value: int) -> Callable[[Any], Any]:
    def change(array: Any) -> Any:
        array[at] = value
        return array

    return change


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("vector_edges", put(1, -5), "its edges do not ascend from 0"),
        ("vector_edges", put(0, 1), "its edges do not ascend from 0"),
        ("vector_edges", put(-1, 1 << 40), "its last edge is 1099511627776, expected"),
        ("document_passages", put(2, 1 << 40), "do not ascend"),
        ("text_edges", put(3, 0), "do not ascend"),
        ("text_blocks", put(-1, 7), "do not ascend|its last edge"),
        ("record_edges", put(-1, 1 << 50), "its last edge"),
        ("term_edges", put(-1, 1 << 50), "its last edge"),
        ("passage_documents", put(0, 16), "it holds 16, and 16 is too large"),
        ("id_documents", put(0, 99), "it holds 99"),
        ("id_documents", lambda array: array * 0, "it names a document twice"),
        ("id_hashes", lambda array: array[::-1], "its values do not ascend"),
        ("token_offset_steps", put(-1, 1 << 31), "is too large"),
        ("frequent_extents", lambda array: np.arange(256), "at most 255 are possible"),
        ("metadata_counts", put(0, 9), "its counts are not those"),
        ("metadata_documents", put(0, 16), "it holds 16, and 16 is too large"),
        ("metadata_digests", lambda array: array[1:], "bytes are not 32 values of 8 bytes"),
        ("token_offset_lows", lambda array: array[1:], "bytes are not"),
        ("passage_lengths", lambda array: array[1:], "bytes are not"),
    ],
)
def test_impossible_arrays_are_refused(folder: Path, name: str, change: Callable[[Any], Any], reason: str) -> None:
    forge(folder, array_file(name), values(name, change)(sound(folder, array_file(name))))
    assert IndexFolder.open(folder).check() == []
    with pytest.raises(PhraseIndexError, match=rf"{name}\.bin' is damaged: .*({reason}).*; restore it from a copy"):
        use(folder)


def test_a_size_that_does_not_fit_the_counts_is_refused(folder: Path) -> None:
    forge(folder, "digests.bin", values("digests", lambda array: array[1:])(sound(folder, "digests.bin")))
    with pytest.raises(PhraseIndexError, match=r"digests\.bin has 120 bytes, expected 128"):
        use(folder)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("passage_bytes.bin", values("passage_bytes", put(0, 1 << 40))),
        ("passage_bytes.bin", values("passage_bytes", lambda array: array - (1 << 40))),
        ("passage_lengths.bin", values("passage_lengths", lambda array: array + (1 << 30))),
        ("token_extents.bin", lambda data: b"\xff" * len(data)),
        ("quantizer.bin", lambda data: data[:-4]),
        ("vectors.bin", lambda data: data[:-1]),
        ("term_counts.bin", lambda data: data[:-9]),
        ("term_counts.bin", lambda data: b"no zlib"),
        ("records.bin", lambda data: b"[" * len(data)),
        ("text.bin", lambda data: data[:50] + b"\xff" * (len(data) - 50)),
        ("candidates.faiss", lambda data: data[: len(data) // 2]),
        ("candidates.faiss", lambda data: data[:4] + b"\x0d" + data[5:]),
        ("candidate_lists.bin", lambda data: b"\xff" * len(data)),
        ("candidate_codes.bin", lambda data: data[:-32]),
    ],
)
def test_impossible_contents_are_refused(folder: Path, name: str, change: Callable[[bytes], bytes]) -> None:
    forge(folder, name, change(sound(folder, name)))
    with pytest.raises(PhraseIndexError):
        use(folder)


def test_a_phrase_never_ends_behind_the_last_token(folder: Path) -> None:
    extents = np.frombuffer(sound(folder, "frequent_extents.bin"), ARRAYS["frequent_extents"])
    forge(folder, "frequent_extents.bin", (extents | np.uint32(255)).tobytes())
    _, found, _ = use(folder)
    assert found == DOCUMENTS
    (segment,) = IndexFolder.open(folder).segments
    rows = np.arange(segment.vectors)
    assert (rows + segment.max_span(rows) < segment.vectors).all()


def test_a_file_that_the_manifest_lacks(folder: Path) -> None:
    (segment,) = IndexFolder.open(folder).segments
    with pytest.raises(PhraseIndexError, match=r"has no other\.bin"):
        segment.blob("other.bin")


def test_segments_of_earlier_versions_are_opened_and_renewed(folder: Path) -> None:
    expected = use(folder)
    without_block_checksums(folder)
    index = IndexFolder.open(folder)
    assert [segment.has_block_checksums for segment in index.segments] == [False]
    assert use(folder)[:2] == expected[:2]
    index.optimize()
    (renewed,) = index.segments
    assert renewed.has_block_checksums
    assert index.check() == []
    assert use(folder) == expected
    index.optimize()
    assert index.segments == [renewed]


@pytest.mark.parametrize("blocks", [True, False])
@pytest.mark.parametrize("name", ["vectors.bin", "terms.bin", "text.bin", "token_extents.bin", "id_documents.bin"])
def test_a_merge_copies_no_damage(folder: Path, name: str, blocks: bool) -> None:
    index = IndexFolder.open(folder)
    index.delete(["d3"])
    if not blocks:
        without_block_checksums(folder)
    path = folder / SEGMENTS_FOLDER / index.segments[0].name / name
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    before = sorted(folder.rglob("*"))
    with pytest.raises(PhraseIndexError, match=f"{name}' is damaged: its checksum differs"):
        IndexFolder.open(folder).optimize()
    path.write_bytes(data)
    IndexFolder.open(folder).optimize()
    assert IndexFolder.open(folder).documents == 15
    assert path in before


def test_the_smaller_arrays_of_earlier_versions_are_verified(folder: Path) -> None:
    without_block_checksums(folder)
    for name in ("id_hashes", "passage_offsets", "vector_edges", "text_edges", "term_edges", "passage_tokens"):
        path = next(folder.rglob(array_file(name)))
        data = path.read_bytes()
        path.write_bytes(bytes([data[0] ^ 1]) + data[1:])
        with pytest.raises(PhraseIndexError, match=f"{name}.bin' is damaged: its checksum differs"):
            use(folder)
        path.write_bytes(data)


def test_damaged_checksums_are_refused(folder: Path) -> None:
    path = next(folder.rglob(CHECKSUMS_FILE))
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(PhraseIndexError, match=f"{CHECKSUMS_FILE}' is damaged: its checksum differs"):
        IndexFolder.open(folder)
