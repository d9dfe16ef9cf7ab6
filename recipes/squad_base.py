"""The base model: MPNet-base on SQuAD, distilled from an MPNet-base reader."""

from pathlib import Path

from densephrases.train.loop.loop import LoopConfig
from densephrases.train.phrases.objective import LossWeights
from densephrases.train.phrases.recipe import PhraseRecipe
from densephrases.train.phrases.sampling import BatchPlan
from densephrases.train.reader import ReaderRecipe


def reader(data: Path, models: Path) -> ReaderRecipe:
    return ReaderRecipe(
        base=models / "mpnet",  # sentence-transformers/all-mpnet-base-v2
        train=(data / "squad-train.json.gz",),
        dev=data / "squad-dev.json.gz",
        batch_size=64,
        loop=LoopConfig(epochs=3, learning_rate=6e-5, checkpoint_every=None),
    )


def phrases(data: Path, models: Path) -> PhraseRecipe:
    return PhraseRecipe(
        base=models / "mpnet",
        train=(data / "squad-train.json.gz",),
        dev=data / "squad-dev.json.gz",
        teacher=models / "reader",
        batches=BatchPlan(questions=256),
        weights=LossWeights(tokens=2.0),
        divergence="teacher_student",
        loop=LoopConfig(epochs=4, learning_rate=5e-5, checkpoint_every=None),
    )
