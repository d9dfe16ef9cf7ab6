"""Table 6: in-batch and pre-batch negatives on Natural Questions, in the passage and over all passages."""

from functools import partial

from densephrases.reproduce.inputs import Inputs
from densephrases.reproduce.plan import Plan, Row, Step
from densephrases.reproduce.training import Watch, phrase_recipe, train_phrases, with_negatives

# Questions in a batch, preceding batches, and the weight of negatives where it is not the recipe's.
_VARIANTS: dict[str, tuple[int, int, float | None]] = {
    "none, B=48": (48, 0, 0.0),
    "in-batch, B=48": (48, 0, None),
    "in-batch, B=84": (84, 0, None),
    "pre-batch, B=84, C=1": (84, 1, None),
    "pre-batch, B=84, C=2": (84, 2, None),
    "pre-batch, B=84, C=4": (84, 4, None),
}


def plan(inputs: Inputs, watch: Watch) -> Plan:
    """Without a teacher: what is compared are negatives."""
    made = Plan()
    train, dev = inputs.file("nq-train"), inputs.file("nq-dev")
    if train is None or dev is None:
        made.leave_out("The table", inputs.missing("nq-train", "nq-dev") or "")
        return made
    recipe = phrase_recipe(inputs, (train,), dev)
    for number, (name, variant) in enumerate(_VARIANTS.items(), start=1):
        step = f"variant-{number}"
        made.steps.append(Step(step, partial(train_phrases, inputs, watch, step, with_negatives(recipe, *variant))))
        made.rows.append(Row(name, {"passage": (step, "exact_match"), "D_small": (step, "all_passages_exact_match")}))
    return made
