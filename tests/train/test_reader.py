"""Examples and batches of the reader."""

from pathlib import Path

import numpy as np
import pytest
import torch

from densephrases.evaluate.datasets import GoldAnswer, Question, QuestionedPassage
from densephrases.model.reader import Reader
from densephrases.text.passages import Passage
from densephrases.train.examples import ExampleBuilder, PassageExample
from densephrases.train.loop import LoopConfig
from densephrases.train.reader import (
    ReaderExample,
    ReaderRecipe,
    ReaderTask,
    collate_reader,
    reader_examples,
    reader_predictions,
)

LONG = "the tower of paris was built in 1889 and the river is in the city of london by the year 1750 in france"
ASKED = [("when was it built?", "1889"), ("who?", "the tower of paris"), ("where is the river in what?", "france")]


@pytest.fixture(scope="module")
def reader(tiny_base: Path) -> Reader:
    torch.manual_seed(0)
    return Reader.from_base(tiny_base, passage_tokens=24, overlap=6, title_tokens=2)


@pytest.fixture(scope="module")
def passage() -> QuestionedPassage:
    asked = [Question(q, q, (GoldAnswer(answer, LONG.index(answer)),)) for q, answer in ASKED]
    return QuestionedPassage(Passage(LONG, "a title"), 0, tuple(asked))


@pytest.fixture(scope="module")
def built(reader: Reader, passage: QuestionedPassage) -> list[PassageExample]:
    return ExampleBuilder(reader.tokens).build([passage], reader.tokens.passages([passage.passage]))


def test_columns_hold_the_answer(reader: Reader, built: list[PassageExample]) -> None:
    found = {}
    for example in built:
        for question, made in zip(example.questions, reader_examples(reader, example), strict=True):
            assert made.window.ids[: made.window.first].tolist() == question.ids.tolist()
            (start,), (end,) = made.starts, made.ends
            assert made.window.first <= start <= end < made.window.first + made.window.stop - made.window.start
            found[question.id] = reader.tokens.tokenizer.decode(made.window.ids[start : end + 1].tolist())
    assert found == dict(ASKED)


def test_an_answer_longer_than_the_room_beside_the_question_is_dropped(
    reader: Reader, built: list[PassageExample]
) -> None:
    w = built[0].window
    question = built[0].questions[0]
    whole = type(question)("q", question.ids, ((w.start, w.stop - 1),), 0)
    assert reader_examples(reader, PassageExample(0, 0, w, (whole,))) == []


def test_batch(reader: Reader, built: list[PassageExample]) -> None:
    examples = [made for example in built for made in reader_examples(reader, example)]
    several = ReaderExample(examples[0].window, (7, 9), (8, 9))
    batch = collate_reader([several, *examples[1:]], reader.tokens.pad_id)
    assert batch.starts_QK.tolist() == [[7, 9], *([e.starts[0], -1] for e in examples[1:])]
    assert batch.content_QT.sum(dim=1).tolist() == [e.window.stop - e.window.start for e in examples]
    assert batch.tokens.ids.shape[1] % 8 == 0


def test_every_example_once_an_epoch(
    reader: Reader, built: list[PassageExample], passage: QuestionedPassage, tmp_path: Path
) -> None:
    recipe = ReaderRecipe(base="tiny", train=(), dev=tmp_path, batch_size=2, loop=LoopConfig(seed=3))
    task = ReaderTask(recipe, reader, built, [passage])
    planned = task.plan(0)
    assert sum(map(task.size, planned)) == 3
    assert {id(example) for batch in planned for example in batch} == {id(example) for example in task.examples}


def test_the_loss_is_that_of_the_gold_columns(
    reader: Reader, built: list[PassageExample], passage: QuestionedPassage, tmp_path: Path
) -> None:
    task = ReaderTask(ReaderRecipe(base="tiny", train=(), dev=tmp_path), reader, built, [passage])
    reader.eval()
    batch = task.local(task.examples, 0, 1)
    with torch.no_grad():
        found = task.losses(reader, batch, 0)["loss"]
        logits = reader(*batch.tokens.arguments).numpy()
    expected = 0.0
    for row, example in enumerate(task.examples):
        inside = batch.content_QT[row].numpy()
        for side, columns in enumerate((example.starts, example.ends)):
            scores = np.exp(logits[row, side])
            expected -= float(np.log(scores[list(columns)].sum() / scores[inside].sum())) / 2
    assert float(found) == pytest.approx(expected, rel=1e-4)


def test_predictions_are_phrases_of_the_passage(reader: Reader, passage: QuestionedPassage) -> None:
    unasked = QuestionedPassage(Passage("paris"), 1, (Question("none", "why?", ()),))
    empty = QuestionedPassage(Passage(""), 2, (Question("empty", "why?", (GoldAnswer("x", 0),)),))
    predictions = reader_predictions(reader, [unasked, passage, empty])
    assert [p.question.id for p in predictions] == [*(q for q, _ in ASKED), "empty"]
    assert all(p.answer and p.answer in LONG for p in predictions[:3])
    assert predictions[3].answer == ""
