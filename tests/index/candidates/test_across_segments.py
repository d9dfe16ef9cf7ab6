"""Clusters of several segments searched as one, against a search of each."""

import numpy as np
import pytest

from densephrases.arrays import Floats
from densephrases.errors import ConfigError
from densephrases.index.candidates import ivf
from densephrases.index.candidates.across_segments import search_across
from densephrases.index.candidates.clusters import ClusterCandidates, write_cluster_candidates
from densephrases.index.kinds import DEFAULT_EFFORT
from tests.index.candidates.oracle import clustered, contents, oracle
from tests.index.made_up import store_of

DIM = 48
SIZES = (4000, 700, 2500)


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> list[ClusterCandidates]:
    found = []
    for seed, size in enumerate(SIZES):
        folder, store = tmp_path_factory.mktemp(f"segment{seed}"), store_of(clustered(size, DIM, seed=seed), "pq")
        write_cluster_candidates(store, folder)
        found.append(ClusterCandidates.from_files(contents(folder), store))
    return found


@pytest.fixture
def queries() -> Floats:
    return clustered(30, DIM, seed=9)


def test_the_best_of_all_are_found(
    several: list[ClusterCandidates], queries: Floats, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by a search of each segment, if all rows are scored again."""
    monkeypatch.setattr(ivf, "_LEAST_RESCORED", sum(SIZES))
    together = search_across(several, queries, 10, DEFAULT_EFFORT)
    for found, each in zip(together, several, strict=True):
        scores, rows = each.search(queries, 10)
        np.testing.assert_array_equal(found[0], scores)
        np.testing.assert_array_equal(found[1], rows)


def test_scores_are_those_of_the_store(several: list[ClusterCandidates], queries: Floats) -> None:
    for (scores, rows), each in zip(search_across(several, queries, 5, DEFAULT_EFFORT, 2), several, strict=True):
        assert scores.shape == rows.shape == (len(queries), 10)
        exact = each.store.batch_scores(np.arange(len(each.store)), queries)
        for query in range(len(queries)):
            there = rows[query] >= 0
            np.testing.assert_allclose(scores[query][there], exact[query][rows[query][there]], atol=1e-3)
            assert np.isneginf(scores[query][~there]).all()
            assert len(set(rows[query][there].tolist())) == np.count_nonzero(there)


def test_few_rows_are_scored_again(
    several: list[ClusterCandidates], queries: Floats, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ivf, "_LEAST_RESCORED", 50)
    found = search_across(several, queries, 5, DEFAULT_EFFORT, oversample=1000)
    counts = sum((rows >= 0).sum(axis=1) for _, rows in found)
    assert (counts >= 50).all()
    assert (counts <= 60).all(), "but for rows whose coarse scores are equal"


def test_the_recall_of_all_segments(several: list[ClusterCandidates], queries: Floats) -> None:
    found = search_across(several, queries, 10, 0.9)
    best = [oracle(each.store, queries, 10, None) for each in several]
    least = np.sort(np.concatenate([scores for scores, _ in best], axis=1), axis=1)[:, -10]
    hits = sum(int((scores >= least[:, None] - 1e-3).sum()) for scores, _ in found)
    assert hits >= 0.97 * 10 * len(queries)


def test_a_check_ends_it(several: list[ClusterCandidates], queries: Floats) -> None:
    def stop() -> None:
        raise ConfigError("enough")

    with pytest.raises(ConfigError, match="enough"):
        search_across(several, queries, 5, DEFAULT_EFFORT, check=stop)


def test_an_impossible_effort_is_refused(several: list[ClusterCandidates], queries: Floats) -> None:
    with pytest.raises(ConfigError, match=r"effort=-0\.5 is not a number from 0"):
        search_across(several, queries, 5, -0.5)
