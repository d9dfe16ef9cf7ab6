"""Snapshots share open segments, but only those that are still the same."""

from pathlib import Path

import pytest

from densephrases.index.candidates import exact
from densephrases.index.candidates.exact import ExactCandidates
from densephrases.index.candidates.ivf import IvfCandidates
from densephrases.index.folder import IndexFolder
from densephrases.index.settings import IndexSettings
from densephrases.index.snapshot import DocumentLocation
from densephrases.text.documents import Document

from .made_up import CodedEncoder, long_text

LONG = [Document(f"d{i}", long_text(i, 150), f"title {i}") for i in range(15)]


@pytest.fixture(params=["pq", "int8"])
def index(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> IndexFolder:
    """One segment, which a build commits as a partial one first."""
    monkeypatch.setattr(exact, "EXACT_VECTORS", 500)
    encoder, quantizer = CodedEncoder(), request.param
    settings = IndexSettings.from_encoder(encoder, "hash", quantizer)
    made = IndexFolder.create(tmp_path / "index", settings, encoder.product_quantizer)
    made.add(LONG, encoder)
    return made


def test_a_build_searches_with_the_candidates_of_the_reopened_index(index: IndexFolder) -> None:
    (built,), (reopened,) = index.segments, IndexFolder.open(index.folder, index.product_quantizer).segments
    assert built.vectors > 1000
    assert built.entry == reopened.entry == index.manifest.segments[0]
    assert type(built.candidates) is type(reopened.candidates)
    assert isinstance(built.candidates, IvfCandidates)


def test_deletions_leave_a_segment_open(index: IndexFolder) -> None:
    (before,) = index.segments
    index.delete(["d3"])
    (after,) = index.segments
    assert after is before
    assert index.snapshot.locate(["d2", "d3", "d4"]) == {"d2": DocumentLocation(0, 2), "d4": DocumentLocation(0, 4)}


def test_a_snapshot_stays_as_it_is(index: IndexFolder) -> None:
    held = index.snapshot
    index.delete(["d3"])
    index.optimize()
    assert "d3" in held.locate(["d3"])
    assert held.segments[0].document(3) == LONG[3]
    assert index.segments[0].name != held.segments[0].name


def test_small_segments_are_exact(tmp_path: Path) -> None:
    encoder = CodedEncoder()
    made = IndexFolder.create(
        tmp_path / "index", IndexSettings.from_encoder(encoder, "hash"), encoder.product_quantizer
    )
    made.add(LONG[:1], encoder)
    assert isinstance(made.segments[0].candidates, ExactCandidates)
