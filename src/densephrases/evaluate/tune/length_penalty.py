"""How much a phrase's length should count against it."""

from collections.abc import Sequence
from dataclasses import dataclass

from densephrases.evaluate.reading import EncodedDataset, ReadingScores, read_passages
from densephrases.model.config import ModelConfig

PENALTIES = (0.0, 0.003, 0.006, 0.01, 0.015, 0.02, 0.03, 0.05)


@dataclass(frozen=True, slots=True)
class LengthRow:
    penalty: float  # for each character
    exact_match: float
    f1: float


def length_table(
    encoded: EncodedDataset, config: ModelConfig, penalties: Sequence[float] = PENALTIES
) -> list[LengthRow]:
    """Reading comprehension with each penalty."""
    rows = []
    for penalty in penalties:
        scores = ReadingScores.from_predictions(read_passages(encoded, config.with_length_penalty(penalty)))
        rows.append(LengthRow(penalty, scores.exact_match, scores.f1))
    return rows


def choose_penalty(rows: Sequence[LengthRow]) -> LengthRow:
    """The best sum of exact match and F1: a larger penalty trades the one for the other."""
    return max(rows, key=lambda row: (row.exact_match + row.f1, -row.penalty))
