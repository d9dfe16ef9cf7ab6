"""Confidence: fitted on some articles, judged on others."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from densephrases.data.questions import OpenQuestion
from densephrases.data.squad import GoldAnswer, Question, QuestionedPassage, read_squad, sample_path
from densephrases.errors import ConfigError, DataError
from densephrases.evaluate.charts import draw_confidence
from densephrases.evaluate.tune.confidence import (
    FOLDS,
    AskedQuestion,
    Judgement,
    articles_of,
    asked_off_topic,
    asked_with_swapped_names,
    asked_without_article,
    cross_fitted,
    fitted,
    judge,
    kind_reports,
    questions_about,
    report,
)
from densephrases.search.phrase_index import PhraseIndex
from densephrases.text.hashed_terms import terms
from densephrases.text.passages import Passage


def question(number: int, *answers: str) -> Question:
    return Question(str(number), f"Question {number}?", tuple(GoldAnswer(answer, 0) for answer in answers))


def passage(title: str, article: int, text: str, *questions: Question) -> QuestionedPassage:
    return QuestionedPassage(Passage(text, title), article, questions)


def test_a_name_is_exchanged_for_that_of_another_article() -> None:
    texts = {"A": "When did Ada Lovelace die?", "B": "Where did Alan Turing study?", "C": "who is it?"}
    asked = [AskedQuestion(Question(title, text, (GoldAnswer("x", 0),)), title) for title, text in texts.items()] + [
        AskedQuestion(Question("D", "Why is Grace Hopper here?", ()), "D")
    ]
    found = [each for seed in range(10) for each in asked_with_swapped_names(asked, 1.0, seed)]
    assert {each.question.text for each in found} == {"When did Alan Turing die?", "Where did Ada Lovelace study?"}
    assert all(not each.question.answers and each.kind == "swapped name" for each in found)
    assert asked_with_swapped_names(asked, 0.0) == []
    with pytest.raises(ConfigError, match="swapped=2"):
        asked_with_swapped_names(asked, 2.0)


def test_questions_off_topic_are_in_every_fold() -> None:
    questions = [OpenQuestion(str(number), f"Question {number}?", ("x", "y")) for number in range(12)]
    patterns = [replace(each, id=f"p{each.id}", regex=True) for each in questions]
    asked = asked_off_topic([*patterns, *questions], 10)
    assert len({each.question.id for each in asked} & {each.id for each in questions}) == 10
    assert {each.kind for each in asked} == {"off topic"}
    assert asked[0].question.gold_texts == ["x", "y"]
    assert Counter(each.article for each in asked) == {f"off topic {fold}": 2 for fold in range(FOLDS)}
    assert len(asked_off_topic(questions, 100)) == 12


def test_kinds_are_reported_apart() -> None:
    right = np.array([True, False, False, True])
    answerable, absent = kind_reports(
        ["answerable", "absent", "absent", "answerable"], np.array([0.9, 0.6, 0.1, 0.3]), right
    )
    assert (answerable.kind, answerable.questions, answerable.right) == ("answerable", 2, 100.0)
    assert (absent.right, absent.confidence, absent.above_20, absent.above_50) == (0.0, 35.0, 50.0, 50.0)


def judgements(count: int = 400, articles: int = 8) -> list[Judgement]:
    """Results whose chance to be right is a known logistic function of the score."""
    rng = np.random.default_rng(0)
    judged = []
    for number in range(count):
        score = float(rng.normal(20, 3))
        right = rng.random() < 1 / (1 + np.exp(-(score - 20)))
        asked = AskedQuestion(question(number, "answer"), f"article {number % articles}")
        judged.append(Judgement(asked, np.array([score, score - 1.0]), bool(right)))
    return judged


def test_articles_keep_their_paragraphs() -> None:
    passages = [passage("A", 0, "One."), passage("A", 0, "Two."), passage("A", 1, "Three.")]
    assert [(d.id, d.title, d.text) for d in articles_of(passages)] == [
        ("0: A", "A", "One.\n\nTwo."),
        ("1: A", "A", "Three."),
    ]


def test_unanswerable_questions_are_taken_of_the_same_articles_only() -> None:
    own = [passage("A", 0, "One.", question(1, "One"))]
    others = [passage("A", 0, "One.", question(2), question(3, "One")), passage("B", 1, "Two.", question(4))]
    assert [asked.question.id for asked in questions_about(own)] == ["1"]
    assert [asked.question.id for asked in questions_about(own, others)] == ["1", "2"]
    with pytest.raises(DataError, match="none of the file's articles"):
        questions_about(own, others[1:])


def test_some_answerable_questions_are_asked_without_their_article() -> None:
    asked = questions_about([passage("A", 0, "One.", *(question(n, "One") for n in range(8)), question(9))])
    absent = asked_without_article(asked, 0.5)
    assert len(absent) == 4
    assert len({each.question.id for each in absent} - {"9"}) == 4
    assert all(each.without_article and not each.question.answers for each in absent)
    assert asked_without_article(asked, 0) == []
    with pytest.raises(ConfigError, match=r"absent=1\.5"):
        asked_without_article(asked, 1.5)


def test_confidence_follows_the_true_chance() -> None:
    judged = judgements(4000)
    chance = 1 / (1 + np.exp(-(np.array([j.scores_K[0] for j in judged]) - 20)))
    assert np.abs(cross_fitted(judged) - chance).max() < 0.08
    found = report(judged)
    assert found.calibration_error < 4
    assert (found.questions, found.unanswerable) == (4000, 0)
    assert found.weights == fitted(judged).to_dict()
    assert found.coverage[-1].coverage == 1
    assert found.coverage[-1].accuracy == pytest.approx(found.exact_match / 100)
    accuracies = [point.accuracy for point in found.coverage]
    assert accuracies[0] > accuracies[-1] + 0.3, "the confident answers are the right ones"


def test_an_article_is_judged_by_weights_of_the_others() -> None:
    """With one article's truth turned round, its own confidences stay as the others taught."""
    judged = judgements()
    turned = [Judgement(j.asked, j.scores_K, j.right != (j.asked.article == "article 0")) for j in judged]
    own = [row for row, j in enumerate(judged) if j.asked.article == "article 0"]
    fold = [row for row, j in enumerate(judged) if j.asked.article in ("article 0", "article 5")]
    before, after = cross_fitted(judged), cross_fitted(turned)
    assert np.array_equal(before[own], after[own])
    assert not np.array_equal(np.delete(before, fold), np.delete(after, fold))


def test_a_question_without_results_is_not_believed() -> None:
    judged = judgements()
    nothing = Judgement(AskedQuestion(question(9999), "article 1"), np.zeros(0), False)
    assert cross_fitted([*judged, nothing])[-1] == 0


def test_one_article_is_too_few() -> None:
    with pytest.raises(DataError, match="one article"):
        cross_fitted(judgements(articles=1))


def test_a_real_model_is_judged_and_drawn(tmp_path: Path) -> None:
    passages = read_squad(sample_path())
    articles = list(articles_of(passages))
    index = PhraseIndex.create(tmp_path / "index", articles)
    asked = questions_about(passages)
    asked += asked_without_article(asked, 0.25)
    told: list[int] = []
    found = report(judged := judge(index, articles, asked, told.append))
    assert sum(told) == len(asked) == found.questions
    assert found.unanswerable == sum(j.asked.without_article for j in judged) > 0
    for j in (j for j in judged if j.asked.without_article):
        others = [article.id for article in articles if article.title != j.asked.article]
        alone = index.search(j.asked.question.text, k=1, documents=others, verify=0)[0]
        assert j.scores_K[0] == pytest.approx(alone.score, rel=0.05)  # 8 bits depend a little on the batch
        assert not j.right
        known = set[int]().union(*(terms(f"{a.title} {a.text}") for a in articles if a.id in others))
        assert (j.evidence[0].unknown > 0) == bool(terms(j.asked.question.text) - known)
    absent, present = (
        np.mean([j.evidence[0].unknown for j in judged if j.asked.without_article == without])
        for without in (True, False)
    )
    assert absent > 2 * present, "words that only the article has"
    assert 20 < found.exact_match < 100
    assert sum(each.count for each in found.bins) == len(asked)
    json.dumps(found.weights)
    draw_confidence(found, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
