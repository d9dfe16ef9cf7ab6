"""First answers as a search finds them, and confidences fitted to them."""

from pathlib import Path

import numpy as np
import pytest

from densephrases.data.questions import OpenQuestion
from densephrases.search.confidence import Calibration, logistic
from densephrases.train.queries.as_searched import FEWEST_CALIBRATED, FirstAnswers, first_answers, rescaled
from tests.evaluate.made_up import cities

CALIBRATION = Calibration(intercept=-0.5, score=0.8, gap=0.3, share=0.2, temperature=2.0)


def test_they_are_those_of_a_search(tmp_path: Path) -> None:
    index = cities(tmp_path / "index")
    texts = ["where is the tower?", "what is london?"]
    found = [answers[0] for answers in index.search(texts, 1)]
    asked = [OpenQuestion("1", texts[0], (found[0].text,)), OpenQuestion("2", texts[1], ("nothing",))]
    judged = first_answers(index.folder, index.encoder, asked, "phrase")
    assert judged == FirstAnswers((True, False), (None, None))
    assert judged.percent == 50
    assert first_answers(index.folder, index.encoder, asked, "document").right[1] is False
    assert FirstAnswers((), ()).percent == 0


def test_a_slope_and_an_intercept_are_found_again() -> None:
    """Of answers that are right as often as twice the logit less one says."""
    random = np.random.default_rng(0)
    scores = [np.sort(random.normal(2.0, 2.0, size=10))[::-1] for _ in range(6000)]
    first = [float(CALIBRATION.probability(each)[0]) for each in scores]
    logits = np.log(first) - np.log1p(-np.array(first))
    right = tuple((random.random(len(first)) < logistic(2 * logits - 1)).tolist())
    fitted = rescaled(CALIBRATION, FirstAnswers(right, tuple(first)))
    assert fitted.score / CALIBRATION.score == pytest.approx(2, rel=0.15)
    assert fitted.temperature == CALIBRATION.temperature
    expected = logistic(2 * logits - 1)
    found = [float(fitted.probability(each)[0]) for each in scores]
    assert np.abs(np.array(found) - expected).mean() < 0.03


@pytest.mark.parametrize(
    ("right", "confidences"),
    [
        ([True, False] * ((FEWEST_CALIBRATED - 2) // 2), [0.3, 0.6] * ((FEWEST_CALIBRATED - 2) // 2)),
        ([True] * 100, [0.5] * 100),
        ([True, False] * 50, [None] * 100),
    ],
)
def test_too_little_leaves_it_as_it_is(right: list[bool], confidences: list[float | None]) -> None:
    assert rescaled(CALIBRATION, FirstAnswers(tuple(right), tuple(confidences))) is CALIBRATION
