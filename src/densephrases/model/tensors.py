"""Batches to a device and results back."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor, nn

from densephrases.model.batches import TokenBatch
from densephrases.model.encoder import Floats


def to_device(batch: TokenBatch, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    ids, types, mask = (torch.from_numpy(array).to(device) for array in (batch.ids, batch.types, batch.mask))
    return ids, types, mask


def to_numpy(tensor: Tensor) -> Floats:
    return np.asarray(tensor.float().cpu().numpy(), dtype=np.float32)


@contextmanager
def inference(model: nn.Module, device: torch.device) -> Iterator[None]:
    """No gradients, no dropout, no compilation, and bfloat16 where the device is made for it."""
    was_training = model.training
    model.eval()
    try:
        with (
            torch.compiler.set_stance("force_eager"),
            torch.inference_mode(),
            torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"),
        ):
            yield
    finally:
        model.train(was_training)
