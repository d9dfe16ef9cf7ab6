"""CandidateIndex: exact ones equal sorting all scores, approximate ones nearly, and none fails on few rows."""

from itertools import product
from pathlib import Path

import faiss
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.typing import NDArray

from densephrases.arrays import Floats
from densephrases.errors import ConfigError
from densephrases.index.candidates import exact
from densephrases.index.candidates import search as candidates
from densephrases.index.candidates.base import CandidateIndex
from densephrases.index.candidates.exact import ExactCandidates
from densephrases.index.candidates.search import (
    IvfCandidates,
    PassageCandidates,
    build_ivf,
    choose_kind,
    least_rescored,
    open_candidates,
    probed_clusters,
    write_candidates,
)
from densephrases.index.kinds import CANDIDATE_KINDS, QUANTIZERS, CandidateKind, Quantizer
from densephrases.index.vectors.store import Rows, VectorStore
from tests.index.made_up import store_of

BUILT: list[CandidateKind] = ["ivf-pq", "ivf-sq4"]


def clustered(rows: int, dim: int, seed: int = 0) -> Floats:
    """Rows around the same twenty centres, whatever the seed."""
    centres = 3 * np.random.default_rng(0).normal(size=(20, dim))
    random = np.random.default_rng(seed)
    return (centres[random.integers(20, size=rows)] + random.normal(size=(rows, dim))).astype(np.float32)


def oracle(store: VectorStore, queries: Floats, k: int, allowed: NDArray[np.bool_] | None) -> tuple[Floats, Rows]:
    scores = store.batch_scores(np.arange(len(store)), queries)
    if allowed is not None:
        scores[:, ~allowed] = -np.inf
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    best = np.take_along_axis(scores, order, axis=1)
    order = np.where(best == -np.inf, -1, order)
    missing = ((0, 0), (0, max(k - len(store), 0)))
    return np.pad(best, missing, constant_values=-np.inf), np.pad(order, missing, constant_values=-1)


@given(st.data())
def test_exact_candidates_equal_sorting_everything(data: st.DataObject) -> None:
    rows, queries, k = (data.draw(st.integers(0, 40)), data.draw(st.integers(0, 3)), data.draw(st.integers(0, 50)))
    store = store_of(clustered(rows, 6, seed=rows), data.draw(st.sampled_from(QUANTIZERS)))
    allowed = data.draw(st.none() | npst.arrays(np.bool_, rows))
    asked = clustered(queries, 6, seed=99)
    scores, found = ExactCandidates(store).search(asked, k, allowed)
    expected, best = oracle(store, asked, k, allowed)
    assert scores.dtype == np.float32
    assert found.dtype == np.int64
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-3)
    assert ((found == -1) == (best == -1)).all()
    known = found >= 0
    np.testing.assert_allclose(
        np.take_along_axis(store.batch_scores(np.arange(rows), asked), np.maximum(found, 0), axis=1)[known]
        if rows
        else scores[known],
        scores[known],
        rtol=1e-4,
        atol=1e-3,
    )


def test_a_scan_in_blocks_equals_one_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_of(clustered(500, 8), "int8")
    queries = clustered(3, 8, seed=5)
    allowed = np.arange(500) % 3 != 0
    expected = ExactCandidates(store).search(queries, 20, allowed)
    monkeypatch.setattr(exact, "_KEPT_BYTES", 0)
    monkeypatch.setattr(exact, "_SCAN_ROWS", 7)
    found = ExactCandidates(store).search(queries, 20, allowed)
    assert found[1].tolist() == expected[1].tolist()
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-5)


@pytest.mark.parametrize("wanted", CANDIDATE_KINDS)
@pytest.mark.parametrize("rows", [1, 2, 999, 1000])
def test_any_number_of_rows_can_be_searched(wanted: CandidateKind, rows: int, tmp_path: Path) -> None:
    store = store_of(clustered(rows, 8), "pq" if wanted == "passages" else "int8")
    kind = choose_kind(store, wanted)
    assert kind == (wanted if rows >= 1000 else "exact")
    write_candidates(store, kind, tmp_path)
    queries = store.decode(slice(None))[:2]
    scores, found = open_candidates(tmp_path, kind, store).search(queries, 1200)
    assert scores.shape == found.shape == (len(queries), 1200)
    assert (scores[:, :-1] >= scores[:, 1:]).all()
    assert (found >= 0).any(axis=1).all()
    if kind == "exact":
        assert sorted(found[0].tolist())[-rows:] == list(range(rows))


@pytest.fixture(scope="module", params=[*product(BUILT, ["int8", "pq"]), ("passages", "pq")], ids=" ".join)
def approximate(request: pytest.FixtureRequest) -> CandidateIndex:
    kind, quantizer = request.param
    store = store_of(clustered(5000, 64), quantizer)
    return PassageCandidates(store) if kind == "passages" else IvfCandidates(store, build_ivf(store, kind))


def recall(found: Rows, best: Rows) -> float:
    return float(np.mean([len(set(a) & set(b)) / len(b) for a, b in zip(found.tolist(), best.tolist(), strict=True)]))


def test_approximate_candidates_find_nearly_all(approximate: CandidateIndex) -> None:
    queries = clustered(50, 64, seed=1)
    scores, found = approximate.search(queries, 10)
    expected, best = oracle(approximate.store, queries, 10, None)
    assert recall(found, best) >= 0.9
    unlike = isinstance(approximate, PassageCandidates)  # passages of rows that have nothing in common
    np.testing.assert_allclose(scores[:, 0], expected[:, 0], rtol=0.1 if unlike else 0.05)


def test_effort_one_is_exact_and_more_effort_finds_more(approximate: CandidateIndex) -> None:
    queries = clustered(50, 64, seed=1)
    _, best = oracle(approximate.store, queries, 10, None)
    recalls = [recall(approximate.search(queries, 10, effort=effort)[1], best) for effort in (0, 0.5, 1)]
    assert recalls[0] <= recalls[1] <= recalls[2] == 1.0


def test_at_least_400_rows_are_scored_again(approximate: CandidateIndex) -> None:
    _, found = approximate.search(clustered(5, 64, seed=1), 10, oversample=100)
    assert (np.count_nonzero(found >= 0, axis=1) == 400).all()
    assert [least_rescored(rows) for rows in (1, 100_000, 10_000_000)] == [400, 400, 861]


def test_however_many_threads_there_are_all_lists_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """faiss alone leaves out fifteen of sixteen lists here."""
    found = PassageCandidates(store_of(clustered(140_000, 12), "pq"))
    monkeypatch.setattr(candidates, "_FEW_CODES", 0)
    before, queries, results = faiss.omp_get_max_threads(), clustered(24, 12, seed=1), []
    try:
        for threads in (1, 16):
            faiss.omp_set_num_threads(threads)
            results.append(found.search(queries, 10))
    finally:
        faiss.omp_set_num_threads(before)
    (scores, rows), (again, same) = results
    assert np.array_equal(rows, same)
    assert np.array_equal(scores, again)
    assert rows.max() > len(found.store) // 2


@pytest.mark.parametrize("share", [0.5, 0.01])
def test_a_mask_is_kept_to(approximate: CandidateIndex, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "EXACT_ROWS", 1000)
    queries = clustered(50, 64, seed=1)
    allowed = np.random.default_rng(2).random(5000) < share
    _, found = approximate.search(queries, 10, allowed)
    assert allowed[found[found >= 0]].all()
    assert recall(found, oracle(approximate.store, queries, 10, allowed)[1]) >= 0.9


@pytest.mark.parametrize("quantizer", ["int4", "pq"])
@pytest.mark.parametrize("kind", BUILT)
def test_building_twice_writes_the_same_bytes(kind: CandidateKind, quantizer: Quantizer, tmp_path: Path) -> None:
    store = store_of(clustered(3000, 8), quantizer)
    entries = [write_candidates(store, kind, tmp_path) for _ in range(2)]
    assert entries[0] == entries[1] != {}


def test_no_queries(approximate: CandidateIndex) -> None:
    scores, rows = approximate.search(np.zeros((0, 64), dtype=np.float32), 5)
    assert scores.shape == rows.shape == (0, 5)


@pytest.mark.parametrize("effort", [-0.1, 1.1, float("nan")])
def test_impossible_effort(effort: float) -> None:
    with pytest.raises(ConfigError, match="effort="):
        ExactCandidates(store_of(clustered(3, 4), "int8")).search(clustered(1, 4), 1, effort=effort)


def test_kinds_and_clusters_by_size() -> None:
    few = np.zeros((candidates.EXACT_ROWS, 1), dtype=np.float32)
    kinds: dict[Quantizer, CandidateKind] = {"int8": "ivf-pq", "pq": "passages"}
    for quantizer, kind in kinds.items():
        assert choose_kind(store_of(few[:0], quantizer)) == choose_kind(store_of(few, quantizer)) == "exact"
        assert choose_kind(store_of(np.pad(few, ((0, 1), (0, 0))), quantizer)) == kind
    assert probed_clusters(1, 0.5) == 1
    assert probed_clusters(1000, 1) == 1000
