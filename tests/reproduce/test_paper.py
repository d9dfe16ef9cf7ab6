"""The paper's figures: every table has a plan, and every row a figure for each column."""

from typing import get_args

from densephrases.reproduce.paper import PAPER, TableName
from densephrases.reproduce.table import PLANS


def test_all_tables() -> None:
    assert set(get_args(TableName)) == PAPER.keys() == PLANS.keys()
    for table in PAPER.values():
        assert all(len(figures) == len(table.columns) for figures in table.rows.values())
