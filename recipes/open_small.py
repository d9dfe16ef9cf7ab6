"""The small model for open questions, which also reads: `squad_small_further`, trained further.

densephrases train reader recipes/open_small.py --out models/reader
densephrases generate distant data/questions/*-train.jsonl.gz --passages wiki.jsonl.xz --out distant.json.gz
densephrases generate filter distant.json.gz --reader models/reader --out data/open-questions.json.gz
densephrases train phrases recipes/open_small.py --out models/open-small
"""

from pathlib import Path

from densephrases.train.loop.loop import LoopConfig
from densephrases.train.phrases.objective import LossWeights
from densephrases.train.phrases.reading_head import ReadingPlan
from densephrases.train.phrases.recipe import PhraseRecipe
from densephrases.train.phrases.sampling import BatchPlan
from densephrases.train.reader import ReaderRecipe


def reader(data: Path, models: Path) -> ReaderRecipe:
    return ReaderRecipe(
        base=models / "mpnet",  # sentence-transformers/all-mpnet-base-v2
        train=(
            data / "squad-train.json.gz",
            data / "nq-passages-train.json.gz",
            data / "squad-unanswerable-train.json.gz",
        ),
        dev=data / "squad-dev.json.gz",
        held_out=(data / "squad-dev.json.gz", data / "squad-test.json.gz", data / "nq-passages-dev.json.gz"),
        batch_size=64,
        loop=LoopConfig(epochs=2, learning_rate=6e-5, checkpoint_every=None),
    )


def phrases(data: Path, models: Path) -> PhraseRecipe:
    return PhraseRecipe(
        base=models / "small",  # of squad_small_further
        train=(
            data / "squad-train.json.gz",
            data / "nq-passages-train.json.gz",
            data / "open-questions.json.gz",  # found: see docs/questions.md
            data / "squad-entities.json.gz",  # generated: see recipes/questions
            data / "squad-nouns.json.gz",
            data / "enwiki-entities.json.gz",
        ),
        dev=data / "squad-dev.json.gz",
        held_out=(data / "squad-dev.json.gz", data / "squad-test.json.gz", data / "nq-passages-dev.json.gz"),
        teacher=models / "reader",
        hard_negatives_from=models / "small",
        lexical_weight=1.0,
        typed_share=0.15,
        reading=ReadingPlan(questions=64, passages=4, teach_from=1),
        batches=BatchPlan(questions=256, questions_per_passage=6, passages_per_group=4),
        weights=LossWeights(distill=4.0, negative=2.0, tokens=1.0, reading=2.0, reading_distill=2.0, across=2.0),
        loop=LoopConfig(epochs=3, learning_rate=1e-4, warmup=0.15, compile=False),
    )
