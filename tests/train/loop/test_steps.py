"""A batch's gradients: as it comes, and as a captured graph computes them, here without a GPU to capture it."""

from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from accelerate import Accelerator
from torch import Tensor, nn

from densephrases.data.squad import QuestionedPassage
from densephrases.nn.phrase_model import PhraseModel
from densephrases.nn.reader import Reader
from densephrases.train.loop.loop import LoopConfig
from densephrases.train.loop.steps import CapturedStep, EagerStep
from densephrases.train.phrases.examples import AlignmentReport, PassageExample
from densephrases.train.phrases.recipe import PhraseRecipe
from densephrases.train.phrases.sampling import BatchPlan
from densephrases.train.phrases.task import PhraseTask
from densephrases.train.phrases.training_data import TrainingData
from densephrases.train.reader import ReaderRecipe, ReaderTask

SWITCHES: list[dict[str, Any]] = [
    {},
    {"question_backbone": "shared"},
    {"share": True},
    {"share": True, "split": True},
    {"dim": 8},
    {"dim": 8, "share": True},
    {"dim": 8, "question_backbone": "shared"},
]
SCALE = 0.25


@pytest.fixture
def data(examples: list[PassageExample], questioned: list[QuestionedPassage]) -> TrainingData:
    return TrainingData(examples, questioned, None, AlignmentReport())


def phrase_task(base: Path, data: TrainingData, frozen: bool = False, **switches: Any) -> PhraseTask:
    recipe = PhraseRecipe(
        base="tiny",
        train=(),
        dev=Path("dev"),
        batches=BatchPlan(questions=5),
        prebatch_from=0,
        loop=LoopConfig(epochs=1),
    )
    torch.manual_seed(0)
    model = PhraseModel.from_base(base, **switches).eval()  # no dropout
    if frozen:
        model.freeze_word_embeddings()
    task = PhraseTask(recipe, model, data)
    task.prepare(torch.device("cpu"), 1, fixed_shapes=True)
    task.begin_epoch(0)
    return task


def twin(task: PhraseTask) -> PhraseTask:
    other = PhraseTask(task.recipe, deepcopy(task.model), task.data)
    other.prepare(torch.device("cpu"), 1, fixed_shapes=True)
    other.begin_epoch(0)
    return other


def captured(task: Any, scale: float = SCALE) -> CapturedStep:
    step = CapturedStep(task.model, task.losses, Accelerator(cpu=True))
    step.scale.fill_(scale)
    return step


def eager(task: Any) -> EagerStep:
    return EagerStep(task.model, task.losses, Accelerator(cpu=True))


def gradients(model: nn.Module) -> dict[str, Tensor | None]:
    return {name: None if p.grad is None else p.grad.clone() for name, p in model.named_parameters()}


def assert_same(found: dict[str, Tensor | None], expected: dict[str, Tensor | None]) -> None:
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        mine = found[name]
        assert (mine is None) == (value is None), name
        if mine is not None and value is not None:
            assert torch.allclose(mine, value, rtol=1e-4, atol=1e-5), name


@pytest.mark.parametrize("switches", SWITCHES, ids=str)
def test_both_add_the_same_gradients(tiny_base: Path, data: TrainingData, switches: dict[str, Any]) -> None:
    """Of every trained parameter, over two batches, the second with the first in its queue."""
    one = phrase_task(tiny_base, data, frozen=True, **switches)
    other = twin(one)
    plainly, replayed = eager(one), captured(other)
    places = {name: p.grad.data_ptr() for name, p in other.model.named_parameters() if p.grad is not None}
    sums = []
    for number, planned in enumerate(one.plan(0)[:2]):
        expected = plainly(one.local(planned, 0, 1), SCALE, last=number == 1)
        found = replayed._compute(other.local(planned, 0, 1))
        assert {name: float(value) for name, value in found.items()} == pytest.approx(
            {name: float(value.detach()) for name, value in expected.items()}, rel=1e-5
        )
        assert not any(value.requires_grad for value in found.values()), "a graph keeps nothing for a backward pass"
        assert_same(gradients(other.model), gradients(one.model))
        sums.append(gradients(other.model))
    assert any(first is not None and not torch.equal(first, sums[1][name]) for name, first in sums[0].items())  # type: ignore[arg-type]
    assert {name: p.grad.data_ptr() for name, p in other.model.named_parameters() if p.grad is not None} == places, (
        "gradients stay where they are"
    )
    assert all(torch.equal(tensor, other.state()[name]) for name, tensor in one.state().items())


def test_frozen_parameters_have_no_gradient(tiny_base: Path, data: TrainingData) -> None:
    task = phrase_task(tiny_base, data, frozen=True)
    step = captured(task)
    frozen = [p for p in task.model.parameters() if not p.requires_grad]
    assert frozen
    assert len(step.parameters) == len(list(task.model.parameters())) - len(frozen)
    assert all(p.grad is None for p in frozen)


def test_the_scale_is_read_at_every_call(tiny_base: Path, data: TrainingData) -> None:
    """A graph is captured once, yet batches of a step of other size weigh otherwise."""
    task = phrase_task(tiny_base, data)
    task.queue.active.fill_(False)
    step, batch = captured(task, 1.0), task.local(task.plan(0)[0], 0, 1)
    step._compute(batch)
    once = gradients(task.model)
    step.scale.fill_(-1.0)
    step._compute(batch)
    for name, value in gradients(task.model).items():
        before = once[name]
        assert value is not None
        assert before is not None
        assert float(value.abs().max()) <= 1e-4 * float(before.abs().max()) + 1e-5, name


def test_gradients_survive_an_optimiser_step(tiny_base: Path, data: TrainingData) -> None:
    task = phrase_task(tiny_base, data)
    step, batch = captured(task), task.local(task.plan(0)[0], 0, 1)
    optimizer = torch.optim.AdamW(step.parameters, lr=1e-3)
    for _ in range(2):
        step._compute(batch)
        assert all(p.grad is g for p, g in zip(step.parameters, step.gradients, strict=True))
        assert any(g.any() for g in step.gradients)
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
        assert not any(g.any() for g in step.gradients)


def test_a_reader_alike(tiny_base: Path, data: TrainingData) -> None:
    torch.manual_seed(0)
    model = Reader.from_base(tiny_base, passage_tokens=48, overlap=4, title_tokens=2, question_tokens=16).eval()
    recipe = ReaderRecipe(base="tiny", train=(), dev=Path("dev"), batch_size=4, loop=LoopConfig(epochs=1))
    one, other = (ReaderTask(recipe, deepcopy(model), data.examples, data.dev) for _ in range(2))
    plainly, replayed = eager(one), captured(other)
    for planned in one.plan(0)[:2]:
        plainly(one.local(planned, 0, 1), SCALE, last=True)
        replayed._compute(other.local(planned, 0, 1))
    assert_same(gradients(other.model), gradients(one.model))


def test_eager_accumulates_and_scales(tiny_base: Path, data: TrainingData) -> None:
    task = phrase_task(tiny_base, data)
    task.recipe = replace(task.recipe, prebatch_from=9)
    task.begin_epoch(0)
    step, batch = eager(task), task.local(task.plan(0)[0], 0, 1)
    step(batch, 1.0, last=True)
    once = gradients(task.model)
    task.model.zero_grad()
    step(batch, 0.5, last=False)
    step(batch, 1.5, last=True)
    assert_same(gradients(task.model), {name: None if g is None else 2 * g for name, g in once.items()})
