"""How a fit in progress is told."""

from densephrases.train.loop.loop import StepReport
from densephrases.train.queries.fit_progress import FitProgress, ProgressObserver


def test_steps_and_scores() -> None:
    told: list[str] = []
    observer = ProgressObserver(lambda progress: told.append(str(progress)))
    observer.evaluated(0, {"exact_match": 50.0})
    observer.stepped(StepReport(20, 40, 1, {"loss": 1.234}, 1e-4, 3.0))
    observer.evaluated(20, {"exact_match": 62.5})
    observer.finished({"exact_match": 62.5})
    assert told == ["step 0: exact match 50.00", "step 20 of 40: loss 1.23", "step 20 of 40: exact match 62.50"]


def test_the_parts() -> None:
    assert FitProgress(3, 4, loss=0.5) == FitProgress(3, 4, 0.5, {})
