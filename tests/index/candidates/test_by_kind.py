"""The kind of candidates by size and wish; none fails on few vectors."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from densephrases.index.candidates import by_kind, exact
from densephrases.index.candidates.by_kind import choose_kind, open_candidates, write_candidates
from densephrases.index.kinds import CANDIDATE_KINDS, CandidateKind, Quantizer
from tests.index.candidates.oracle import clustered, contents
from tests.index.made_up import store_of


@pytest.mark.parametrize("wanted", CANDIDATE_KINDS)
@pytest.mark.parametrize("rows", [1, 2, 999, 1000])
def test_any_number_of_rows_can_be_searched(wanted: CandidateKind, rows: int, tmp_path: Path) -> None:
    store = store_of(clustered(rows, 8), "pq" if wanted in ("passages", "clusters") else "int8")
    kind = choose_kind(store, wanted)
    assert kind == (wanted if rows >= 1000 else "exact")
    write_candidates(store, kind, tmp_path)
    queries = store.decode(slice(None))[:2]
    scores, found = open_candidates(contents(tmp_path), kind, store).search(queries, 1200)
    assert scores.shape == found.shape == (len(queries), 1200)
    assert (scores[:, :-1] >= scores[:, 1:]).all()
    assert (found >= 0).any(axis=1).all()
    if kind == "exact":
        assert sorted(found[0].tolist())[-rows:] == list(range(rows))


@pytest.mark.parametrize(("kind", "quantizer"), [*product(["ivf-pq", "ivf-sq4"], ["int4", "pq"]), ("clusters", "pq")])
def test_building_twice_writes_the_same_bytes(kind: CandidateKind, quantizer: Quantizer, tmp_path: Path) -> None:
    store = store_of(clustered(3000, 8), quantizer)
    entries = [write_candidates(store, kind, tmp_path) for _ in range(2)]
    assert entries[0] == entries[1] != {}


def test_kinds_by_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_kind, "MOST_IN_PASSAGE_LISTS", exact.EXACT_VECTORS + 1)
    few = np.zeros((exact.EXACT_VECTORS, 1), dtype=np.float32)
    kinds: dict[Quantizer, CandidateKind] = {"int8": "ivf-pq", "pq": "passages"}
    for quantizer, kind in kinds.items():
        assert choose_kind(store_of(few[:0], quantizer)) == choose_kind(store_of(few, quantizer)) == "exact"
        assert choose_kind(store_of(np.pad(few, ((0, 1), (0, 0))), quantizer)) == kind
    assert choose_kind(store_of(np.pad(few, ((0, 2), (0, 0))), "pq")) == "clusters"
