"""The two implementations of the best score of each passage agree."""

from itertools import pairwise

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from densephrases.evaluate.reading import NumpyPassageScores
from densephrases.train.phrases.passage_scores import TorchPassageScores


@given(st.lists(st.integers(0, 4), min_size=1, max_size=8), st.integers(0, 4), st.integers(0, 99))
def test_torch_and_numpy_agree(lengths: list[int], queries: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    edges = np.cumsum([0, *lengths])
    vectors, asked = (random.normal(size=(count, 5)).astype(np.float32) for count in (edges[-1], queries))
    found = TorchPassageScores(vectors, edges, torch.device("cpu"))(asked)
    assert found.shape == (queries, len(lengths))
    assert np.allclose(found, NumpyPassageScores(vectors, edges)(asked), atol=1e-5)
    for query, row in zip(asked, found, strict=True):
        for passage, (begin, end) in enumerate(pairwise(edges.tolist())):
            best = (vectors[begin:end] @ query).max(initial=-np.inf)
            assert np.isclose(row[passage], best, atol=1e-5) or row[passage] == best == -np.inf
