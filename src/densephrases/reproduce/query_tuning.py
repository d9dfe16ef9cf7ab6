"""Table 7: query-side fine-tuning on each set of open-domain questions, before and after."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from densephrases.reproduce.asking import QUESTION_SETS, exact_match, index_folder, index_model, needs_index
from densephrases.reproduce.inputs import Inputs
from densephrases.reproduce.plan import Plan, Result, Row, Step
from densephrases.reproduce.training import Watch, model_folder


def plan(inputs: Inputs, watch: Watch) -> Plan:
    """Nothing is read again, so that the difference is that of the query encoders."""
    made = Plan()
    sets = [name for name in QUESTION_SETS if _is_there(inputs, name, made)]
    if not sets or not needs_index(inputs, made):
        return Plan(left_out=made.left_out)
    for name in sets:
        fitted = model_folder(inputs, f"queries-{name}")
        train = inputs.file(f"{name}-train")
        assert train is not None
        made.steps.append(Step(f"before-{name}", partial(exact_match, inputs, name, 0)))
        made.steps.append(Step(f"fit-{name}", partial(fit_queries, inputs, watch, f"queries-{name}", (train,))))
        made.steps.append(Step(f"after-{name}", partial(exact_match, inputs, name, 0, fitted)))
    made.rows.append(Row("before", {name: (f"before-{name}", "exact_match") for name in sets}))
    made.rows.append(Row("after", {name: (f"after-{name}", "exact_match") for name in sets}))
    made.rows.append(Row("answerable by this text", {name: (f"before-{name}", "ceiling") for name in sets}))
    return made


def _is_there(inputs: Inputs, name: str, made: Plan) -> bool:
    reason = inputs.missing(f"{name}-train", f"{name}-test")
    if reason is not None:
        made.leave_out(name, reason)
    return reason is None


def fit_queries(inputs: Inputs, watch: Watch, name: str, train: Sequence[Path], examples: int | None = None) -> Result:
    """Fine-tunes on a sample of the examples, with the paper's settings; the model folder gets that name."""
    from densephrases.train.loop.recipes import override
    from densephrases.train.queries.recipe import QueryRecipe, train_queries

    recipe = QueryRecipe(index=index_folder(inputs), model=index_model(inputs), train=tuple(train), limit=examples)
    if inputs.size == "smoke":
        recipe = replace(recipe, loop=replace(recipe.loop, epochs=1, capture=False, checkpoint_every=None))
    recipe = override(recipe, inputs.settings)
    folder = model_folder(inputs, name)
    with watch(name, folder, recipe) as observers:
        return dict(train_queries(recipe, folder, folder, observers, cpu=inputs.cpu).scores)
