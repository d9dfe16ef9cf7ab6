"""Progress of query-side fine-tuning for a caller, as an observer of the training loop."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from densephrases.train.loop.loop import StepReport


@dataclass(frozen=True, slots=True)
class FitProgress:
    """How far a fit is; `scores` are those on held-out questions, where they were just measured."""

    step: int
    steps: int
    loss: float | None = None
    scores: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        values = {} if self.loss is None else {"loss": self.loss}
        shown = [f"{name.replace('_', ' ')} {value:.2f}" for name, value in {**values, **self.scores}.items()]
        of_all = f" of {self.steps}" if self.steps else ""
        return f"step {self.step}{of_all}: {', '.join(shown)}"


class ProgressObserver:
    """Calls back after some steps and after each evaluation."""

    def __init__(self, callback: Callable[[FitProgress], None]) -> None:
        self._callback = callback
        self._steps = 0

    def stepped(self, report: StepReport) -> None:
        self._steps = report.steps
        self._callback(FitProgress(report.step, report.steps, report.values.get("loss")))

    def evaluated(self, step: int, scores: dict[str, float]) -> None:
        self._callback(FitProgress(step, self._steps, scores=scores))

    def finished(self, summary: dict[str, float]) -> None:
        pass
