"""A passage of five words, all of them kept, and phrases of it."""

import numpy as np

from densephrases.search.passages import PassageTexts, SegmentTexts
from densephrases.search.scoring.pairs import Phrases
from tests.search.made_up import MemoryIndex, SegmentMaker


def one_passage() -> PassageTexts:
    maker = SegmentMaker(np.random.default_rng(0), keep=1.0)
    maker.add("ada", [["The", "code", "ran.", "The", "code!"]], {})
    return SegmentTexts(MemoryIndex([maker.made()], [None]).searchable())


def phrases(*rows: tuple[int, int]) -> Phrases:
    """Best first."""
    start_N, end_N = np.array(rows, dtype=np.int64).T
    scores_N = np.arange(len(rows), 0, -1, dtype=np.float32)
    return Phrases(np.zeros_like(start_N), start_N, end_N, scores_N)
