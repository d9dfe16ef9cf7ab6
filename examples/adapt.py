"""Adapt the bundled model to another way of asking, on a CPU, without touching the index.

The model was trained on whole questions. Here people type key words, as into a search engine: "tower built year"
instead of "In what year was the tower built?". The questions of a SQuAD file are turned into key words; those about
one half of its articles are learned from, those about the other half show what it was worth.

    python examples/adapt.py                                  # the sample that comes with the package, a minute
    python examples/adapt.py --data squad-dev.json.gz         # any SQuAD file; more articles, more to find
"""

import argparse
import re
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from densephrases import PhraseIndex
from densephrases.data.squad import QuestionedPassage, read_squad, sample_path
from densephrases.evaluate.tune.confidence import articles_of
from densephrases.index.manifest import MANIFEST_FILE

SMALL_WORDS = re.compile(
    r"\b(a|an|the|of|in|on|at|to|by|for|from|with|and|or|as|is|was|were|are|be|been|did|do|does|had|has|have|"
    r"what|which|who|whom|whose|when|where|why|how|many|much|it|its|that|this|there|their|his|her)\b",
    re.IGNORECASE,
)


def key_words(question: str) -> str:
    return " ".join(SMALL_WORDS.sub(" ", question.rstrip(" ?")).split()) or question


def asked(passages: Iterable[QuestionedPassage], most: int) -> tuple[list[str], list[list[str]]]:
    """Key words and right answers of some questions."""
    questions = [question for passage in passages for question in passage.questions if question.answers]
    chosen = [questions[i] for i in np.random.default_rng(0).permutation(len(questions))[:most]]
    return [key_words(question.text) for question in chosen], [question.gold_texts for question in chosen]


def main() -> None:
    parser = argparse.ArgumentParser(description="Adapt the bundled model to questions of key words.")
    parser.add_argument("--data", type=Path, default=sample_path(), help="questions and articles, as SQuAD has them")
    parser.add_argument("--index", type=Path, help="where the index is kept; made if it is not there")
    parser.add_argument("--model", default="small", help="a bundled model or a model folder")
    parser.add_argument("--out", type=Path, help="where the adapted model is kept")
    parser.add_argument("--task", help="keep it beside the default query encoder, under this name")
    parser.add_argument("--train", type=int, default=600, help="questions to learn from")
    parser.add_argument("--dev", type=int, default=300, help="questions to judge by")
    parser.add_argument("--epochs", type=int, default=3)
    options = parser.parse_args()

    passages = read_squad(options.data)
    halves = [[passage for passage in passages if passage.article % 2 == half] for half in (0, 1)]
    with TemporaryDirectory() as scratch:
        folder = options.index or Path(scratch) / "index"
        if not (folder / MANIFEST_FILE).is_file():
            PhraseIndex.create(folder, articles_of(passages), model=options.model)

        index = PhraseIndex.open(folder, options.model)
        questions, answers = asked(halves[0], options.train)
        adapted = index.fit(
            questions, answers, dev=asked(halves[1], options.dev), epochs=options.epochs, learning_rate=1e-4
        )
        adapted.save(options.out or Path(scratch) / "model", options.task)

    print(f"Questions learned from: {adapted.coverage}")
    before, after = adapted.scores["exact_match_before"], adapted.scores["exact_match"]
    print(f"Right first answers to key words about other articles: {before:.1f}% before, {after:.1f}% after")


if __name__ == "__main__":
    main()
