"""The model we ship: MiniLM-L6 on SQuAD, taught by the reader of `squad_base`."""

from pathlib import Path

from densephrases.train.loop import LoopConfig
from densephrases.train.objective import LossWeights
from densephrases.train.phrases import Architecture, PhraseRecipe
from densephrases.train.plan import BatchPlan


def phrases(data: Path, models: Path) -> PhraseRecipe:
    return PhraseRecipe(
        base=models / "minilm",  # sentence-transformers/all-MiniLM-L6-v2
        train=(data / "squad-train.json.gz",),
        dev=data / "squad-dev.json.gz",
        teacher=models / "reader",
        architecture=Architecture(question_trunk="shared"),
        batches=BatchPlan(questions=256),
        weights=LossWeights(tokens=2.0),
        divergence="teacher_student",
        loop=LoopConfig(epochs=5, learning_rate=2e-4, checkpoint_every=None),
    )
