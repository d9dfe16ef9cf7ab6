"""Weights of verification: those that made the data are found again, and the smallest share of reading is chosen."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from densephrases.data.squad import GoldAnswer, Question, read_squad, sample_path
from densephrases.errors import ConfigError, DataError
from densephrases.evaluate.tune.confidence import AskedQuestion, articles_of, asked_without_article, questions_about
from densephrases.evaluate.tune.verification import (
    AutoRow,
    VerifiedQuestion,
    auto_table,
    choose_auto,
    fit_ranking,
    fit_softmax,
    fit_verified_confidence,
    read_questions,
    verification_report,
)
from densephrases.nn.phrase_model import PhraseModel
from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.verification.verifier import ReadPhrase
from densephrases.search.verification.weights import RankingFeatures, VerificationWeights
from densephrases.text.documents import Document
from tests.search.verification.made_up import result

TEXT = "right wrong"


def phrase(is_right: bool, reader: float, unverified: float, passage: int) -> ReadPhrase:
    span = (0, 5) if is_right else (6, 11)
    features = RankingFeatures(reader=reader, unverified=unverified, log_probability=reader - 10)
    found = result(TEXT, span, 10.0, 0.5, f"doc{passage}")
    return ReadPhrase(found, *span, features)


def asked(number: int, answerable: bool = True) -> AskedQuestion:
    answers = (GoldAnswer("right", 0),) if answerable else ()
    return AskedQuestion(Question(str(number), f"Question {number}?", answers), f"article {number % 4}")


def made_up(count: int, reader: float = 1.5, unverified: float = 0.5) -> list[VerifiedQuestion]:
    """The right phrase is drawn by a softmax of the given weights; search alone is right for half of the questions."""
    rng = np.random.default_rng(0)
    found = []
    for number in range(count):
        read, searched = rng.normal(0, 2, 3), rng.normal(0, 2, 3)
        powers = np.exp(reader * read + unverified * searched)
        right = rng.choice(3, p=powers / powers.sum())
        phrases = [phrase(i == right, float(read[i]), float(searched[i]), i) for i in range(3)]
        before = bool(rng.random() < 0.5)
        confidence = float(rng.uniform(0.5, 1.0) if before else rng.uniform(0.0, 0.6))
        found.append(VerifiedQuestion(asked(number), confidence, before, (phrases[:1], phrases)))
    return found


def test_the_weights_that_made_the_choices_are_found() -> None:
    weights = fit_ranking(made_up(4000))
    assert weights.reader == pytest.approx(1.5, rel=0.15)
    assert weights.unverified == pytest.approx(0.5, rel=0.15)


def test_no_weight_is_negative_and_none_runs_away() -> None:
    taught = [(np.array([[5.0, -1.0], [0.0, 1.0]]), np.array([True, False]))] * 20
    weights = fit_softmax(taught, 1e-3)
    assert weights[1] == 0
    assert 0 < weights[0] < 100


def test_the_gradient_leads_to_the_maximum() -> None:
    rng = np.random.default_rng(1)
    taught = [(rng.normal(size=(4, 2)), np.arange(4) == rng.integers(4)) for _ in range(200)]

    def value(weights: np.ndarray) -> float:
        scale = np.sqrt(np.mean([((f - f.mean(axis=0)) ** 2).mean(axis=0) for f, _ in taught], axis=0))
        logits = [(f @ weights, right) for f, right in taught]
        likelihood = np.mean([each[right].sum() - np.log(np.exp(each).sum()) for each, right in logits])
        return float(likelihood - 0.01 / 2 * ((weights * scale) ** 2).sum())

    found = fit_softmax(taught, 0.01)
    around = [found + step * np.eye(2)[axis] for axis in range(2) for step in (-0.02, 0.02)]
    assert all(value(found) >= value(np.maximum(other, 0)) - 1e-9 for other in around)


def test_questions_without_right_and_wrong_phrases_teach_nothing() -> None:
    nothing = [VerifiedQuestion(asked(0), 0.5, False, ([], [phrase(False, 1.0, 1.0, 0)]))]
    with pytest.raises(DataError, match="No question has right and wrong phrases"):
        fit_ranking(nothing)


def test_verified_confidence_follows_the_truth() -> None:
    read = made_up(3000)
    weights = VerificationWeights(reader=1.5, unverified=0.5)
    confidence, error = fit_verified_confidence(read, weights)
    assert confidence.gap > 0
    assert error < 6
    with pytest.raises(ConfigError, match="confidence needs examples of both"):
        fit_verified_confidence([each for each in read if not each.phrases[1]], weights)


def test_the_table_goes_from_reading_never_to_reading_always() -> None:
    read, weights = made_up(1000), VerificationWeights(reader=1.5, unverified=0.5)
    weights = replace(weights, confidence=fit_verified_confidence(read, weights)[0])
    rows = auto_table(read, weights)

    def best(phrases: list[ReadPhrase]) -> ReadPhrase:
        return max(phrases, key=lambda phrase: weights.score(phrase.features))

    def sure_by_one(each: VerifiedQuestion) -> float:
        features = best(each.phrases[0]).features
        assert weights.confidence is not None
        return float(weights.confidence.probability([weights.score(features)], [features])[0])

    by_one, after = (np.array([best(each.phrases[n]).text == "right" for each in read]) for n in range(2))
    before, sure = np.array([each.right for each in read]), np.array([each.confidence for each in read])
    still = np.array([sure_by_one(each) for each in read])
    assert (rows[0].share, rows[-1].share) == (0.0, 100.0)
    assert rows[0].exact_match == pytest.approx(100 * before.mean())
    assert rows[-1].exact_match == pytest.approx(100 * after.mean())
    assert all(
        one.passages < other.passages and one.exact_match < other.exact_match for one, other in pairwise(rows[1:-1])
    )
    for row in rows[1:-1]:
        assert row.share == pytest.approx(100 * (sure < row.below).mean())
        on = (sure < row.below) & (still < row.further_below)
        right = np.where(on, after, np.where(sure < row.below, by_one, before))
        assert row.exact_match == pytest.approx(100 * right.mean())
        assert row.passages == pytest.approx(((sure < row.below) + 2 * on).mean())
    assert rows[-1].passages == 3


def test_the_cheapest_of_the_good_points_is_chosen() -> None:
    points = [(0, 0, 0, 0, 50.0), (0.4, 0.1, 30, 0.4, 58.6), (0.6, 0.1, 50, 0.6, 58.8), (1, 1, 100, 3, 60.0)]
    rows = [AutoRow(*point) for point in points]
    assert choose_auto(rows) == rows[1]
    assert choose_auto(rows, tolerance=0.1) == rows[2]
    assert choose_auto(rows, most=3) == rows[3]
    worse = [AutoRow(0.0, 0.0, 0, 0, 50.0), AutoRow(1.0, 1.0, 100, 3, 40.0)]
    assert choose_auto(worse, most=3) == worse[0], "a reader that only harms is never asked"


def test_the_report_has_all_weights() -> None:
    read = made_up(1000)
    read += [
        VerifiedQuestion(asked(number, answerable=False), 0.2, False, each.phrases)
        for number, each in enumerate(read[:200])
    ]
    found = verification_report(read, 3)
    weights = VerificationWeights.from_dict(found.weights)
    assert (found.questions, found.unanswerable, weights.passages) == (1200, 200, 3)
    assert (weights.auto_below, weights.further_below) == (found.chosen.below, found.chosen.further_below)
    assert weights.confidence is not None
    assert found.verified > found.verified_by_one
    assert found.rows[0].exact_match == found.unverified


def test_a_whole_model_is_read_and_fitted(tiny_base: Path, tmp_path: Path) -> None:
    model = PhraseModel.from_base(tiny_base, reads=True)
    model.config = model.config.with_confidence(
        {"intercept": 0.0, "score": 0.01, "gap": 0.1, "share": 0.1, "temperature": 1.0}
    )
    passages = read_squad(sample_path())
    articles = list(articles_of(passages))[:6]
    index = PhraseIndex.create(tmp_path / "index", articles, model=model.encoder())
    titles = {article.title for article in articles}
    questions = [each for each in questions_about(passages) if each.article in titles][:12]
    questions += asked_without_article(questions, 0.25)
    told: list[int] = []
    read = read_questions(index, articles, questions, 2, told.append)
    assert sum(told) == len(questions) == len(read)
    for each in read:
        one, two = ({p.found.passage for p in phrases} for phrases in each.phrases)
        assert len(one) == 1
        assert one < two or one == two
        assert len(two) <= 2
        if each.asked.without_article:
            assert each.asked.article not in {p.found.document.title for p in each.phrases[1]}


def test_models_that_cannot_be_fitted_are_refused(tiny_model: PhraseModel, tiny_base: Path, tmp_path: Path) -> None:
    documents = [Document("a", "The tower.")]
    blind = PhraseIndex.create(tmp_path / "blind", documents, model=tiny_model.encoder())
    with pytest.raises(ConfigError, match="base 'tiny' has no reading head"):
        read_questions(blind, documents, [asked(0)])
    unsure = PhraseModel.from_base(tiny_base, reads=True).encoder()
    index = PhraseIndex.create(tmp_path / "unsure", documents, model=unsure)
    with pytest.raises(ConfigError, match="no confidence weights; fit them first"):
        read_questions(index, documents, [asked(0)])
