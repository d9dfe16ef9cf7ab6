"""The filter table and the choice of a threshold."""

import numpy as np
import pytest

from densephrases.data.squad import GoldAnswer, Question, QuestionedPassage
from densephrases.evaluate.reading import EncodedDataset, ReadingScores, read_passages
from densephrases.evaluate.tune.filter_threshold import FilterRow, choose_threshold, default_thresholds, filter_table
from densephrases.model.config import ModelConfig
from densephrases.model.encoder import PassageVectors, QuestionVectors
from densephrases.text.passages import Passage

CONFIG = ModelConfig(base="random", backbone={"hidden_size": 8})
WORDS = [60, 1, 0, 39]


def encoded_file(seed: int = 0) -> EncodedDataset:
    """Passages of one-letter words, one question each, random vectors and logits."""
    random = np.random.default_rng(seed)

    def vectors(words: int) -> PassageVectors:
        starts = 2 * np.arange(words)
        return PassageVectors(
            random.normal(size=(words, 8)).astype(np.float32),
            random.normal(size=(words, 2)).astype(np.float32),
            np.stack([starts, starts + 1], axis=1),
            np.minimum(np.arange(words) + 3, words - 1),
        )

    texts = [" ".join("abcdefgh"[i % 8] for i in range(words)) for words in WORDS]
    questions = [Question(str(i), "?", (GoldAnswer("a b", 0),)) for i in range(len(WORDS))]
    passages = [QuestionedPassage(Passage(t), i, (q,)) for i, (t, q) in enumerate(zip(texts, questions, strict=True))]
    start_BD, end_BD = (random.normal(size=(len(WORDS), 8)).astype(np.float32) for _ in range(2))
    return EncodedDataset(
        passages, [vectors(w) for w in WORDS], list(enumerate(questions)), QuestionVectors(start_BD, end_BD), 0
    )


def test_default_thresholds_thin_out_evenly() -> None:
    encoded = encoded_file()
    thresholds = default_thresholds(encoded, steps=4)
    best = np.concatenate([v.filter_T2.max(axis=1) for v in encoded.passage_vectors if len(v.filter_T2)])
    assert thresholds == sorted(thresholds)
    assert [(best > t).mean() for t in thresholds] == pytest.approx([0.8, 0.55, 0.3, 0.05], abs=0.02)


def test_table_begins_without_a_filter_and_keeps_ever_fewer() -> None:
    encoded = encoded_file()
    rows = filter_table(encoded, CONFIG, [-1.0, 0.0, 1.0, 99.0])
    assert [row.threshold for row in rows] == [None, -1.0, 0.0, 1.0, 99.0]
    kept = [row.kept for row in rows]
    assert kept[0] == 100
    assert kept == sorted(kept, reverse=True)
    assert kept[-1] == pytest.approx(100 * 3 / sum(WORDS))  # one token of each passage that has any


@pytest.mark.parametrize("seed", range(3))
def test_rows_hold_the_scores_at_their_threshold(seed: int) -> None:
    encoded = encoded_file(seed)
    for row in filter_table(encoded, CONFIG, [-0.5, 0.5]):
        scores = ReadingScores.from_predictions(read_passages(encoded, CONFIG, row.threshold))
        assert (row.exact_match, row.f1) == (scores.exact_match, scores.f1)


def rows(*cells: tuple[float | None, float, float]) -> list[FilterRow]:
    return [FilterRow(threshold, kept, exact, exact) for threshold, kept, exact in cells]


@pytest.mark.parametrize(
    ("cells", "loss", "chosen"),
    [
        ([(None, 100, 70.0), (0.0, 60, 69.8), (1.0, 30, 69.5), (2.0, 10, 60.0)], 0.5, 1.0),
        ([(None, 100, 70.0), (0.0, 60, 69.8), (1.0, 30, 69.5), (2.0, 10, 60.0)], 0.1, None),
        ([(None, 100, 70.0), (0.0, 60, 69.8), (1.0, 30, 69.5), (2.0, 10, 60.0)], 20, 2.0),
        ([(None, 100, 70.0), (0.0, 60, 60.0), (1.0, 30, 71.0)], 0.0, 1.0),  # a filter may even help
        ([(1.0, 30, 70.0), (None, 100, 70.0)], 0.5, 1.0),  # in any order
        ([(None, 100, 70.0)], 0.5, None),
    ],
)
def test_chosen_threshold(cells: list[tuple[float | None, float, float]], loss: float, chosen: float | None) -> None:
    assert choose_threshold(rows(*cells), loss).threshold == chosen


def test_half_a_point_is_the_usual_price() -> None:
    assert choose_threshold(rows((None, 100, 70.0), (0.0, 50, 69.5), (1.0, 20, 69.4))).threshold == 0.0
