"""Exercises all of training within two minutes on a CPU: a tiny random encoder memorises the bundled sample."""

from pathlib import Path

from densephrases.data.squad import sample_path
from densephrases.nn.random_base import random_base
from densephrases.train.loop.loop import LoopConfig
from densephrases.train.phrases.objective import LossWeights
from densephrases.train.phrases.reading_head import ReadingPlan
from densephrases.train.phrases.recipe import Architecture, PhraseRecipe
from densephrases.train.phrases.sampling import BatchPlan
from densephrases.train.reader import ReaderRecipe


def reader(data: Path, models: Path) -> ReaderRecipe:
    return ReaderRecipe(
        base=random_base(models / "smoke-base"),
        train=(sample_path(),),
        dev=sample_path(),
        batch_size=16,
        passage_tokens=128,  # shorter than some passages, so that these get several windows
        overlap=32,
        loop=LoopConfig(epochs=30, learning_rate=2e-3, checkpoint_every=100, evaluate_every=20),
    )


def phrases(data: Path, models: Path) -> PhraseRecipe:
    return PhraseRecipe(
        base=random_base(models / "smoke-base"),
        train=(sample_path(),),
        dev=sample_path(),
        teacher=models / "reader",
        architecture=Architecture(passage_tokens=128, overlap=32),
        batches=BatchPlan(questions=16, questions_per_passage=4, passages_per_group=2),
        weights=LossWeights(tokens=1.0, across=1.0),
        lexical_weight=1.0,
        typed_share=0.1,
        reading=ReadingPlan(questions=8, passages=2),
        loop=LoopConfig(epochs=30, learning_rate=1e-3, checkpoint_every=100, evaluate_every=20),
    )
