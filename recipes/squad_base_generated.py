"""The base model with generated questions: all data first, then annotated questions only, with pre-batch negatives."""

from pathlib import Path

from densephrases.train.loop.loop import LoopConfig
from densephrases.train.phrases.objective import LossWeights
from densephrases.train.phrases.recipe import Architecture, PhraseRecipe
from densephrases.train.phrases.sampling import BatchPlan


def phrases(data: Path, models: Path) -> PhraseRecipe:
    return PhraseRecipe(
        base=models / "mpnet",  # sentence-transformers/all-mpnet-base-v2
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
        architecture=Architecture(question_backbone="shared"),
        # with all questions of a passage, a batch would hold only a dozen passages
        batches=BatchPlan(questions=256, questions_per_passage=6, passages_per_group=4),
        weights=LossWeights(distill=4.0, negative=1.0, tokens=0.5),  # lexical overlap finds the passage
        annotated_from=5,
        prebatch_from=5,
        loop=LoopConfig(epochs=8, learning_rate=1e-4, checkpoint_every=None),
    )
