"""The data of a training run: examples, teacher distributions, hard negatives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from accelerate import PartialState
from accelerate.utils import broadcast_object_list

from densephrases.data.decontaminate import HeldOut
from densephrases.data.squad import QuestionedPassage, read_squad
from densephrases.model.folders import resolve
from densephrases.model.tokenizer import Tokens
from densephrases.nn.device import placed
from densephrases.nn.onnx.restore import read_model
from densephrases.nn.reader import Reader
from densephrases.train.phrases.distillation import Distributions, TeacherLogits
from densephrases.train.phrases.examples import (
    AlignmentReport,
    ExampleBuilder,
    PassageExample,
    read_training_data,
    without_held_out,
)
from densephrases.train.phrases.hard_negatives import HardNegatives, hard_negative_passages
from densephrases.train.phrases.lexical_penalties import LexicalPenalties
from densephrases.train.phrases.recipe import PhraseRecipe
from densephrases.train.phrases.sampling import BatchPlan

NEGATIVES_PER_PASSAGE = 4  # hard negatives mined per passage of a group, since some are in other groups already


@dataclass(frozen=True)
class TrainingData:
    """The tokenized data of a recipe, which runs with other training settings can share."""

    examples: list[PassageExample]
    dev: list[QuestionedPassage]
    teacher: Distributions | None
    alignment: AlignmentReport
    hard_negatives: HardNegatives | None = None
    unasked: Mapping[int, PassageExample] = field(default_factory=dict)
    penalties: LexicalPenalties | None = None

    @classmethod
    def prepare(cls, recipe: PhraseRecipe, tokens: Tokens, cpu: bool = False) -> "TrainingData":
        builder = ExampleBuilder(tokens, recipe.ambiguous, typed=recipe.typed_share > 0)
        held_out, dev = HeldOut.read(recipe.held_out), read_squad(recipe.dev)
        passages = without_held_out(read_training_data(recipe.train), held_out, builder.report)
        tokenized = tokens.passages([p.passage for p in passages])
        examples = builder.build(passages, tokenized)
        builder.report.require_some()
        teacher = None
        if recipe.teacher is not None:
            logits = teacher_logits(recipe.teacher, passages, cpu)
            teacher = logits.distributions(passages, tokenized, recipe.temperature)
        penalties = None
        if recipe.lexical_weight:
            penalties = LexicalPenalties.from_passages([p.passage for p in passages], recipe.lexical_weight)
        hard_negatives = None
        if recipe.hard_negatives_from is not None:
            folder = resolve(recipe.hard_negatives_from)
            hard_negatives = mine_hard_negatives(folder, recipe.batches, passages, cpu, penalties)
        background = builder.unasked(passages, tokenized)
        return cls(examples, dev, teacher, builder.report, hard_negatives, background, penalties)


def teacher_logits(folder: Path, passages: Sequence[QuestionedPassage], cpu: bool) -> TeacherLogits:
    """Computed by the main process, read from the cache by the others."""
    process = PartialState(cpu=cpu)
    with process.main_process_first():
        return TeacherLogits.load_or_compute(
            folder, lambda: placed(Reader.from_pretrained(folder), process.device), passages
        )


def mine_hard_negatives(
    folder: Path,
    plan: BatchPlan,
    passages: Sequence[QuestionedPassage],
    cpu: bool,
    penalties: LexicalPenalties | None = None,
) -> HardNegatives:
    """Computed by the main process and sent to the others, since all need the same plan."""
    process = PartialState(cpu=cpu)
    found: list[HardNegatives | None] = [None]
    if process.is_main_process:
        model = placed(read_model(folder), process.device)
        tokenized = model.tokens.passages([p.passage for p in passages])
        count = NEGATIVES_PER_PASSAGE * plan.passages_per_group
        found = [hard_negative_passages(model, passages, tokenized, count, penalties)]
    (hard_negatives,) = broadcast_object_list(found)
    return cast(HardNegatives, hard_negatives)
