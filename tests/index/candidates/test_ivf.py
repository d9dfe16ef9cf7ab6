"""Approximate candidates find nearly what sorting all scores finds, with effort 1 exactly that."""

from itertools import product

import faiss
import numpy as np
import pytest

from densephrases.arrays import Ints
from densephrases.index.candidates import exact
from densephrases.index.candidates import ivf as ivf_module
from densephrases.index.candidates.base import CandidateIndex
from densephrases.index.candidates.by_kind import open_candidates, write_candidates
from densephrases.index.candidates.ivf import least_rescored, probed_lists
from densephrases.index.candidates.passages import PassageCandidates
from densephrases.index.kinds import PRODUCT_QUANTIZERS
from tests.index.candidates.oracle import clustered, contents, oracle
from tests.index.made_up import store_of


@pytest.fixture(
    scope="module",
    params=[*product(["ivf-pq", "ivf-sq4"], ["int8", "pq"]), *product(["passages", "clusters"], PRODUCT_QUANTIZERS)],
    ids=" ".join,
)
def approximate(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> CandidateIndex:
    kind, quantizer = request.param
    store, folder = store_of(clustered(5000, 64), quantizer), tmp_path_factory.mktemp("candidates")
    write_candidates(store, kind, folder)
    return open_candidates(contents(folder), kind, store)


def recall(found: Ints, best: Ints) -> float:
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
    monkeypatch.setattr(ivf_module, "_FEW_CODES", 0)
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
    monkeypatch.setattr(exact, "EXACT_VECTORS", 1000)
    queries = clustered(50, 64, seed=1)
    allowed = np.random.default_rng(2).random(5000) < share
    _, found = approximate.search(queries, 10, allowed)
    assert allowed[found[found >= 0]].all()
    assert recall(found, oracle(approximate.store, queries, 10, allowed)[1]) >= 0.9


def test_no_queries(approximate: CandidateIndex) -> None:
    scores, rows = approximate.search(np.zeros((0, 64), dtype=np.float32), 5)
    assert scores.shape == rows.shape == (0, 5)


def test_probed_lists() -> None:
    assert probed_lists(1, 0.5) == 1
    assert probed_lists(1000, 1) == 1000
