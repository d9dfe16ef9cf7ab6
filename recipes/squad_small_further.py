"""The small model, trained further with hard negatives and a larger weight of the losses within the passage."""

from pathlib import Path

from densephrases.train.loop.loop import LoopConfig
from densephrases.train.phrases.objective import LossWeights
from densephrases.train.phrases.recipe import PhraseRecipe
from densephrases.train.phrases.sampling import BatchPlan


def phrases(data: Path, models: Path) -> PhraseRecipe:
    return PhraseRecipe(
        base=models / "small",  # of squad_small_generated
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
        hard_negatives_from=models / "small",
        batches=BatchPlan(questions=256, questions_per_passage=6, passages_per_group=4),
        weights=LossWeights(distill=4.0, negative=2.0, tokens=1.0),
        annotated_from=3,
        prebatch_from=3,
        loop=LoopConfig(epochs=5, learning_rate=1e-4, checkpoint_every=None),
    )
