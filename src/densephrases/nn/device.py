"""Models and batches to a device, and results back."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from densephrases.arrays import Floats
from densephrases.model.padding import TokenBatch
from densephrases.nn.mpnet_attention import fuse_attention

logger = logging.getLogger(__name__)

Model = TypeVar("Model", bound=nn.Module)


def best_device(cpu: bool = False) -> torch.device:
    """A GPU if there is one, unless the CPU is asked for."""
    if cpu or torch.cuda.is_available():
        return torch.device("cpu" if cpu else "cuda")
    logger.info("torch %s sees no GPU; the CPU computes.", torch.__version__)
    return torch.device("cpu")


def placed(model: Model, device: torch.device) -> Model:
    """The model on a device; on a GPU its attention is fused."""
    if device.type == "cuda":
        fuse_attention(model)
    return model.to(device)


def to_device(batch: TokenBatch, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    ids, types, mask = (torch.from_numpy(array).to(device) for array in (batch.ids, batch.types, batch.mask))
    return ids, types, mask


def to_numpy(tensor: Tensor) -> Floats:
    return np.asarray(tensor.float().cpu().numpy(), dtype=np.float32)


@contextmanager
def few_threads() -> Iterator[None]:
    """torch's threads on half of the cores.

    torch, faiss and ONNX Runtime bring a pool of threads each, which wait for work by spinning. Together on few cores
    they keep each other from working, and a step takes minutes instead of milliseconds.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(max(min(before, _cores() // 2), 1))
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _cores() -> int:
    """Those that the process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def inference(model: nn.Module, device: torch.device) -> Iterator[None]:
    """No gradients, no dropout, no compilation; bfloat16 on a GPU."""
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
