"""Table 5: shared encoders, split vectors, generated questions and distillation on SQuAD."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from densephrases.reproduce.inputs import Inputs
from densephrases.reproduce.plan import Plan, Row, Step
from densephrases.reproduce.training import Watch, phrase_recipe, reader_recipe, teacher, train_phrases, train_reader

if TYPE_CHECKING:
    from densephrases.train.phrases.recipe import PhraseRecipe


def plan(inputs: Inputs, watch: Watch) -> Plan:
    """Each row is the row before with one change; the last two need generated questions."""
    made = Plan()
    train, dev = inputs.file("squad-train"), inputs.file("squad-dev")
    if train is None or dev is None:
        made.leave_out("The table", inputs.missing("squad-train", "squad-dev") or "")
        return made
    plain = phrase_recipe(inputs, (train,), dev)
    variants = {
        "DenSPI: share, split": _shared(plain, split=True),
        "share": _shared(plain, split=False),
        "neither": plain,
    }
    generated = inputs.file("generated")
    if generated is None:
        made.leave_out("Generated questions and distillation", inputs.missing("generated") or "")
    else:
        # both stages in one run: all questions, then those that people wrote, with pre-batch negatives
        reserved = () if inputs.size == "smoke" else (dev,)  # stand-ins are all the same passages
        more = replace(plain, train=(train, generated), annotated_from=plain.prebatch_from, held_out=reserved)
        variants |= {"+ generated questions": more, "+ distillation": replace(more, teacher=teacher(inputs))}
        if inputs.reader is None:
            of_reader = reader_recipe(inputs, (train,), dev)
            made.steps.append(Step("reader", partial(train_reader, inputs, watch, "reader", of_reader)))
    for number, (name, recipe) in enumerate(variants.items(), start=1):
        step = f"variant-{number}"
        made.steps.append(Step(step, partial(train_phrases, inputs, watch, step, recipe)))
        made.rows.append(Row(name, {"EM": (step, "exact_match")}))
    return made


def _shared(recipe: "PhraseRecipe", *, split: bool) -> "PhraseRecipe":
    return replace(recipe, architecture=replace(recipe.architecture, share=True, split=split))
