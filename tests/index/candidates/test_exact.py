"""Exact candidates equal sorting all scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from densephrases.errors import ConfigError
from densephrases.index.candidates import exact
from densephrases.index.candidates.exact import ExactCandidates
from densephrases.index.kinds import QUANTIZERS
from tests.index.candidates.oracle import clustered, oracle
from tests.index.made_up import store_of


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


@pytest.mark.parametrize("effort", [-0.1, 1.1, float("nan")])
def test_impossible_effort(effort: float) -> None:
    with pytest.raises(ConfigError, match="effort="):
        ExactCandidates(store_of(clustered(3, 4), "int8")).search(clustered(1, 4), 1, effort=effort)
