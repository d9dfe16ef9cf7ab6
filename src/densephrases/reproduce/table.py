"""One of the paper's tables from its plan: steps run, and our figures beside the paper's."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from densephrases.atomic_files import replace_file
from densephrases.errors import DataError
from densephrases.reproduce.inputs import Inputs, keep_settings
from densephrases.reproduce.paper import PAPER, Figures, TableName
from densephrases.reproduce.plan import Plan, Tell, run_steps
from densephrases.reproduce.training import Watch, unwatched

TABLE_FILE = "table.json"


@dataclass(frozen=True, slots=True)
class ReproducedRow:
    name: str
    ours: Figures
    paper: Figures


@dataclass(frozen=True, slots=True)
class ReproducedTable:
    """Attributes:
    results: Of all steps, by their names.
    left_out: Sentences about rows and columns that were not run.
    """

    number: str
    title: str
    columns: tuple[str, ...]
    rows: list[ReproducedRow]
    left_out: list[str]
    results: dict[str, dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def reproduce(
    name: TableName, inputs: Inputs, tell: Tell = lambda sentence: None, watch: Watch = unwatched
) -> ReproducedTable:
    """Run what of a table has not been run, and write `table.json` beside the steps."""
    plan = PLANS[name]()(inputs, watch)
    if not plan.steps:
        raise DataError(f"Nothing of table '{name}' can be run. {' '.join(plan.left_out)}")
    keep_settings(name, inputs)
    for sentence in plan.left_out:
        tell(sentence)
    table = _table(name, plan, run_steps(plan.steps, inputs.out, tell))
    replace_file(inputs.out / TABLE_FILE, json.dumps(table.to_dict(), indent=1) + "\n")
    return table


def _table(name: TableName, plan: Plan, results: dict[str, dict[str, Any]]) -> ReproducedTable:
    paper = PAPER[name]
    nothing: Figures = (None,) * len(paper.columns)
    ours = {row.name: tuple(_figure(row.figures.get(each), results) for each in paper.columns) for row in plan.rows}
    names = list(dict.fromkeys([*paper.rows, *ours]))
    rows = [ReproducedRow(each, ours.get(each, nothing), paper.rows.get(each, nothing)) for each in names]
    return ReproducedTable(paper.number, paper.title, paper.columns, rows, plan.left_out, results)


def _figure(where: tuple[str, str] | None, results: dict[str, dict[str, Any]]) -> float | None:
    value = None if where is None else results[where[0]].get(where[1])
    return None if value is None else float(value)


Planning = Callable[[Inputs, Watch], Plan]


def _speed() -> Planning:
    from densephrases.reproduce.speed import plan

    return plan


def _reading() -> Planning:
    from densephrases.reproduce.reading_comprehension import plan

    return plan


def _open() -> Planning:
    from densephrases.reproduce.open_questions import plan

    return plan


def _slots() -> Planning:
    from densephrases.reproduce.slots import plan

    return plan


def _ablation() -> Planning:
    from densephrases.reproduce.ablation import plan

    return plan


def _negatives() -> Planning:
    from densephrases.reproduce.negative_samples import plan

    return plan


def _queries() -> Planning:
    from densephrases.reproduce.query_tuning import plan

    return plan


PLANS: dict[TableName, Callable[[], Planning]] = {
    "speed": _speed,
    "reading": _reading,
    "open": _open,
    "slots": _slots,
    "ablation": _ablation,
    "negatives": _negatives,
    "queries": _queries,
}
