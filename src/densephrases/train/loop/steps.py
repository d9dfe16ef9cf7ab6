"""Gradients of one batch: computed directly, or by a CUDA graph that is captured once per shape and replayed."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from accelerate import Accelerator
from torch import Tensor, nn

from densephrases.train.loop.tensors import Tensors

Losses = dict[str, Tensor]


class EagerStep:
    """Accumulates the gradient of `scale` times the loss; processes synchronise with the last batch of a step."""

    def __init__(self, model: nn.Module, losses: Callable[[nn.Module, Any], Losses], accelerator: Accelerator) -> None:
        self.model, self.losses, self.accelerator = model, losses, accelerator

    def __call__(self, batch: Tensors, scale: float, last: bool) -> Losses:
        batch = batch.to(self.accelerator.device)
        with nullcontext() if last else self.accelerator.no_sync(self.model):
            with self.accelerator.autocast():
                losses = self.losses(self.model, batch)
            self.accelerator.backward(losses["loss"] * scale)
        return losses


@dataclass(frozen=True)
class _Captured:
    graph: torch.cuda.CUDAGraph
    batch: Tensors
    losses: Losses


class CapturedStep:
    """The same on one GPU as CUDA graphs, without launching kernels one by one, which dominates small steps.

    Batches must have few different shapes: the first batch of a shape is computed directly, the second is captured.
    Inputs, losses and gradients have fixed addresses: batches are copied in, losses must be read before the next call.
    """

    def __init__(self, model: nn.Module, losses: Callable[[nn.Module, Any], Losses], accelerator: Accelerator) -> None:
        self.model, self.losses, self.accelerator = model, losses, accelerator
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        self.gradients = [torch.zeros_like(parameter) for parameter in self.parameters]
        for parameter, gradient in zip(self.parameters, self.gradients, strict=True):
            parameter.grad = gradient
        self.scale = torch.ones((), device=accelerator.device)
        self.captured: dict[tuple[Any, ...], _Captured | None] = {}  # None: seen once, not captured yet

    @cached_property
    def pool(self) -> Any:
        """Memory shared by all graphs, of which only one runs at a time."""
        return torch.cuda.graph_pool_handle()

    @cached_property
    def stream(self) -> torch.cuda.Stream:
        """The side stream for batches that are not captured: the warm-up that a capture requires."""
        return torch.cuda.Stream(self.accelerator.device)  # type: ignore[no-untyped-call]

    def __call__(self, batch: Tensors, scale: float, last: bool) -> Losses:
        self.scale.fill_(scale)
        key = batch.signature()
        if key not in self.captured:
            self.captured[key] = None
            return self._beside(batch)
        step = self.captured[key] or self._capture(batch)
        self.captured[key] = step
        step.batch.copy_(batch)
        step.graph.replay()
        return step.losses

    def _beside(self, batch: Tensors) -> Losses:
        """Computes directly, which also compiles and selects kernels; that is not possible during a capture."""
        current = torch.cuda.current_stream()
        self.stream.wait_stream(current)
        with torch.cuda.stream(self.stream):
            losses = self._compute(batch.to(self.accelerator.device))
        current.wait_stream(self.stream)
        return losses

    def _capture(self, batch: Tensors) -> _Captured:
        static = batch.to(self.accelerator.device)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self.pool):
            losses = self._compute(static)
        return _Captured(graph, static, losses)

    def _compute(self, batch: Tensors) -> Losses:
        with self.accelerator.autocast():
            losses = self.losses(self.model, batch)
        gradients = torch.autograd.grad(losses["loss"] * self.scale, self.parameters)
        torch._foreach_add_(self.gradients, list(gradients))
        return {name: value.detach() for name, value in losses.items()}
