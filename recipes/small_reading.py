"""The bundled model learns to read, and nothing else: low-rank matrices beside those of its backbone.

densephrases train reader recipes/open_small.py --out models/reader
densephrases train phrases recipes/small_reading.py --out models/small-reading
"""

from pathlib import Path

from densephrases.train.loop.loop import LoopConfig
from densephrases.train.phrases.objective import LossWeights
from densephrases.train.phrases.reading_head import ReadingPlan
from densephrases.train.phrases.recipe import PhraseRecipe
from densephrases.train.phrases.sampling import BatchPlan


def phrases(data: Path, models: Path) -> PhraseRecipe:
    return PhraseRecipe(
        base="small",
        train=(
            data / "squad-train.json.gz",
            data / "nq-passages-train.json.gz",
            data / "open-questions.json.gz",  # found: see docs/questions.md
            data / "squad-entities.json.gz",  # generated: see recipes/questions
            data / "squad-unanswerable-train.json.gz",
        ),
        dev=data / "squad-dev.json.gz",
        held_out=(data / "squad-dev.json.gz", data / "squad-test.json.gz", data / "nq-passages-dev.json.gz"),
        teacher=models / "reader",
        hard_negatives_from="small",
        lexical_weight=1.0,
        typed_share=0.15,
        reading=ReadingPlan(questions=96, passages=4, unanswerable=24, rank=24),
        batches=BatchPlan(questions=256, questions_per_passage=6, passages_per_group=3),
        weights=LossWeights(reading=1.0, reading_distill=1.0, null=1.0),
        annotated_from=2,
        loop=LoopConfig(epochs=6, learning_rate=1e-3, warmup=0.02, compile=False),
    )
