"""The best epoch on dev, with the untrained weights among them. Whole runs: test_task.py."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from densephrases.train.queries.best_epoch import MEASURES, BestEpoch, DevScores
from densephrases.train.queries.retrieve import Found


def scores(*first: bool) -> DevScores:
    found = Found.empty(len(first), 10)
    found.right_QK[:, 0] = first
    found.right_QK[0, 9] = True
    return DevScores.from_found(found, "phrase")


def model(value: float) -> nn.Module:
    layer = nn.Linear(1, 1)
    nn.init.constant_(layer.weight, value)
    return layer


def test_scores_are_percentages() -> None:
    assert scores(False, True, False, False).to_dict() == {"exact_match": 25, "exact_match_at_10": 50}
    assert set(MEASURES) == {"phrase", "fact", "passage", "document"}


@pytest.mark.parametrize("resumed", [False, True])
def test_the_first_of_the_best_is_restored(resumed: bool) -> None:
    best = BestEpoch()
    best.offer(scores(False, False), model(0))
    for value, right in ((1, (True, False)), (2, (True, True)), (3, (True, True)), (4, (False, False))):
        best.offer(scores(*right), model(value))
    if resumed:
        state, best = best.state(), BestEpoch()
        best.offer(scores(False, False), model(0))
        best.load_state(state)
    assert best.summary == {
        "exact_match_before": 0,
        "exact_match_at_10_before": 50,
        "exact_match": 100,
        "exact_match_at_10": 100,
    }
    kept = model(9)
    best.restore(kept)
    assert best.restored
    assert torch.equal(kept.weight, model(2).weight)  # type: ignore[arg-type]


def test_untrained_weights_may_be_the_best() -> None:
    best = BestEpoch()
    best.offer(scores(True), model(0))
    best.offer(replace(scores(False), first=99.0), model(1))
    kept = model(9)
    best.restore(kept)
    assert torch.equal(kept.weight, model(0).weight)  # type: ignore[arg-type]


def test_without_dev_nothing_is_restored() -> None:
    kept = model(9)
    BestEpoch().restore(kept)
    assert torch.equal(kept.weight, model(9).weight)  # type: ignore[arg-type]
