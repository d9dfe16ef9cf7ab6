"""Measures a training run: losses, speed, and the share of the device's peak performance."""

import time
from typing import Any

import torch
from accelerate import Accelerator
from torch import Tensor

MATRIX = 8192


class Meter:
    """Sums losses on the device and measures training time, without evaluation."""

    def __init__(self) -> None:
        self.sums: dict[str, Any] = {}
        self.pending = 0
        self.examples = 0
        self.operations = 0.0
        self.seconds = 0.0
        self._began: float | None = None
        self._device = torch.device("cpu")
        self._last = (0.0, 0)

    def start(self, device: torch.device) -> None:
        self._device = device
        self._began = self._now()

    def pause(self, device: torch.device) -> None:
        if self._began is not None:
            self.seconds += self._now() - self._began
            self._began = None

    def add(self, losses: dict[str, Tensor]) -> None:
        for name, value in losses.items():
            # a new tensor: a captured step overwrites these losses with the next ones
            self.sums[name] = self.sums.get(name, 0) + value.detach()

    def count(self, examples: int) -> None:
        self.examples += examples
        self.pending += examples

    def flush(self, accelerator: Accelerator) -> dict[str, float]:
        """Mean losses over all processes since the last flush."""
        totals = {name: accelerator.reduce(value, "sum") for name, value in self.sums.items()}
        means = {name: float(value) / max(self.pending, 1) for name, value in totals.items()}
        self.sums, self.pending = {}, 0
        return means

    def speed(self) -> float:
        """Examples per second since the last call."""
        elapsed = self.seconds + (0.0 if self._began is None else time.perf_counter() - self._began)
        seconds, examples = self._last
        self._last = (elapsed, self.examples)
        return (self.examples - examples) / max(elapsed - seconds, 1e-9)

    def summary(self) -> dict[str, float]:
        rate = self.operations / max(self.seconds, 1e-9)
        values = {"training_seconds": self.seconds, "teraflops": rate / 1e12}
        if self._device.type == "cuda":
            values["share_of_peak"] = rate / measured_peak(self._device)
        return values

    def _now(self) -> float:
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        return time.perf_counter()


def measured_peak(device: torch.device, repeats: int = 20) -> float:
    """Operations per second of a large bfloat16 matrix product on this device."""
    a, b = (torch.randn(MATRIX, MATRIX, device=device, dtype=torch.bfloat16) for _ in range(2))
    for _ in range(3):
        a @ b
    torch.cuda.synchronize(device)
    began = time.perf_counter()
    for _ in range(repeats):
        a @ b
    torch.cuda.synchronize(device)
    return 2 * MATRIX**3 * repeats / (time.perf_counter() - began)
