"""Models and batches to a device, and results back."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from densephrases.arrays import Floats
from densephrases.model.padding import TokenBatch
from densephrases.nn.mpnet_attention import fuse_attention

Model = TypeVar("Model", bound=nn.Module)


def best_device(cpu: bool = False) -> torch.device:
    """A GPU, if there is one and it is wanted."""
    return torch.device("cuda" if torch.cuda.is_available() and not cpu else "cpu")


def placed(model: Model, device: torch.device) -> Model:
    """The model on a device, on a GPU with fused attention."""
    if device.type == "cuda":
        fuse_attention(model)
    return model.to(device)


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
