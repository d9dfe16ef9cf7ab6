"""The penalty on the length of a phrase."""

from collections.abc import Sequence
from dataclasses import dataclass

from densephrases.evaluate.reading import EncodedDataset, ReadingScores, read_passages
from densephrases.model.config import ModelConfig

PENALTIES = (0.0, 0.003, 0.006, 0.01, 0.015, 0.02, 0.03, 0.05)


@dataclass(frozen=True, slots=True)
class LengthRow:
    penalty: float  # per character
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
    """The row with the highest sum of exact match and F1; a larger penalty trades F1 for exact match."""
    return max(rows, key=lambda row: (row.exact_match + row.f1, -row.penalty))
