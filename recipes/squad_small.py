"""The small model: gte-small on SQuAD, one backbone for both towers, distilled from the reader of `squad_base`."""

from pathlib import Path

from densephrases.train.loop.loop import LoopConfig
from densephrases.train.phrases.objective import LossWeights
from densephrases.train.phrases.recipe import Architecture, PhraseRecipe
from densephrases.train.phrases.sampling import BatchPlan


def phrases(data: Path, models: Path) -> PhraseRecipe:
    return PhraseRecipe(
        base=models / "gte",  # thenlper/gte-small
        train=(data / "squad-train.json.gz",),
        dev=data / "squad-dev.json.gz",
        teacher=models / "reader",
        architecture=Architecture(share=True, question_backbone="shared"),  # 34 MB at 8 bits
        batches=BatchPlan(questions=256),
        weights=LossWeights(tokens=2.0),
        loop=LoopConfig(epochs=12, learning_rate=3e-4, checkpoint_every=None),
    )
