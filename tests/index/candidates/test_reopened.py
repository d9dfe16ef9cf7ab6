"""The candidates of the object that built an index, of one that opened it, and of a merged copy."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from densephrases.index.folder import IndexFolder
from densephrases.index.kinds import CANDIDATE_KINDS, PRODUCT_QUANTIZERS, QUANTIZERS, CandidateKind, Quantizer
from densephrases.index.settings import IndexSettings
from densephrases.text.documents import Document
from tests.index.made_up import DIM, CodedEncoder, long_text

ENCODER = CodedEncoder()
KINDS: list[tuple[Quantizer, CandidateKind]] = [
    pair
    for pair in product(QUANTIZERS, CANDIDATE_KINDS)
    if pair[1] not in ("passages", "clusters") or pair[0] in PRODUCT_QUANTIZERS
]
DOCUMENTS = [Document(f"d{number}", long_text(number, 150), f"title {number}") for number in range(24)]


def candidates_of(index: IndexFolder, kind: CandidateKind) -> list[list[list[float]]]:
    """Scores and rows that each segment finds, whatever the effort."""
    queries = np.random.default_rng(0).normal(size=(7, DIM)).astype(np.float32)
    found = []
    for segment in index.segments:
        assert segment.entry.candidates == kind
        for effort in (0.0, 0.5, 1.0):
            for values in segment.candidates.search(queries, 30, effort=effort, oversample=4):
                found.append(values.tolist())
    return found


@pytest.mark.parametrize(("quantizer", "kind"), KINDS)
def test_the_builder_and_who_opens_it_find_the_same(quantizer: Quantizer, kind: CandidateKind, tmp_path: Path) -> None:
    settings = IndexSettings.from_encoder(ENCODER, "hash", quantizer).with_candidates(kind)
    pq = ENCODER.product_quantizer
    built = IndexFolder.create(tmp_path / "index", settings, pq)
    built.add(DOCUMENTS, ENCODER)
    expected = candidates_of(built, kind)
    assert len(expected) == 6
    assert candidates_of(IndexFolder.open(built.folder, pq), kind) == expected
    assert candidates_of(built.reopened(), kind) == expected
    built.add([Document("more", long_text(99, 150))], ENCODER)
    built.delete(["more"])
    assert len(built.segments) == 2
    built.optimize()
    assert candidates_of(built, kind) == candidates_of(IndexFolder.open(built.folder, pq), kind) == expected
