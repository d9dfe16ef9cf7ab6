"""BLEU-4 and ROUGE-L of generated questions against the questions that people asked."""

import logging
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec

logger = logging.getLogger(__name__)

_NEEDED = ("sacrebleu", "rouge_score")


def bleu_rouge_scores(written: Sequence[str], asked: Sequence[str]) -> dict[str, float]:
    """Both out of 100. Empty, with one warning, if their packages are not installed."""
    if missing := tuple(name for name in _NEEDED if find_spec(name) is None):
        _warn_once(missing)
        return {}
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu import corpus_bleu

    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    rouge = [scorer.score(gold, found)["rougeL"].fmeasure for gold, found in zip(asked, written, strict=True)]
    bleu = corpus_bleu(list(written), [list(asked)], lowercase=True).score
    return {"bleu_4": float(bleu), "rouge_l": 100 * float(sum(rouge)) / max(len(rouge), 1)}


@cache
def _warn_once(missing: tuple[str, ...]) -> None:
    """Evaluation comes back after every epoch."""
    logger.warning(
        "BLEU and ROUGE are not computed; missing packages: %s (pip install 'densephrases[questions]').",
        ", ".join(missing),
    )
