"""Confidences fitted to made-up answers, and which questions are asked again."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from densephrases.data.questions import OpenQuestion
from densephrases.errors import ConfigError, DataError
from densephrases.evaluate.tune import own_confidence as tested
from densephrases.evaluate.tune.own_confidence import (
    JudgedAnswer,
    fit_own_confidence,
    fitted_confidence,
    own_confidence,
)
from densephrases.evaluate.tune.platt import fit_platt
from densephrases.search.answers import Answer, PhraseSpan, SourceDocument
from densephrases.search.confidence import Calibration, Numbers, logistic
from densephrases.search.own_calibration import calibration_digest
from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.request import SearchRequest
from densephrases.text.documents import Document
from tests.evaluate.tune.test_platt import made_up
from tests.index.made_up import HashEncoder

WEIGHTS = Calibration(intercept=-1.0, score=1.0, gap=0.0, share=0.0)


def judged(logit_N: Numbers, right_N: Numbers) -> list[JudgedAnswer]:
    return [JudgedAnswer(n, each, bool(r)) for n, (each, r) in enumerate(zip(logit_N, right_N, strict=True))]


def log_loss(logit_N: Numbers, right_N: Numbers) -> float:
    return float(-np.log(np.where(right_N > 0, logistic(logit_N), logistic(-logit_N))).mean())


def test_overconfidence_is_found() -> None:
    found = own_confidence(judged(*made_up(200, 0.4, -1.5)))
    assert found.is_better
    assert found.after.log_loss < found.before.log_loss - 0.1
    assert found.after.calibration_error < found.before.calibration_error
    assert json.loads(json.dumps(found.to_dict()))["better"]


def test_before_is_as_counted_by_hand() -> None:
    found = own_confidence(judged(np.repeat([2.0, -2.0], 5), np.array([1.0] * 4 + [0.0] * 6)))
    sure = 1 / (1 + np.exp(-2.0))
    assert found.before.log_loss == pytest.approx(-0.9 * np.log(sure) - 0.1 * np.log(1 - sure))
    assert found.before.calibration_error == pytest.approx(50 * (sure - 0.8) + 50 * (1 - sure))
    assert (found.questions, found.asked_again) == (10, 0)
    assert found.right == pytest.approx(40)


def test_a_calibrated_model_is_mostly_left_alone() -> None:
    """Of many files of questions whose confidences are right already; what is kept costs little on other questions."""
    logit_N, right_N = made_up(20_000, 1.0, 0.0, seed=99)
    found = [own_confidence(judged(*made_up(20, 1.0, 0.0, seed))) for seed in range(50)]
    kept = [(each.slope, each.shift) for each in found if each.is_better]
    assert len(kept) < 25
    losses = [log_loss(slope * logit_N + shift, right_N) - log_loss(logit_N, right_N) for slope, shift in kept]
    assert sum(losses) / len(found) < 0.01
    assert max(losses) < 0.1


def test_a_question_asked_twice_is_in_one_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    """No fit sees one answer to a question and is evaluated on the other; together they are evaluated on all."""
    fitted_to: list[list[float]] = []

    def fit(logit_N: Numbers, right_N: Numbers) -> tuple[float, float]:
        fitted_to.append(logit_N.tolist())
        return 1.0, 0.0

    monkeypatch.setattr(tested, "fit_platt", fit)
    once = [JudgedAnswer(number, float(number), number % 2 == 0) for number in range(30)]
    found = own_confidence([*once, *(JudgedAnswer(e.question, e.logit, False, True) for e in once)])
    assert (found.questions, found.asked_again) == (30, 30)
    everything, *folds = fitted_to
    assert len(everything) == 60
    assert all(set(Counter(fold).values()) == {2} for fold in folds)
    assert sorted(logit for fold in folds for logit in set(everything) - set(fold)) == sorted(set(everything))
    assert found.after == found.before


@pytest.mark.parametrize(
    ("right", "sentence"),
    [
        ([True] * 12, "All 12 answers are right.*add questions that the documents do not answer"),
        ([False] * 12, "All 12 answers are wrong.*`densephrases eval own INDEX --questions FILE`"),
        ([True, False] * 4, "answers to 8 of the questions; expected at least 10"),
    ],
)
def test_what_cannot_be_fitted(right: list[bool], sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        own_confidence([JudgedAnswer(number, 0.5, each) for number, each in enumerate(right)])


def answer(text: str, score: float, document: str) -> Answer:
    place, source = PhraseSpan(text, 0, len(text)), SourceDocument(document, "", {})
    return Answer(text, score, None, 0, len(text), source, text, text, place, 0, 0, "phrase")


QUESTIONS = [OpenQuestion(str(n), f"question {n}", ("yes",)) for n in range(10)]
QUESTIONS += [OpenQuestion("10", "question 10", ()), OpenQuestion("11", "question 11", ("ye.",), regex=True)]


class Scripted:
    """Answers of an index: documents a and b say yes to the first eight questions, c says no to all."""

    def __init__(self) -> None:
        self.requests: list[tuple[list[str], frozenset[str] | None]] = []

    def __call__(self, texts: Sequence[str], *, request: SearchRequest) -> list[list[Answer]]:
        documents = None if request.documents is None else frozenset(request.documents)
        self.requests.append((list(texts), documents))
        assert (request.k, request.unit, request.verify) == (10, "phrase", 0)
        assert request.overlapping
        assert request.explain
        return [self._answers(text, documents) for text in texts]

    def _answers(self, text: str, documents: frozenset[str] | None) -> list[Answer]:
        number = int(text.split()[1])
        right = [answer("yes", 3.0, "a"), answer("yes", 2.0, "b")] if number < 8 or number == 11 else []
        found = [*right, answer("no", 1.0, "c")]
        return [each for each in found if documents is None or each.document.id in documents]


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PhraseIndex:
    documents = [Document(name, "a city on the river") for name in "abc"]
    made = PhraseIndex.create(tmp_path / "index", documents, model=HashEncoder(confidence=WEIGHTS.to_dict()))
    monkeypatch.setattr(made, "search", Scripted())
    return made


def scripted(index: PhraseIndex) -> Scripted:
    search: Any = index.search
    assert isinstance(search, Scripted)
    return search


def test_some_are_asked_again_without_the_documents_that_answer_them(index: PhraseIndex) -> None:
    advanced: list[int] = []
    found = fit_own_confidence(index, QUESTIONS, 1.0, advanced.append)
    (first, again) = scripted(index).requests
    assert first == ([each.text for each in QUESTIONS], None)
    assert again == ([each.text for each in (*QUESTIONS[:8], QUESTIONS[11])], frozenset("c"))
    assert (found.questions, found.asked_again) == (12, 9)
    assert found.right == pytest.approx(100 * 9 / 21)
    assert advanced == [12, 9]
    logits = np.array([2.0] * 9 + [0.0] * 12)  # score - 1
    assert (found.slope, found.shift) == pytest.approx(fit_platt(logits, logits / 2))


@pytest.mark.parametrize(("share", "count"), [(0.0, 0), (0.25, 2), (0.5, 4)])
def test_the_share_is_of_the_answered_questions(index: PhraseIndex, share: float, count: int) -> None:
    assert fit_own_confidence(index, QUESTIONS, share).asked_again == count


def test_what_is_stored(index: PhraseIndex) -> None:
    found = fit_own_confidence(index, QUESTIONS)
    stored = fitted_confidence(index, found)
    assert stored.model == calibration_digest(index.encoder)
    assert stored.weights == WEIGHTS.rescaled(found.slope, found.shift).to_dict()
    assert stored.questions == 12


def test_mistakes(index: PhraseIndex, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="Too few questions to fit confidences to: 9; expected at least 10"):
        fit_own_confidence(index, QUESTIONS[:9])
    with pytest.raises(ConfigError, match="absent=2 is no share of the questions"):
        fit_own_confidence(index, QUESTIONS, 2)
    plain = PhraseIndex.create(tmp_path / "plain", [Document("a", "a city")], model=HashEncoder())
    with pytest.raises(ConfigError, match=r"has no confidences .*tune confidence MODEL DATA"):
        fit_own_confidence(plain, QUESTIONS)
