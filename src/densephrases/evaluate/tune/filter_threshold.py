"""The threshold of the token filter: tokens kept against accuracy (paper, appendix E)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from densephrases.evaluate.reading import EncodedDataset, ReadingScores, read_passages
from densephrases.model.config import ModelConfig

ALLOWED_LOSS = 0.5  # points of exact match


@dataclass(frozen=True, slots=True)
class FilterRow:
    threshold: float | None
    kept: float  # percent of all tokens
    exact_match: float
    f1: float


def default_thresholds(encoded: EncodedDataset, steps: int = 16) -> list[float]:
    """Thresholds that keep from 80% down to 5% of the tokens, in equal steps."""
    best_N = np.concatenate([v.filter_T2.max(axis=1, initial=-np.inf) for v in encoded.passage_vectors])
    return [round(float(t), 3) for t in np.quantile(best_N, np.linspace(0.2, 0.95, steps))]


def filter_table(encoded: EncodedDataset, config: ModelConfig, thresholds: Sequence[float]) -> list[FilterRow]:
    """Reading comprehension at each threshold; the first row is without a filter."""
    rows = []
    for threshold in [None, *thresholds]:
        kept = np.concatenate([v.kept(threshold) for v in encoded.passage_vectors])
        scores = ReadingScores.from_predictions(read_passages(encoded, config, threshold))
        rows.append(FilterRow(threshold, 100 * float(kept.mean()), scores.exact_match, scores.f1))
    return rows


def choose_threshold(rows: Sequence[FilterRow], allowed_loss: float = ALLOWED_LOSS) -> FilterRow:
    """The row with the fewest tokens within `allowed_loss` points of the exact match without a filter."""
    unfiltered = next(row for row in rows if row.threshold is None)
    good = [row for row in rows if unfiltered.exact_match - row.exact_match <= allowed_loss]
    return min(good, key=lambda row: row.kept)
