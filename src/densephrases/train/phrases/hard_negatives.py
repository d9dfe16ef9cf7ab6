"""Hard negatives: passages without the answer that a trained model scores highest."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Floats
from densephrases.data.matching.em_f1 import normalize_answer
from densephrases.data.squad import QuestionedPassage
from densephrases.evaluate.reading import (
    QUESTIONS_AT_ONCE,
    NumpyPassageScores,
    PassageScores,
    SpanScorer,
    encode_dataset,
)
from densephrases.model.config import ModelConfig
from densephrases.model.encoder import Encoder

HardNegatives = Sequence[Sequence[int]]
"""Numbers of other passages for each passage, hardest first."""

OVERSAMPLE = 4  # passages ranked per hard negative, since some of them contain the answer


def hard_negative_passages(
    encoder: Encoder,
    config: ModelConfig,
    passages: list[QuestionedPassage],
    count: int,
    passage_scores: Callable[[Floats, NDArray[np.int64]], PassageScores] = NumpyPassageScores,
) -> HardNegatives:
    """Up to `count` hard negatives for each passage: passages that its questions score highest, without their answer.

    The score of a passage is the upper bound that `read_collection` ranks by: its best start plus its best end.
    """
    encoded = encode_dataset(encoder, passages)
    scorer = SpanScorer(encoded, config, threshold=None)
    best_of_passages = passage_scores(*scorer.kept_vectors())
    texts = [normalize_answer(p.passage.text) for p in passages]
    found: list[dict[int, float]] = [{} for _ in passages]
    for first in range(0, len(encoded.questions), QUESTIONS_AT_ONCE):
        rows = np.arange(first, min(first + QUESTIONS_AT_ONCE, len(encoded.questions)))
        for row, bounds_P in zip(rows.tolist(), scorer.passage_bounds(rows, best_of_passages), strict=True):
            own, question = encoded.questions[row]
            answers = [normalize_answer(gold) for gold in question.gold_texts]
            for number in top_passages(bounds_P, count * OVERSAMPLE):
                if number != own and not contains_answer(texts[number], answers):
                    margin = float(bounds_P[number] - bounds_P[own])
                    found[own][number] = max(margin, found[own].get(number, margin))
    return [sorted(others, key=lambda n: (-others[n], n))[:count] for others in found]


def top_passages(bounds_P: Floats, count: int) -> list[int]:
    """The passages with the highest bounds, highest first."""
    count = min(count, len(bounds_P))
    top = np.argpartition(-bounds_P, count - 1)[:count]
    result: list[int] = top[np.argsort(-bounds_P[top], kind="stable")].tolist()
    return result


def contains_answer(text: str, answers: Sequence[str]) -> bool:
    """Whether the text contains an answer as whole words; both are normalised. Such a passage may be relevant."""
    return any(f" {answer} " in f" {text} " for answer in answers if answer)
