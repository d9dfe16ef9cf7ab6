"""The question generator: SmolLM2-135M on SQuAD. The paper uses T5-large: `--set base=google-t5/t5-large`."""

from pathlib import Path

from densephrases.train.loop.loop import LoopConfig
from densephrases.train.question_generator import QuestionRecipe


def questions(data: Path, models: Path) -> QuestionRecipe:
    return QuestionRecipe(
        base=models / "smollm2",  # HuggingFaceTB/SmolLM2-135M-Instruct
        train=(data / "squad-train.json.gz",),
        dev=data / "squad-dev.json.gz",
        held_out=(data / "squad-dev.json.gz", data / "squad-test.json.gz"),
        batch_size=64,
        loop=LoopConfig(epochs=3, learning_rate=2e-4, checkpoint_every=None),
    )
