"""Which questions and passages are measured, and how directions are counted."""

import numpy as np
import pytest

from densephrases.evaluate.statistics import directions_needed, spread_out


@pytest.mark.parametrize(("count", "most", "expected"), [(5, 9, 5), (5, 5, 5), (6, 5, 3), (1, 1, 1)])
def test_items_come_from_all_over(count: int, most: int, expected: int) -> None:
    assert len(spread_out(range(count), most)) == expected


def test_directions_worked_by_hand() -> None:
    assert directions_needed(np.diag([0.08, 0.6, 0.32]).astype(np.float32)) == {"50%": 1, "90%": 2, "99%": 3}
    assert directions_needed(np.zeros((2, 2), dtype=np.float32)) == {"50%": 2, "90%": 2, "99%": 2}
