"""BLEU and ROUGE of questions, where their packages are."""

import logging

import pytest

from densephrases.evaluate import bleu_rouge
from densephrases.evaluate.bleu_rouge import bleu_rouge_scores

ASKED = ["Who built the tower in Paris?", "When was the tower built?"]


def test_the_same_words_score_a_hundred() -> None:
    assert bleu_rouge_scores(ASKED, ASKED) == pytest.approx({"bleu_4": 100, "rouge_l": 100})
    worse = bleu_rouge_scores(["Who built the tower?", "why"], ASKED)
    assert 0 < worse["bleu_4"] < worse["rouge_l"] < 100


def test_without_the_packages_there_are_no_scores(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(bleu_rouge, "find_spec", lambda name: None)
    bleu_rouge._warn_once.cache_clear()
    with caplog.at_level(logging.WARNING):
        assert bleu_rouge_scores(ASKED, ASKED) == {}
        assert bleu_rouge_scores(ASKED, ASKED) == {}
    (warning,) = caplog.messages  # said once
    assert "BLEU and ROUGE are not computed; missing packages: sacrebleu, rouge_score" in warning
