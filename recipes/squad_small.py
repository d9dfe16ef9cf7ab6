"""The model we ship: MiniLM-L6 on SQuAD, taught by the reader of `squad_base`."""

from pathlib import Path

from densephrases.train.batches import BatchPlan
from densephrases.train.loop import LoopConfig
from densephrases.train.phrases import PhraseRecipe


def phrases(data: Path, models: Path) -> PhraseRecipe:
    return PhraseRecipe(
        base=models / "minilm",  # sentence-transformers/all-MiniLM-L6-v2
        train=(data / "squad-train.json.gz",),
        dev=data / "squad-dev.json.gz",
        teacher=models / "reader",
        batches=BatchPlan(questions=128),
        loop=LoopConfig(epochs=4, learning_rate=1.5e-4, checkpoint_every=None),
    )
