"""Examples and batches of the reader."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from densephrases.data.squad import GoldAnswer, Question, QuestionedPassage
from densephrases.nn.reader import Reader
from densephrases.text.passages import Passage
from densephrases.train.loop.loop import LoopConfig
from densephrases.train.phrases.batches import Padding
from densephrases.train.phrases.examples import AlignmentReport, ExampleBuilder, PassageExample
from densephrases.train.reader import (
    ReaderBatch,
    ReaderExample,
    ReaderRecipe,
    ReaderTask,
    collate_reader,
    reader_examples,
    reader_predictions,
    train_reader,
)

from .conftest import write_squad

LONG = "the tower of paris was built in 1889 and the river is in the city of london by the year 1750 in france"
ASKED = [("when was it built?", "1889"), ("who?", "the tower of paris"), ("where is the river in what?", "france")]


@pytest.fixture(scope="module")
def reader(tiny_base: Path) -> Reader:
    torch.manual_seed(0)
    return Reader.from_base(tiny_base, passage_tokens=24, overlap=6, title_tokens=2, question_tokens=8)


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
    batch = collate_reader([several, *examples[1:]], reader.tokens.pad_id, Padding())
    assert batch.starts_QK.tolist() == [[7, 9], *([e.starts[0], -1] for e in examples[1:])]
    assert batch.content_QT.sum(dim=1).tolist() == [e.window.stop - e.window.start for e in examples]
    assert batch.tokens.ids.shape == (3, 24)
    assert batch.weight_Q.tolist() == [1.0] * 3
    assert batch.token_count == sum(len(e.window.ids) for e in examples)


def test_filling_rows_repeat_the_first_and_count_for_nothing(reader: Reader, built: list[PassageExample]) -> None:
    examples = [made for example in built for made in reader_examples(reader, example)]
    least = collate_reader(examples, reader.tokens.pad_id, Padding())
    batch = collate_reader(
        examples, reader.tokens.pad_id, Padding(questions=5, occurrences=2, passage_tokens=32), weight=0.5
    )
    assert batch.tokens.ids.shape == batch.content_QT.shape == (5, 32)
    assert batch.starts_QK.tolist() == [[e.starts[0], -1] for e in [*examples, examples[0], examples[0]]]
    assert batch.ends_QK.tolist() == [[e.ends[0], -1] for e in [*examples, examples[0], examples[0]]]
    assert batch.weight_Q.tolist() == [0.5, 0.5, 0.5, 0.0, 0.0]
    assert batch.token_count == least.token_count
    assert torch.equal(batch.tokens.ids[:3, :24], least.tokens.ids)
    assert torch.equal(batch.tokens.ids[3:], batch.tokens.ids[:1].expand(2, -1))
    assert torch.equal(batch.content_QT[:3, :24], least.content_QT)


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
        found = task.losses(reader, batch)["loss"]
        logits = reader(*batch.tokens.arguments).numpy()
    expected = 0.0
    for row, example in enumerate(task.examples):
        inside = batch.content_QT[row].numpy()
        for tower, columns in enumerate((example.starts, example.ends)):
            scores = np.exp(logits[row, tower])
            expected -= float(np.log(scores[list(columns)].sum() / scores[inside].sum())) / 2
    assert float(found) == pytest.approx(expected, rel=1e-4)


def task_of(
    reader: Reader, built: list[PassageExample], passage: QuestionedPassage, fixed_shapes: bool = False
) -> ReaderTask:
    recipe = ReaderRecipe(base="tiny", train=(), dev=Path("dev"), batch_size=2, loop=LoopConfig(epochs=3))
    task = ReaderTask(recipe, reader, built, [passage])
    task.prepare(torch.device("cpu"), 1, fixed_shapes)
    return task


def loss_and_gradients(task: ReaderTask, batch: ReaderBatch) -> tuple[float, list[Tensor]]:
    loss = task.losses(task.model, batch)["loss"]
    return float(loss.detach()), list(torch.autograd.grad(loss, list(task.model.parameters())))


def test_filling_up_a_shape_changes_nothing(
    reader: Reader, built: list[PassageExample], passage: QuestionedPassage
) -> None:
    reader.eval()
    least, fixed = (task_of(reader, built, passage, fixed_shapes) for fixed_shapes in (False, True))
    alone = [example for batch in least.plan(0) for example in batch][:1]
    for planned in (least.plan(0)[0], alone):
        (one, expected), (other, found) = (loss_and_gradients(t, t.local(planned, 0, 1)) for t in (least, fixed))
        assert one == pytest.approx(other, rel=1e-4)
        for mine, gradient in zip(found, expected, strict=True):
            assert torch.allclose(mine, gradient, rtol=1e-3, atol=1e-4 * float(gradient.abs().max()) + 1e-5)
    assert (fixed.local(alone, 0, 1).weight_Q == 0).any()


def test_batches_of_a_run_have_one_shape(
    reader: Reader, built: list[PassageExample], passage: QuestionedPassage
) -> None:
    task = task_of(reader, built, passage, fixed_shapes=True)
    planned = [batch for epoch in range(3) for batch in task.plan(epoch)]
    assert len({len(batch) for batch in planned}) > 1
    assert len({task.local(batch, 0, 1).signature() for batch in planned}) == 1


def test_a_process_without_an_example_takes_part_without_counting(
    reader: Reader, built: list[PassageExample], passage: QuestionedPassage
) -> None:
    task = task_of(reader, built, passage)
    planned = task.examples[:1]
    assert task.local(planned, 0, 2).weight_Q.tolist() == [1.0]
    batch = task.local(planned, 1, 2)
    assert batch.weight_Q.tolist() == [0.0]
    loss, gradients = loss_and_gradients(task, batch)
    assert loss == 0
    assert not any(gradient.any() for gradient in gradients), "nothing, and no NaN"


def test_answers_without_room_beside_their_question_are_reported(tiny_base: Path, tmp_path: Path) -> None:
    """Twenty tokens fit a window of 32, but not together with a question of twelve."""
    words = "the tower of paris was built in france and the river is in the city of london by the year"
    short, long = "what is it?", "who was born in london and when was the tower built?"
    asked = [
        Question("fits", long, (GoldAnswer("paris", words.index("paris")),)),
        Question("fits too", short, (GoldAnswer(words, 0),)),
        Question("lost", long, (GoldAnswer(words, 0),)),
        Question("unanswerable", short, ()),
    ]
    data = write_squad([QuestionedPassage(Passage(words), 0, tuple(asked))], tmp_path / "squad.json")
    recipe = ReaderRecipe(
        base=tiny_base,
        train=(data,),
        dev=data,
        passage_tokens=32,
        overlap=4,
        question_tokens=16,
        loop=LoopConfig(epochs=1, checkpoint_every=None),
    )
    outcome = train_reader(recipe, tmp_path / "reader", cpu=True)
    assert outcome.alignment == AlignmentReport(questions=4, used=2, across_windows=1, unanswerable=1)
    trained = Reader.from_pretrained(tmp_path / "reader").config
    assert trained.null_logit
    assert (trained.passage_tokens, trained.overlap, trained.question_tokens) == (32, 4, 16)


def test_unanswerable_questions_have_the_first_column(reader: Reader, passage: QuestionedPassage) -> None:
    asked = replace(passage, questions=(*passage.questions[:1], Question("none", "why?", ())))
    (built,) = ExampleBuilder(reader.tokens).build([asked], reader.tokens.passages([asked.passage]))
    answered, unanswered = reader_examples(reader, built)
    assert answered.starts != (0,)
    assert (unanswered.starts, unanswered.ends) == ((0,), (0,))
    task = ReaderTask(ReaderRecipe(base="tiny", train=(), dev=Path("dev")), reader, [built], [asked])
    batch = task.local(task.examples, 0, 1)
    with torch.no_grad():
        found = task.losses(reader, batch)["loss"]
        logits = reader(*batch.tokens.arguments)
    expected = 0.0
    for row, example in enumerate(task.examples):
        allowed = batch.content_QT[row].clone()
        allowed[0] = True
        for side, columns in enumerate((example.starts, example.ends)):
            scores = logits[row, side].masked_fill(~allowed, -torch.inf)
            expected += float(scores.logsumexp(0) - scores[list(columns)].logsumexp(0)) / 2
    assert float(found) == pytest.approx(expected, rel=1e-4)
    reader.config = replace(reader.config, null_logit=False)


def test_a_reader_that_abstains_gives_no_answer(
    reader: Reader, passage: QuestionedPassage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the logit of no answer is above that of the best phrase, and only if it has learned to."""
    certain = reader_predictions(reader, [passage])
    (read,) = reader.read([(passage.passage.text, [q.text for q in passage.questions])])
    best = [prediction.score for prediction in certain]
    null_Q = np.array([best[0] + 1, best[1] - 1, best[2] + 1], dtype=np.float32)
    monkeypatch.setattr(reader, "read", lambda texts: iter([replace(read, null_Q=null_Q)]))
    monkeypatch.setattr(reader, "config", replace(reader.config, null_logit=True))
    assert reader_predictions(reader, [passage]) == certain
    abstaining = reader_predictions(reader, [passage], abstains=True)
    assert [p.answer for p in abstaining] == ["", certain[1].answer, ""]
    monkeypatch.setattr(reader, "config", replace(reader.config, null_logit=False))
    assert reader_predictions(reader, [passage], abstains=True) == certain


def test_predictions_are_phrases_of_the_passage(reader: Reader, passage: QuestionedPassage) -> None:
    unasked = QuestionedPassage(Passage("paris"), 1, (Question("none", "why?", ()),))
    empty = QuestionedPassage(Passage(""), 2, (Question("empty", "why?", (GoldAnswer("x", 0),)),))
    predictions = reader_predictions(reader, [unasked, passage, empty])
    assert [p.question.id for p in predictions] == [*(q for q, _ in ASKED), "empty"]
    assert all(p.answer and p.answer in LONG for p in predictions[:3])
    assert predictions[3].answer == ""
