"""The fitted ranking: planted weights are found on articles that it was not fitted to."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from densephrases.data.questions import OpenQuestion
from densephrases.data.squad import GoldAnswer, Question, QuestionedPassage
from densephrases.errors import DataError
from densephrases.evaluate.tune.ranking import (
    GROUPS,
    PENALTIES,
    TEMPERATURES,
    FirstPhrases,
    choose_l2,
    cross_validated,
    first_phrases,
    fit_ranking,
    open_questions,
    ranking_report,
    squad_questions,
)
from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.ranking.contenders import CONTENDERS
from densephrases.search.ranking.features import FEATURES, PHRASE_FEATURES, SHARE_FEATURES
from densephrases.text.documents import Document
from densephrases.text.passages import Passage
from tests.index.made_up import HashEncoder, long_text

QUESTIONS, ARTICLES, PHRASES = 400, 8, 6


def planted(seed: int, **weights: float) -> FirstPhrases:
    """The right phrase of most questions is the best by score plus planted weights; some have no phrase at all."""
    random = np.random.default_rng(seed)
    counts_B = np.where(random.random(QUESTIONS) < 0.05, 0, PHRASES)
    edges_B = np.cumsum([0, *counts_B])
    features_NF = random.normal(size=(edges_B[-1], len(PHRASE_FEATURES)))
    shares_TNF = random.normal(size=(len(TEMPERATURES), edges_B[-1], len(SHARE_FEATURES)))
    score_N = 3 * random.normal(size=edges_B[-1])
    total_N = score_N + sum(weight * features_NF[:, FEATURES.index(name)] for name, weight in weights.items())
    right_N = np.zeros(len(score_N), dtype=bool)
    for first, last in zip(edges_B[:-1].tolist(), edges_B[1:].tolist(), strict=True):
        if last > first:
            right_N[first + int((total_N[first:last] + random.gumbel(size=last - first)).argmax())] = True
            score_N[first:last], order = _descending(score_N[first:last])
            for values in (features_NF[first:last], shares_TNF[0, first:last], right_N[first:last]):
                values[:] = values[order]
    return FirstPhrases(
        edges_B, np.arange(QUESTIONS) % ARTICLES, score_N.astype(np.float32), features_NF, shares_TNF, right_N
    )


def _descending(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(-scores)
    return scores[order], order


def test_planted_weights_are_found() -> None:
    phrases = planted(0, sentence=2.0, cut_after=-1.0)
    found = fit_ranking(phrases, 0, 1e-4).weights
    assert found["sentence"] == pytest.approx(2.0, abs=0.4)
    assert found["cut_after"] == pytest.approx(-1.0, abs=0.4)
    assert all(abs(found[name]) < 0.4 for name in FEATURES if name not in ("sentence", "cut_after"))


def test_the_report_is_about_articles_that_were_not_fitted_to() -> None:
    one, other = planted(1, sentence=2.0), planted(2, sentence=2.0)
    report = ranking_report({"b": one, "a": other}, folds=4)
    assert report.questions == 2 * QUESTIONS
    assert report.before + 5 < report.after < report.among
    assert report.after - report.before == pytest.approx(100 * (report.gained - report.lost) / report.questions)
    assert report.loss < report.loss_before
    assert [row.part for row in report.folds] == ["fold 1", "fold 2", "fold 3", "fold 4"]
    assert [(row.part, row.questions) for row in report.files] == [("a", QUESTIONS), ("b", QUESTIONS)]
    for rows in (report.folds, report.files):
        assert sum(row.questions * row.after for row in rows) / report.questions == pytest.approx(report.after)
    losses = {row.without: row.loss for row in report.groups}
    assert max(losses, key=lambda name: losses[name]) == "sentence and window"
    assert report.weights["sentence"] > 1


def test_no_fold_sees_its_own_articles() -> None:
    phrases = planted(3, title=1.0)
    together = cross_validated(phrases, 0, 1e-3, 4)
    changed = phrases.right_N.copy()
    own = np.repeat(phrases.article_B % 4 == 0, np.diff(phrases.edges_B))
    changed[own] = False
    again = cross_validated(replace(phrases, right_N=changed), 0, 1e-3, 4)
    np.testing.assert_array_equal(again.score_N[own], together.score_N[own])
    assert (again.score_N[~own] != together.score_N[~own]).any()


def test_nothing_to_learn_is_regularised_away() -> None:
    phrases = planted(4)
    assert choose_l2(phrases, 0, 4) == max(PENALTIES)
    assert choose_l2(planted(4, lexical=-3.0), 0, 4) < max(PENALTIES)


def test_scores_that_mislead_are_refused() -> None:
    phrases = planted(5)
    with pytest.raises(DataError, match="does not tell right answers from wrong ones"):
        fit_ranking(replace(phrases, score_N=-phrases.score_N), 0, 1e-3)
    with pytest.raises(DataError, match="nothing to fit"):
        fit_ranking(replace(phrases, right_N=np.zeros_like(phrases.right_N)), 0, 1e-3)
    with pytest.raises(DataError, match="about one article"):
        ranking_report({"file": replace(phrases, article_B=np.zeros_like(phrases.article_B))})


def test_first_phrases_of_an_index(tmp_path: Path) -> None:
    encoder = HashEncoder(filter_threshold=None, lexical_weight=1.0)
    texts = [Document(f"d{number}", long_text(number, 80), f"t{number}") for number in range(4)]
    index = PhraseIndex.create(tmp_path, texts, model=encoder)
    asked = [OpenQuestion(str(number), f"the city {number}", ("river",)) for number in range(70)]
    told: list[int] = []
    found = first_phrases(index, open_questions(asked, 100, 20), told.append)
    assert sum(told) == len(found) == 70
    answers = index.search([question.text for question in asked], k=CONTENDERS, overlapping=True)
    assert found.score_N.tolist() == [answer.score for several in answers for answer in several]
    assert len(found.features_NF) == len(found.shares_TNF[0]) == len(found.right_N) == found.edges_B[-1]
    assert sorted(found.article_B.tolist()) == list(range(70))


def test_questions_without_answer_are_not_asked() -> None:
    questions = [Question(str(n), f"question {n}", (GoldAnswer("The  answer!", 0),) * (n % 2)) for n in range(6)]
    asked = squad_questions([QuestionedPassage(Passage("text"), 7, tuple(questions))], 2)
    assert [(each.text, each.article) for each in asked] == [("question 1", "7"), ("question 5", "7")]
    assert asked[0].gold.right("answer")
    assert not asked[0].gold.right("answers")
    with pytest.raises(DataError, match="No question of the file has an answer"):
        squad_questions([QuestionedPassage(Passage("text"), 0, (questions[0],))], 2)
    with pytest.raises(DataError, match="No question of the file has an answer"):
        open_questions([OpenQuestion("1", "who", ())], 2, 20)


def test_every_feature_is_in_a_group() -> None:
    assert sorted(name for group in GROUPS.values() for name in group) == sorted(FEATURES)
