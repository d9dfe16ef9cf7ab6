"""The log of a run: recipe, losses and scores, as JSON lines and for TensorBoard."""

import json
import logging
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from densephrases.atomic_files import replace_file
from densephrases.train.loop.loop import StepReport

logger = logging.getLogger(__name__)


class RunLog:
    """An observer of the training loop that writes `recipe.json`, `log.jsonl` and TensorBoard events."""

    def __init__(self, folder: Path, recipe: Any) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / "recipe.json", json.dumps(asdict(recipe), indent=2, default=str) + "\n")
        self.lines = (folder / "log.jsonl").open("a", encoding="utf-8")
        self.board = tensorboard_writer(folder / "tensorboard")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.lines.close()
        if self.board is not None:
            self.board.close()

    def stepped(self, report: StepReport) -> None:
        values = report.values | {"learning_rate": report.learning_rate, "per_second": report.examples_per_second}
        self._write(report.step, "train", values)

    def evaluated(self, step: int, scores: dict[str, float]) -> None:
        self._write(step, "dev", scores)

    def finished(self, summary: dict[str, float]) -> None:
        self.lines.write(json.dumps({"finished": summary}) + "\n")

    def _write(self, step: int, group: str, values: dict[str, float]) -> None:
        self.lines.write(json.dumps({"step": step, group: values}) + "\n")
        self.lines.flush()
        if self.board is not None:
            for name, value in values.items():
                self.board.add_scalar(f"{group}/{name}", value, step)


def tensorboard_writer(folder: Path) -> Any:
    """None, with a warning, if TensorBoard is not installed; `log.jsonl` has the same numbers."""
    if find_spec("tensorboard") is None:
        logger.warning("tensorboard is not installed: losses and scores are written to log.jsonl only.")
        return None
    from torch.utils.tensorboard import SummaryWriter

    return SummaryWriter(str(folder))
