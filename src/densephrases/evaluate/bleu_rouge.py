"""How near generated questions come to the ones people asked: BLEU-4 and ROUGE-L."""

import logging
from collections.abc import Sequence
from importlib.util import find_spec

logger = logging.getLogger(__name__)

_NEEDED = ("sacrebleu", "rouge_score")


def wording_scores(written: Sequence[str], asked: Sequence[str]) -> dict[str, float]:
    """Both out of 100; empty, with a warning, where their packages are not installed."""
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        logger.warning("%s not installed: no BLEU and ROUGE (extra 'questions').", " and ".join(missing))
        return {}
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu import corpus_bleu

    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    rouge = [scorer.score(gold, found)["rougeL"].fmeasure for gold, found in zip(asked, written, strict=True)]
    bleu = corpus_bleu(list(written), [list(asked)], lowercase=True).score
    return {"bleu_4": float(bleu), "rouge_l": 100 * float(sum(rouge)) / max(len(rouge), 1)}
