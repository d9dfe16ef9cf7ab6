"""The phrase model's task: shapes that are filled up, processes without a passage of their own, and its queue."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from densephrases.data.squad import QuestionedPassage
from densephrases.errors import DataError
from densephrases.nn.onnx.export import export_model
from densephrases.nn.phrase_model import PhraseModel
from densephrases.train.loop.loop import LoopConfig
from densephrases.train.phrases.batches import PhraseBatch
from densephrases.train.phrases.examples import AlignmentReport, PassageExample
from densephrases.train.phrases.negatives import GoldPhrases, gather
from densephrases.train.phrases.objective import LossWeights, gold_phrases
from densephrases.train.phrases.reading_head import ReadingPlan
from densephrases.train.phrases.recipe import Architecture, PhraseRecipe
from densephrases.train.phrases.sampling import BatchPlan
from densephrases.train.phrases.task import PhraseTask, build_model
from densephrases.train.phrases.training_data import TrainingData
from tests.index.made_up import code_for

CPU = torch.device("cpu")
RECIPE = PhraseRecipe(
    base="tiny",
    train=(),
    dev=Path("dev"),
    batches=BatchPlan(questions=4, questions_per_passage=2),
    weights=LossWeights(tokens=1.0),
    prebatches=2,
    prebatch_from=1,
    loop=LoopConfig(epochs=3),
)


@dataclass(frozen=True)
class Step:
    batch: PhraseBatch
    losses: dict[str, float]
    gradients: dict[str, Tensor]


@pytest.fixture
def data(examples: list[PassageExample], questioned: list[QuestionedPassage]) -> TrainingData:
    """All examples, one question with a second occurrence, and a random teacher."""
    first, *others = examples
    asked = first.questions[0]
    rows = [replace(first, questions=(replace(asked, spans=(*asked.spans, (1, 2))), *first.questions[1:])), *others]
    random = torch.Generator().manual_seed(3)
    teacher = {}
    for e in rows:
        for q in e.questions:
            start, end = torch.randn(2, e.window.stop, generator=random).log_softmax(-1).numpy()
            teacher[q.id] = start, end
    return TrainingData(rows, questioned, teacher, AlignmentReport())


def task_of(model: PhraseModel, data: TrainingData, recipe: PhraseRecipe = RECIPE, **options: Any) -> PhraseTask:
    task = PhraseTask(recipe, model, data)
    task.prepare(CPU, **({"world": 1, "fixed_shapes": False} | options))
    return task


def steps(task: PhraseTask, epochs: Sequence[int] = (0, 1)) -> Iterator[Step]:
    """Without an optimiser: the weights stay, the queue fills."""
    for epoch in epochs:
        task.begin_epoch(epoch)
        for planned in task.plan(epoch):
            batch = task.local(planned, 0, 1)
            task.model.zero_grad()
            losses = task.losses(task.model, batch)
            torch.autograd.backward(losses["loss"])
            gradients = {name: p.grad.clone() for name, p in task.model.named_parameters() if p.grad is not None}
            yield Step(batch, {name: float(value.detach()) for name, value in losses.items()}, gradients)


SWITCHES: list[dict[str, Any]] = [
    {},
    {"share": True, "split": True},
    {"dim": 8, "question_backbone": "shared"},
    {"share": True, "reads": True, "passage_tokens": 96, "question_tokens": 16, "overlap": 8},
]
LOSSES = {"single", "distill", "tokens", "negative", "filter", "loss"}
OF_READING = {"reading", "reading_distill", "across", "null"}


def with_unanswerable(examples: Sequence[PassageExample]) -> list[PassageExample]:
    """Every other passage gets a question that it does not answer."""
    asked = [replace(e.questions[0], spans=(), answer=10_000 + number) for number, e in enumerate(examples)]
    return [replace(e, unanswerable=(q,)[: n % 2]) for n, (e, q) in enumerate(zip(examples, asked, strict=True))]


@pytest.mark.parametrize("switches", SWITCHES, ids=str)
def test_filling_up_a_shape_changes_nothing(tiny_base: Path, data: TrainingData, switches: dict[str, Any]) -> None:
    """Neither losses nor gradients nor what the queue hands to later batches."""
    torch.manual_seed(0)
    model = PhraseModel.from_base(tiny_base, **switches).eval()  # no dropout
    reads = model.config.reads
    if reads:
        recipe = replace(RECIPE, reading=ReadingPlan(questions=3, passages=2, unanswerable=2))
        data = replace(data, examples=with_unanswerable(data.examples))
    else:
        recipe = RECIPE
    least, fixed = task_of(model, data, recipe), task_of(model, data, recipe, fixed_shapes=True)
    filled = []
    for one, other in zip(steps(least), steps(fixed), strict=True):
        filled.append((int((other.batch.weight_Q == 0).sum()), int((~other.batch.content_PT.any(dim=1)).sum())))
        assert one.losses.keys() == LOSSES | (OF_READING if reads else set())
        assert other.losses == pytest.approx(one.losses, rel=1e-4)
        assert one.gradients.keys() == other.gradients.keys()
        for name, gradient in one.gradients.items():
            noise = 1e-4 * float(gradient.abs().max()) + 1e-5  # the gradient of a key's bias is nothing else
            assert torch.allclose(other.gradients[name], gradient, rtol=1e-3, atol=noise), name
    assert max(questions for questions, _ in filled) > 0, "some batch had filling questions"
    assert max(passages for _, passages in filled) > 0, "and some filling passages"
    assert least.queue.ring.valid_N.sum() == fixed.queue.ring.valid_N.sum() > 0


def test_batches_of_a_run_have_few_shapes(tiny_model: PhraseModel, data: TrainingData) -> None:
    fixed, least = task_of(tiny_model, data, fixed_shapes=True), task_of(tiny_model, data)

    def shapes(task: PhraseTask) -> set[Any]:
        planned = [batch for epoch in range(RECIPE.loop.epochs) for batch in task.plan(epoch)]
        return {task.local(batch, 0, 1).signature() for batch in planned}

    assert len(shapes(fixed)) == 1
    assert len(shapes(least)) > 2


def test_a_process_without_a_passage_takes_part_without_counting(tiny_base: Path, data: TrainingData) -> None:
    task = task_of(PhraseModel.from_base(tiny_base).eval(), data, world=2)
    task.begin_epoch(1)
    passage = data.examples[5]
    assert len(passage.questions) == 3
    idle = task.local([passage], 1, 2)
    assert idle.weight_Q.tolist() == [0.0], "one question is enough"
    losses = task.losses(task.model, idle)
    torch.autograd.backward(losses["loss"])
    assert {name: float(value.detach()) for name, value in losses.items()} == dict.fromkeys(losses, 0.0)
    gradients = [p.grad for p in task.model.parameters()]
    assert all(gradient is not None and not gradient.any() for gradient in gradients), "nothing, and no NaN"
    assert not task.queue.ring.valid_N.any(), "its gold is no negative of later batches"
    busy = task.local([passage], 0, 2)
    assert busy.weight_Q.tolist() == [1.0] * 3


@pytest.mark.parametrize("world", [1, 2, 3, 8])
@pytest.mark.parametrize("questions", [1, 4, 12])
def test_the_queue_has_room_for_the_golds_of_all_processes(
    tiny_model: PhraseModel, data: TrainingData, world: int, questions: int
) -> None:
    recipe = replace(RECIPE, batches=BatchPlan(questions=questions))
    task = task_of(tiny_model, data, recipe, world=world)
    for epoch in range(recipe.loop.epochs):
        for planned in task.plan(epoch):
            parts = [task.local(planned, rank, world) for rank in range(world)]
            assert sum(len(part.owner_Q) for part in parts) <= task.queue.capacity
            assert sum(float(part.weight_Q.sum()) for part in parts) == task.size(planned)


def test_the_queue_holds_the_golds_of_the_last_batches(tiny_base: Path, data: TrainingData) -> None:
    model = PhraseModel.from_base(tiny_base).eval()
    task = task_of(model, data, fixed_shapes=True)
    planned = task.plan(0)
    for _ in steps(task, [0]):
        pass
    expected: list[GoldPhrases] = []
    for batch in (task.local(p, 0, 1) for p in planned[-2:]):
        with torch.no_grad():
            vectors, _, questions, _ = model(batch.passages.arguments, [group.arguments for group in batch.questions])
            expected.append(gather(gold_phrases(batch, vectors, questions))[0])
    ring = task.queue.ring
    for name in ("start_ND", "end_ND", "answer_N", "passage_N", "start_N", "end_N"):
        old = torch.cat([getattr(gold, name)[gold.valid_N] for gold in expected])
        kept = getattr(ring, name)[ring.valid_N]
        assert sorted(kept.flatten().tolist()) == pytest.approx(sorted(old.flatten().tolist()), abs=1e-5)


def test_only_real_tokens_are_counted_as_work(tiny_model: PhraseModel, data: TrainingData) -> None:
    least, fixed = task_of(tiny_model, data), task_of(tiny_model, data, fixed_shapes=True)
    for planned in least.plan(0):
        one, other = (task.floating_point_operations(task.local(planned, 0, 1)) for task in (least, fixed))
        assert one == other > 0


def test_annotated_data_alone_in_the_second_stage(tiny_model: PhraseModel, data: TrainingData) -> None:
    first, *others = data.examples
    marked = tuple(replace(q, generated=True) for q in first.questions)
    mixed = replace(data, examples=[replace(first, questions=marked), *others])
    task = task_of(tiny_model, mixed, replace(RECIPE, annotated_from=1))

    def asked(epoch: int) -> set[str]:
        return {q.id for batch in task.plan(epoch) for e in batch for q in e.questions}

    assert asked(0) == asked(1) | {q.id for q in marked}
    assert asked(1) == asked(2) == {q.id for e in others for q in e.questions}


def test_a_stage_without_questions_is_refused(tiny_model: PhraseModel, data: TrainingData) -> None:
    generated = [replace(e, questions=tuple(replace(q, generated=True) for q in e.questions)) for e in data.examples]
    task = PhraseTask(replace(RECIPE, annotated_from=1), tiny_model, replace(data, examples=generated))
    assert task.plan(0)
    with pytest.raises(DataError, match=r"Epoch 1 has no annotated question"):
        task.plan(1)


def test_what_is_read_teaches_from_an_epoch_on(tiny_base: Path, data: TrainingData) -> None:
    model = PhraseModel.from_base(tiny_base, share=True).eval()
    model.learn_to_read()
    weights = LossWeights(tokens=1.0, across=1.0)
    recipe = replace(RECIPE, reading=ReadingPlan(questions=2, passages=2, teach_from=1), weights=weights)
    task = task_of(model, data, recipe)
    before, after = list(steps(task, [0])), list(steps(task, [1]))
    assert all(step.losses["across"] == 0 for step in before)
    assert all(step.losses["across"] > 0 for step in after)
    assert all(step.gradients["reading.weight"].abs().max() > 0 for step in before + after)


def test_with_a_rank_only_reading_learns(tiny_base: Path, data: TrainingData) -> None:
    recipe = replace(RECIPE, base=tiny_base, reading=ReadingPlan(questions=2, passages=2, rank=2))
    model = build_model(recipe).eval()
    for step in steps(task_of(model, data, recipe), [0]):
        assert step.gradients["reading.weight"].abs().max() > 0
        learned = {name.split(".")[0] for name in step.gradients}
        assert learned == {"reading", "reading_matrices"}


def test_a_model_learns_to_read_only_if_asked(tiny_base: Path) -> None:
    recipe = replace(RECIPE, base=tiny_base)
    assert not build_model(recipe).config.reads
    assert build_model(replace(recipe, reading=ReadingPlan(questions=2))).config.reads


def test_dropout_of_the_recipe_is_what_the_model_drops(tiny_base: Path) -> None:
    def states_twice(dropout: float | None) -> tuple[Tensor, Tensor]:
        model = build_model(replace(RECIPE, base=tiny_base, dropout=dropout)).train()
        ids = torch.arange(5, 13)[None]
        arguments = {"ids": ids, "types": torch.zeros_like(ids), "mask": torch.ones_like(ids)}
        return model.passage(**arguments), model.passage(**arguments)

    first, second = states_twice(0.0)
    assert torch.equal(first, second)
    first, second = states_twice(0.5)
    assert not torch.allclose(first, second)


@pytest.fixture
def trained(tiny_base: Path, tmp_path: Path) -> Path:
    """A phrase model with a code and what was fitted to it."""
    model = build_model(replace(RECIPE, base=tiny_base, architecture=Architecture(share=True)))
    model.product_quantizer = code_for(model.config.vector_size)
    model.config = replace(model.config, fingerprint="0" * 16, confidence={"bias": 1.0}, length_penalty=0.5)
    model.save_pretrained(tmp_path / "trained")
    return tmp_path / "trained"


@pytest.mark.parametrize("exported", [False, True])
def test_a_trained_model_goes_on(trained: Path, tmp_path: Path, exported: bool) -> None:
    before = PhraseModel.from_pretrained(trained)
    if exported:
        export_model(before, tmp_path / "exported", ("fp32",))
    model = build_model(replace(RECIPE, base=tmp_path / "exported" if exported else trained))
    assert model.config == replace(before.config, fingerprint="", confidence=None)
    assert model.config.share
    assert model.config.length_penalty == 0.5
    assert model.product_quantizer is not None
    for name, tensor in before.state_dict().items():
        torch.testing.assert_close(model.state_dict()[name], tensor, rtol=0, atol=1e-6)


def test_a_model_that_only_learns_to_read_keeps_what_was_fitted_to_its_vectors(trained: Path) -> None:
    before = PhraseModel.from_pretrained(trained)
    model = build_model(replace(RECIPE, base=trained, reading=ReadingPlan(questions=2, rank=2)))
    assert model.config == replace(before.config, reads=True, reading_rank=2)
    assert model.passage_fingerprint() == before.config.fingerprint


def test_a_bundled_model_goes_on_by_its_name() -> None:
    model = build_model(replace(RECIPE, base="small"))
    assert model.config.confidence is None
    assert model.product_quantizer is not None
