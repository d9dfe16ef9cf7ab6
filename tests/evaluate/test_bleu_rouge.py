"""BLEU and ROUGE of questions, where their packages are."""

import logging

import pytest

from densephrases.evaluate import bleu_rouge as wording
from densephrases.evaluate.bleu_rouge import wording_scores

ASKED = ["Who built the tower in Paris?", "When was the tower built?"]


def test_the_same_words_score_a_hundred() -> None:
    assert wording_scores(ASKED, ASKED) == pytest.approx({"bleu_4": 100, "rouge_l": 100})
    worse = wording_scores(["Who built the tower?", "why"], ASKED)
    assert 0 < worse["bleu_4"] < worse["rouge_l"] < 100


def test_without_the_packages_there_are_no_scores(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(wording, "find_spec", lambda name: None)
    with caplog.at_level(logging.WARNING):
        assert wording_scores(ASKED, ASKED) == {}
    assert "sacrebleu and rouge_score not installed" in caplog.text
