"""The base model, trained further with hard negatives, twice. The average of the three models is the best one.

densephrases train phrases recipes/squad_base_further.py --out models/base-2
densephrases train phrases recipes/squad_base_further.py --out models/base-3 \
    --set base=models/base-2 --set loop.learning_rate=6e-5
densephrases train average models/base models/base-2 models/base-3 --out models/base-average
"""

from pathlib import Path

from densephrases.train.loop.loop import LoopConfig
from densephrases.train.phrases.objective import LossWeights
from densephrases.train.phrases.recipe import PhraseRecipe
from densephrases.train.phrases.sampling import BatchPlan


def phrases(data: Path, models: Path) -> PhraseRecipe:
    return PhraseRecipe(
        base=models / "base",  # of squad_base_generated
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
        weights=LossWeights(distill=4.0, negative=1.0, tokens=0.5),
        annotated_from=3,
        prebatch_from=3,
        loop=LoopConfig(epochs=6, learning_rate=8e-5, checkpoint_every=None),
    )
