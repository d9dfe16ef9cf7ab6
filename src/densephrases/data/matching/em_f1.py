"""Exact match and F1 as the official SQuAD evaluation defines them."""

from collections import Counter
from collections.abc import Callable, Sequence

from densephrases.text.normalize import normalize_answer as normalize_answer


def exact_match(prediction: str, gold: str) -> float:
    return float(normalize_answer(prediction) == normalize_answer(gold))


def f1(prediction: str, gold: str) -> float:
    predicted, expected = normalize_answer(prediction).split(), normalize_answer(gold).split()
    if not predicted or not expected:
        return float(predicted == expected)
    common = sum((Counter(predicted) & Counter(expected)).values())
    if common == 0:
        return 0.0
    precision, recall = common / len(predicted), common / len(expected)
    return 2 * precision * recall / (precision + recall)


def best_over_answers(metric: Callable[[str, str], float], prediction: str, gold_texts: Sequence[str]) -> float:
    return max(metric(prediction, gold) for gold in gold_texts)
