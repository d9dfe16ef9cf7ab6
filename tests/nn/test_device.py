"""Where models are computed, and how they are while they infer."""

import logging

import numpy as np
import pytest
import torch
from torch import nn

from densephrases.model.padding import token_batch
from densephrases.nn.device import best_device, few_threads, inference, to_device, to_numpy

CPU = torch.device("cpu")


def test_a_gpu_if_there_is_one_and_it_is_wanted(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        assert (best_device().type, best_device(cpu=True).type) == ("cuda", "cpu")
        assert caplog.messages == []
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        assert (best_device().type, best_device(cpu=True).type) == ("cpu", "cpu")
    assert len(caplog.messages) == 1
    assert "sees no GPU" in caplog.messages[0]


@pytest.mark.parametrize("training", [True, False])
def test_inference_leaves_the_model_as_it_was_even_if_it_fails(training: bool) -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.9)).train(training)
    with inference(model, CPU):
        first, again = model(torch.ones(1, 4)), model(torch.ones(1, 4))
        assert not first.requires_grad
        assert torch.equal(first, again)
    assert model.training is training
    with pytest.raises(RuntimeError), inference(model, CPU):
        raise RuntimeError
    assert model.training is training


def test_batches_and_results_keep_their_values() -> None:
    rows = [np.array([3, 4, 5]), np.array([6])]
    ids, types, mask = to_device(token_batch(rows, [np.zeros_like(row) for row in rows], 0), CPU)
    assert ids.tolist() == [[3, 4, 5], [6, 0, 0]]
    assert mask.tolist() == [[1, 1, 1], [1, 0, 0]]
    assert types.sum() == 0
    assert to_numpy(torch.tensor([0.5, 2.0], dtype=torch.bfloat16)).dtype == np.float32


def test_few_threads_and_then_as_many_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    before = torch.get_num_threads()
    monkeypatch.setattr("densephrases.nn.device._cores", lambda: 2)
    with few_threads():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before
    monkeypatch.setattr("densephrases.nn.device._cores", lambda: 1)
    with few_threads():
        assert torch.get_num_threads() == 1
