"""Questions that are held out of the training, to judge by."""

from collections.abc import Sequence

import numpy as np

from densephrases.data.questions import OpenQuestion
from densephrases.errors import ConfigError

FEWEST = 20  # questions of which some can be spared
_MOST_HELD_OUT = 500  # more would judge hardly better, and could be learned from


def hold_out(
    questions: Sequence[OpenQuestion], share: float, seed: int
) -> tuple[list[OpenQuestion], list[OpenQuestion]]:
    """Those to learn from and those to judge by; too few to spare any are judged by all of them."""
    if not 0 <= share < 1:
        raise ConfigError(f"hold_out={share} is no share of the questions; expected at least 0 and below 1.")
    if not share:
        return list(questions), []
    if len(questions) < FEWEST:
        return list(questions), list(questions)
    count = min(max(round(share * len(questions)), 1), _MOST_HELD_OUT)
    order = np.random.default_rng(seed).permutation(len(questions)).tolist()
    held = set(order[:count])
    return [q for n, q in enumerate(questions) if n not in held], [questions[n] for n in sorted(held)]
