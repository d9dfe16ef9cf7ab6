"""The small model with generated questions: all data first, then annotated questions only, with pre-batch negatives."""

from pathlib import Path

from densephrases.train.loop.loop import LoopConfig
from densephrases.train.phrases.objective import LossWeights
from densephrases.train.phrases.recipe import Architecture, PhraseRecipe
from densephrases.train.phrases.sampling import BatchPlan


def phrases(data: Path, models: Path) -> PhraseRecipe:
    return PhraseRecipe(
        base=models / "gte",  # thenlper/gte-small
        train=(
            data / "squad-train.json.gz",
            data / "nq-passages-train.json.gz",
            data / "squad-entities.json.gz",  # generated: see recipes/questions
            data / "squad-nouns.json.gz",
            data / "enwiki-entities.json.gz",
        ),
        dev=data / "squad-dev.json.gz",
        held_out=(data / "squad-dev.json.gz", data / "squad-test.json.gz"),
        teacher=models / "reader",
        architecture=Architecture(share=True, question_backbone="shared"),
        # with all questions of a passage, a batch would hold only a dozen passages
        batches=BatchPlan(questions=256, questions_per_passage=6),
        weights=LossWeights(tokens=2.0),
        annotated_from=7,
        prebatch_from=7,
        loop=LoopConfig(epochs=10, learning_rate=3e-4, checkpoint_every=None),
    )
