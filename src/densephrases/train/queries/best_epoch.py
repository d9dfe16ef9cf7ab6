"""Keeps the query encoder of the epoch with the best score on dev."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from densephrases.search.confidence import RIVALS
from densephrases.train.queries.retrieve import Found
from densephrases.train.queries.target import Target

MEASURES: Mapping[Target, str] = {
    "phrase": "exact_match",
    "fact": "fact_match",
    "passage": "passage_hit",
    "document": "document_hit",
}


@dataclass(frozen=True)
class DevScores:
    """Percentage of dev questions with a relevant first result, and with one among the first ten."""

    name: str
    first: float
    ten: float
    found: Found

    @classmethod
    def from_found(cls, found: Found, target: Target) -> "DevScores":
        first = 100 * float(found.right_QK[:, 0].mean())
        return cls(MEASURES[target], first, 100 * float(found.hit_Q.mean()), found)

    def to_dict(self) -> dict[str, float]:
        return {self.name: self.first, f"{self.name}_at_{RIVALS}": self.ten}


class BestEpoch:
    """The weights with the best score on dev. The untrained weights take part, so the score never gets worse."""

    def __init__(self) -> None:
        self.weights: dict[str, Tensor] = {}
        self.scores: DevScores | None = None
        self.before: dict[str, float] = {}
        self.last: dict[str, float] = {}
        self.restored = False
        self._value = -np.inf
        self._shown: dict[str, float] = {}

    def offer(self, scores: DevScores, model: nn.Module) -> None:
        self.last = scores.to_dict()
        self.before = self.before or self.last
        if scores.first > self._value:
            self._value, self.scores, self._shown = scores.first, scores, self.last
            self.weights = {name: tensor.detach().to("cpu", copy=True) for name, tensor in model.state_dict().items()}

    def restore(self, model: nn.Module) -> None:
        self.restored = True
        if self.weights:
            model.load_state_dict(self.weights)

    @property
    def summary(self) -> dict[str, float]:
        return {f"{name}_before": value for name, value in self.before.items()} | self._shown

    def state(self) -> dict[str, Tensor]:
        names = sorted(self._shown)
        shown = torch.tensor([self._value, *(self._shown[name] for name in names)], dtype=torch.float64)
        return {f"best.{name}": tensor for name, tensor in self.weights.items()} | {"best_scores": shown}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        names = sorted(self._shown)
        values = state["best_scores"].tolist()
        if values[0] > self._value:  # otherwise the untrained weights are still the best
            self._value, self.scores = values[0], None
            self._shown = dict(zip(names, values[1:], strict=True))
            self.weights = {n.removeprefix("best."): t for n, t in state.items() if n.startswith("best.")}
