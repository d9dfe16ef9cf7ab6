"""The question generator's training: a tiny T5 and a tiny Llama learn a dozen questions by heart."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from densephrases.data.squad import GoldAnswer, Question, QuestionedPassage
from densephrases.nn.question_generator import QuestionGenerator
from densephrases.text.passages import Passage
from densephrases.train.loop.loop import LoopConfig
from densephrases.train.phrases.batches import Padding
from densephrases.train.phrases.examples import AlignmentReport
from densephrases.train.question_generator import (
    GeneratorBatch,
    GeneratorExample,
    QuestionRecipe,
    QuestionTask,
    collate_generator,
    generator_examples,
    question_losses,
    spread_evenly,
    train_questions,
)
from tests.train.conftest import write_squad

LIMITS: dict[str, Any] = {"context_tokens": 24, "title_tokens": 3, "question_tokens": 16}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """So small a model only waits for a second one."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def generator(tiny_writer: Path) -> QuestionGenerator:
    torch.manual_seed(0)
    return QuestionGenerator.from_base(tiny_writer, **LIMITS)


@pytest.fixture
def made(generator: QuestionGenerator, questioned: list[QuestionedPassage]) -> list[GeneratorExample]:
    return generator_examples(generator.prompts, questioned, "given", AlignmentReport())


def recipe_of(base: Path, data: Path, **settings: Any) -> QuestionRecipe:
    loop = LoopConfig(epochs=80, learning_rate=1e-2, warmup=0.05, checkpoint_every=None)
    return QuestionRecipe(base=base, train=(data,), dev=data, **(LIMITS | {"batch_size": 4, "loop": loop} | settings))


def test_learned_by_heart(tiny_writer: Path, questioned: list[QuestionedPassage], tmp_path: Path) -> None:
    data = write_squad(questioned, tmp_path / "squad.json")
    outcome = train_questions(recipe_of(tiny_writer, data, batch_size=11), tmp_path / "run", cpu=True)
    assert outcome.alignment == AlignmentReport(questions=11, used=11)
    assert outcome.scores["loss"] < 0.5
    assert outcome.scores["rouge_l"] > 90
    assert outcome.scores["bleu_4"] > 90
    assert len(outcome.samples) == 11
    samples = [json.loads(line) for line in (tmp_path / "run" / "samples.jsonl").read_text().splitlines()]
    assert samples[0].keys() == {"answer", "asked", "written"}
    assert "question generator" in (tmp_path / "run" / "README.md").read_text()

    learned = QuestionGenerator.from_pretrained(tmp_path / "run")
    examples = generator_examples(learned.prompts, questioned, "given", AlignmentReport())
    written = learned.generate([e.prompt for e in examples])
    pairs = [(text or "", example.asked) for text, example in zip(written, examples, strict=True)]
    assert sum(text.replace(" ?", "?") == asked for text, asked in pairs) >= 10


def test_killed_and_resumed(tiny_writer: Path, questioned: list[QuestionedPassage], tmp_path: Path) -> None:
    data = write_squad(questioned, tmp_path / "squad.json")
    loop = LoopConfig(epochs=2, learning_rate=1e-3, checkpoint_every=2)
    recipe = recipe_of(tiny_writer, data, loop=loop)
    train_questions(recipe, tmp_path / "whole", cpu=True)

    class KilledError(Exception):
        pass

    class Killer:
        def stepped(self, report: Any) -> None: ...

        def evaluated(self, step: int, scores: dict[str, float]) -> None:
            raise KilledError

        def finished(self, summary: dict[str, float]) -> None: ...

    stopping = replace(recipe, loop=replace(loop, evaluate_every=1))
    with pytest.raises(KilledError):
        train_questions(stopping, tmp_path / "parts", [Killer()], cpu=True)
    train_questions(recipe, tmp_path / "parts", cpu=True)
    whole, parts = (QuestionGenerator.from_pretrained(tmp_path / name).state_dict() for name in ("whole", "parts"))
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


def test_the_loss_is_of_the_question_alone() -> None:
    logits = torch.log(torch.tensor([[[0.5, 0.25, 0.25], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]]]))
    found = question_losses(logits, torch.tensor([[0, 1, 2]]), torch.tensor([[1, 1, 0]]))
    assert found.tolist() == pytest.approx([-(torch.tensor([0.5, 0.8]).log().mean().item())])


def loss_and_gradients(task: QuestionTask, batch: GeneratorBatch) -> tuple[float, list[Tensor]]:
    loss = task.losses(task.model, batch)["loss"]
    return float(loss.detach()), list(torch.autograd.grad(loss, list(task.model.parameters())))


def test_filling_up_a_shape_changes_nothing(generator: QuestionGenerator, made: list[GeneratorExample]) -> None:
    generator.eval()
    task = QuestionTask(recipe_of(Path("x"), Path("x")), generator, made, made)
    least = collate_generator(made[:3], generator, Padding(passage_tokens=1, question_tokens=1))
    fixed = collate_generator(made[:3], generator, Padding(questions=5, passage_tokens=64, question_tokens=16))
    assert fixed.prompt_QP.shape == (5, 64)
    (one, expected), (other, found) = (loss_and_gradients(task, batch) for batch in (least, fixed))
    assert one == pytest.approx(other, rel=1e-4)
    for mine, gradient in zip(found, expected, strict=True):
        assert torch.allclose(mine, gradient, rtol=1e-3, atol=1e-4 * float(gradient.abs().max()) + 1e-5)


def test_batches_of_a_run_have_few_shapes(generator: QuestionGenerator, made: list[GeneratorExample]) -> None:
    task = QuestionTask(recipe_of(Path("x"), Path("x")), generator, made, made)
    task.prepare(torch.device("cpu"), 1, fixed_shapes=True)
    planned = [batch for epoch in range(3) for batch in task.plan(epoch)]
    assert sum(map(task.size, task.plan(0))) == len(made)
    assert len({task.local(batch, 0, 1).signature() for batch in planned}) == 1
    lonely = task.local(planned[0][:1], 1, 2)
    assert not lonely.weight_Q.any()
    assert loss_and_gradients(task, lonely)[0] == 0


def test_what_is_not_learned_is_counted(generator: QuestionGenerator) -> None:
    text = "the tower of paris was built in 1889 and the river is in the city of london by the year 1750 in france"
    asked = [
        Question("fits", "when?", (GoldAnswer("1889", text.index("1889")),)),
        Question("guess", "where?", (GoldAnswer("london", text.index("london"), ambiguous=True),)),
        Question("long answer", "what?", (GoldAnswer(text, 0),)),
        Question("long question", "who was it and " * 10, (GoldAnswer("1889", text.index("1889")),)),
        Question("misplaced", "what?", (GoldAnswer("paris", 0),)),
        Question("unanswerable", "what?", ()),
    ]
    report = AlignmentReport()
    passage = QuestionedPassage(Passage(text), 0, tuple(asked))
    examples = generator_examples(generator.prompts, [passage], "given", report)
    assert [e.answer for e in examples] == ["1889", "london"]
    assert report == AlignmentReport(
        questions=6, used=2, ambiguous=1, across_windows=1, too_long=1, misplaced=1, unanswerable=1
    )


def test_nothing_held_out_is_learned(tiny_writer: Path, questioned: list[QuestionedPassage], tmp_path: Path) -> None:
    data = write_squad(questioned, tmp_path / "squad.json")
    test = write_squad(questioned[:1], tmp_path / "test.json")
    loop = LoopConfig(epochs=1, checkpoint_every=None)
    recipe = recipe_of(tiny_writer, data, held_out=(test,), loop=loop)
    outcome = train_questions(recipe, tmp_path / "run", cpu=True)
    assert outcome.alignment == AlignmentReport(questions=9, used=9, held_out=2)


def test_spread_evenly() -> None:
    assert spread_evenly(3, 5) == spread_evenly(3, None) == [0, 1, 2]
    assert spread_evenly(10, 4) == [0, 2, 5, 7]
