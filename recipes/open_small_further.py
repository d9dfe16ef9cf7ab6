"""The small model for open questions, trained further: what a passage does not answer, and more of everything.

densephrases train reader recipes/open_small.py --out models/reader
densephrases train phrases recipes/open_small_further.py --out models/small-further
"""

from pathlib import Path

from densephrases.train.loop.loop import LoopConfig
from densephrases.train.phrases.objective import LossWeights
from densephrases.train.phrases.reading_head import ReadingPlan
from densephrases.train.phrases.recipe import PhraseRecipe
from densephrases.train.phrases.sampling import BatchPlan


def phrases(data: Path, models: Path) -> PhraseRecipe:
    return PhraseRecipe(
        base=models / "open-small",  # of open_small
        train=(
            data / "squad-train.json.gz",
            data / "nq-passages-train.json.gz",
            data / "open-questions.json.gz",  # found: see docs/questions.md
            data / "squad-entities.json.gz",  # generated: see recipes/questions
            data / "squad-nouns.json.gz",
            data / "enwiki-entities.json.gz",
            data / "squad-unanswerable-train.json.gz",
        ),
        dev=data / "squad-dev.json.gz",
        held_out=(data / "squad-dev.json.gz", data / "squad-test.json.gz", data / "nq-passages-dev.json.gz"),
        teacher=models / "reader",
        hard_negatives_from=models / "open-small",
        lexical_weight=1.0,
        typed_share=0.15,
        reading=ReadingPlan(questions=56, passages=4, teach_from=0, unanswerable=24),
        batches=BatchPlan(questions=256, questions_per_passage=6, passages_per_group=3),
        weights=LossWeights(
            distill=4.0, negative=2.0, tokens=1.0, reading=1.0, reading_distill=1.0, across=2.0, null=1.0
        ),
        annotated_from=1,
        prebatch_from=0,
        loop=LoopConfig(epochs=14, learning_rate=8e-5, warmup=0.02, compile=False),
    )
