"""Table 3: five sets of open-domain questions, asked of one index."""

from functools import partial

from densephrases.reproduce.asking import QUESTION_SETS, exact_match, needs_index
from densephrases.reproduce.inputs import Inputs
from densephrases.reproduce.plan import Plan, Row, Step
from densephrases.reproduce.training import Watch

_OURS = "DensePhrases, this model and text"


def plan(inputs: Inputs, watch: Watch) -> Plan:
    """Each set twice: nothing is read again, and as users search; and how many questions the text can answer."""
    made = Plan()
    sets = [name for name in QUESTION_SETS if _is_there(inputs, name, made)]
    if not sets or not needs_index(inputs, made):
        return Plan(left_out=made.left_out)
    for name in sets:
        made.steps.append(Step(f"open-{name}", partial(exact_match, inputs, name, 0)))
        made.steps.append(Step(f"open-{name}-by-default", partial(exact_match, inputs, name, None)))
    made.rows.append(Row(f"{_OURS}, nothing read", {name: (f"open-{name}", "exact_match") for name in sets}))
    made.rows.append(Row(f"{_OURS}, by default", {name: (f"open-{name}-by-default", "exact_match") for name in sets}))
    made.rows.append(Row("answerable by this text", {name: (f"open-{name}", "ceiling") for name in sets}))
    return made


def _is_there(inputs: Inputs, name: str, made: Plan) -> bool:
    reason = inputs.missing(f"{name}-test")
    if reason is not None:
        made.leave_out(name, reason)
    return reason is None
