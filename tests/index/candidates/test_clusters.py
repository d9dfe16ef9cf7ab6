"""Lists of clusters: what is written says of each row its cluster and what it is beyond that."""

from pathlib import Path

import numpy as np
import pytest

from densephrases.cores import limited_to
from densephrases.errors import PhraseIndexError
from densephrases.index.candidates import cluster_training as training
from densephrases.index.candidates import coarse_lists
from densephrases.index.candidates.cluster_training import ClusteredRows, Clusters, components_of
from densephrases.index.candidates.clusters import ClusterCandidates, write_cluster_candidates
from densephrases.index.candidates.ivf_file import LIST_CENTROIDS_FILE
from densephrases.index.vectors.store import VectorStore
from densephrases.quantize.product import ResidualPQCodec
from tests.index.candidates.oracle import clustered, contents, oracle
from tests.index.made_up import store_of

DIM = 48


@pytest.fixture(scope="module")
def store() -> VectorStore:
    return store_of(clustered(4000, DIM), "pq")


def codec_of(store: VectorStore) -> ResidualPQCodec:
    assert isinstance(store.codec, ResidualPQCodec)
    return store.codec


def test_components_are_those_of_whole_vectors(store: VectorStore) -> None:
    rows = np.array([0, 5, 3999])
    pq = codec_of(store).product_quantizer
    vectors = pq.mean_D + components_of(store, rows) @ pq.reconstruction_KD
    np.testing.assert_allclose(vectors, store.decode(rows), atol=1e-4)


def test_each_vector_is_in_the_cluster_of_nearly_its_direction(store: VectorStore) -> None:
    """Of all clusters if all branches are near, else nearly always."""
    pq, components = codec_of(store).product_quantizer, components_of(store, np.arange(len(store)))
    clusters = Clusters.trained(components, 60, pq)
    assert 40 <= len(clusters.centroids_LK) <= 60 + len(clusters.directions), "each branch has one at least"
    directions = training.Directions.of_means(clusters.centroids_LK, pq)
    means = pq.mean_D + clusters.centroids_LK @ pq.reconstruction_KD
    products = store.decode(slice(None)) @ (means / np.linalg.norm(means, axis=1, keepdims=True)).T
    found, nearest = directions.nearest(training.extended(components), 3)
    np.testing.assert_allclose(found, -np.sort(-products, axis=1)[:, :3], atol=1e-4)
    assert (clusters.nearest(components) == nearest[:, 0]).mean() > 0.9


def test_with_all_branches_near_the_nearest_is_found(store: VectorStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "_NEAR_BRANCHES", 100)
    pq, components = codec_of(store).product_quantizer, components_of(store, np.arange(500))
    clusters = Clusters.trained(components, 30, pq)
    means = pq.mean_D + clusters.centroids_LK @ pq.reconstruction_KD
    products = store.decode(slice(0, 500)) @ (means / np.linalg.norm(means, axis=1, keepdims=True)).T
    np.testing.assert_allclose(products[np.arange(500), clusters.nearest(components)], products.max(axis=1), rtol=1e-5)


def test_the_number_of_threads_makes_no_difference(store: VectorStore) -> None:
    with limited_to(1):
        expected = ClusteredRows.of_store(store)
    with limited_to(5):
        found = ClusteredRows.of_store(store)
    assert np.array_equal(found.centroids_LK, expected.centroids_LK)
    assert np.array_equal(found.list_N, expected.list_N)
    assert np.array_equal(found.codes_NC, expected.codes_NC)


@pytest.mark.parametrize("count", [1, 2, 7])
def test_fewer_vectors_than_clusters(count: int) -> None:
    few = store_of(clustered(count, DIM), "pq")
    rows = ClusteredRows.of_store(few)
    assert 1 <= len(rows.centroids_LK) <= count
    assert rows.list_N.max() < len(rows.centroids_LK)


def test_the_blocks_in_which_rows_are_assigned_make_no_difference(
    store: VectorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = ClusteredRows.of_store(store)
    for rows_at_once, packed_rows in ((700, 1), (4000, 900)):
        monkeypatch.setattr(training, "_ROWS_AT_ONCE", rows_at_once)
        found = ClusteredRows.of_store(store)
        assert (found.list_N == expected.list_N).mean() > 0.999, "but for last digits of products"
        together = np.concatenate(list(expected.packed_codes()))
        monkeypatch.setattr(coarse_lists, "_PACKED_ROWS", packed_rows)
        assert np.array_equal(np.concatenate(list(expected.packed_codes())), together)


def test_coarse_scores_are_near_those_of_the_store(store: VectorStore, tmp_path: Path) -> None:
    rows = ClusteredRows.of_store(store)
    codec = codec_of(store)
    rough = rows.centroids_LK[rows.list_N].astype(np.float32)
    for byte, group in enumerate(codec.codebooks.groups[: rows.codes_NC.shape[1]]):
        rough[:, codec.codebooks.components_K[group]] += codec.coarse_centroids[group].T[rows.codes_NC[:, byte]]
    queries = clustered(20, DIM, seed=1)
    scores = codec.project_queries(queries) @ rough.T
    exact = store.batch_scores(np.arange(len(store)), queries)
    assert np.mean([np.corrcoef(a, b)[0, 1] for a, b in zip(scores, exact, strict=True)]) > 0.95


def test_what_is_read_is_what_was_written(store: VectorStore, tmp_path: Path) -> None:
    write_cluster_candidates(store, tmp_path)
    found = ClusterCandidates.from_files(contents(tmp_path), store)
    queries = clustered(40, DIM, seed=1)
    found.probes = found.index.nlist
    _, rows = found.search(queries, 10)
    _, best = oracle(store, queries, 10, None)
    hits = sum(len(set(a) & set(b)) for a, b in zip(rows.tolist(), best.tolist(), strict=True))
    assert hits >= 0.99 * best.size, "all lists are probed, and 400 rows are scored again"


@pytest.mark.parametrize("content", [b"", b"\0" * 7, b"\xff" * 2 * DIM])
def test_damaged_centroids_are_named(content: bytes, store: VectorStore, tmp_path: Path) -> None:
    write_cluster_candidates(store, tmp_path)
    (tmp_path / LIST_CENTROIDS_FILE).write_bytes(content)
    with pytest.raises(PhraseIndexError, match=f"'{LIST_CENTROIDS_FILE}' cannot be read"):
        ClusterCandidates.from_files(contents(tmp_path), store)
