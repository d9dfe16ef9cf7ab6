"""Which questions meet in a batch."""

from collections import Counter
from dataclasses import replace
from itertools import groupby
from random import Random

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from densephrases.train.phrases import sampling as planning
from densephrases.train.phrases.examples import PassageExample
from densephrases.train.phrases.sampling import BatchPlan, as_typed, draw_generated, plan_epoch
from tests.train.made_up import DATA, PLANS, example


def question_ids(planned: list[list[PassageExample]]) -> list[list[str]]:
    return [[q.id for e in batch for q in e.questions] for batch in planned]


@given(DATA, PLANS, st.integers(0, 3), st.sampled_from([1, 32]))
def test_every_question_once(data: list[PassageExample], plan: BatchPlan, epoch: int, pool: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planning, "POOL_BATCHES", pool)
        planned = plan_epoch(data, plan, seed=1, epoch=epoch)
    assert all(planned)
    expected = Counter(q.id for e in data for q in e.questions)
    assert Counter(i for batch in question_ids(planned) for i in batch) == expected
    for piece in (e for batch in planned for e in batch):
        assert 1 <= len(piece.questions) <= (plan.questions_per_passage or 99)
        assert all(q.id.startswith(f"{piece.passage}-") for q in piece.questions)


@given(DATA, PLANS)
def test_order_depends_on_seed_and_epoch_only(data: list[PassageExample], plan: BatchPlan) -> None:
    first = question_ids(plan_epoch(data, plan, seed=5, epoch=2))
    np.random.default_rng().normal(size=10)
    torch.rand(3)
    assert question_ids(plan_epoch(data, plan, seed=5, epoch=2)) == first


@pytest.mark.parametrize(("seed", "epoch"), [(5, 3), (6, 2), (2, 5)])
def test_other_seeds_and_epochs_have_other_orders(seed: int, epoch: int) -> None:
    data = [example(number, 0, 1, 8) for number in range(40)]
    plan = BatchPlan(questions=8)
    assert question_ids(plan_epoch(data, plan, seed, epoch)) != question_ids(plan_epoch(data, plan, 5, 2))


def test_batches_hold_about_as_many_questions_as_planned() -> None:
    data = [example(number, 0, 1 + number % 5, 10 + number % 7) for number in range(400)]
    sizes = [len(ids) for ids in question_ids(plan_epoch(data, BatchPlan(questions=20), 0, 0))]
    assert len(sizes) == 60  # 1,200 questions
    assert all(15 <= size <= 25 for size in sizes)


@pytest.mark.parametrize("passages", [1, 63, 64, 65, 66, 127, 128, 129])
def test_no_passage_is_left_over_alone(passages: int) -> None:
    """Whatever remains beyond whole pools of 64 questions; a lone passage would have no negatives."""
    planned = plan_epoch([example(number, 0, 1, 8) for number in range(passages)], BatchPlan(questions=2), 0, 0)
    assert sum(map(len, planned)) == passages
    assert len(planned) == max(round(passages / 2), 1)
    assert sum(len(batch) < 2 for batch in planned) <= passages % 2


def test_passages_of_similar_length_meet() -> None:
    data = [example(number, 0, 1, 1 + number) for number in range(64)]
    planned = plan_epoch(data, BatchPlan(questions=8), 0, 0)
    spans = [[len(e.window.ids) for e in batch] for batch in planned]
    assert all(max(lengths) - min(lengths) == 7 for lengths in spans)
    assert [min(lengths) for lengths in spans] != sorted(min(lengths) for lengths in spans), "but in any order"


@pytest.mark.parametrize("size", [2, 3])
def test_groups_stay_together(size: int) -> None:
    data = [example(number, number // 6, 1, 5) for number in range(60)]  # ten articles of six passages
    for batch in plan_epoch(data, BatchPlan(questions=6, passages_per_group=size), 0, 0):
        runs = [len(list(run)) for _, run in groupby(batch, key=lambda e: e.article)]
        assert all(run % size == 0 for run in runs)


def test_groups_are_of_similar_length_and_others_in_each_epoch() -> None:
    data = [example(number, 0, 1, 20 if number % 2 else 200) for number in range(32)]  # short and long by turns

    def units(epoch: int) -> list[list[int]]:
        planned = plan_epoch(data, BatchPlan(questions=4, passages_per_group=4), 0, epoch)
        return sorted(sorted(piece.passage for piece in batch) for batch in planned)

    assert all(len({number % 2 for number in unit}) == 1 for unit in units(0))
    assert units(0) != units(1)


def test_one_question_a_passage_encodes_it_anew() -> None:
    planned = plan_epoch([example(0, 0, 5, 8)], BatchPlan(questions=5, questions_per_passage=1), 0, 0)
    assert [len(e.questions) for batch in planned for e in batch] == [1] * 5


def test_a_share_of_the_generated_questions() -> None:
    """Passages 0 to 9 have annotated questions, all have generated ones."""
    examples = []
    for number in range(20):
        whole = example(number, 0, 10, 8)
        marked = [replace(q, generated=number >= 10 or i >= 5) for i, q in enumerate(whole.questions)]
        examples.append(replace(whole, questions=tuple(marked)))

    def drawn(share: float, epoch: int = 0) -> list[str]:
        return [q.id for e in draw_generated(examples, share, 3, epoch) for q in e.questions]

    assert drawn(1.0) == [q.id for e in examples for q in e.questions]
    annotated = [q.id for e in examples for q in e.questions if not q.generated]
    assert drawn(0.0) == annotated
    half = drawn(0.5)
    assert set(annotated) < set(half)
    assert 40 < len(half) - len(annotated) < 110
    assert drawn(0.5) == half != drawn(0.5, epoch=1)


def test_passages_without_questions_join_the_groups_they_are_confused_with() -> None:
    data = [example(number, number, questions=1, length=10) for number in range(4)]
    unasked = {4: example(4, 4, questions=0, length=10)}
    hard_negatives = [[4], [4], [], [], []]
    plan = BatchPlan(questions=1, passages_per_group=2)
    planned = plan_epoch(data, plan, 0, 0, hard_negatives, unasked)
    members = sorted(sorted(e.passage for e in batch) for batch in planned)
    assert members == [[0, 4], [1, 4], [2], [3]]


@given(DATA, st.integers(0, 3), st.floats(0, 1))
def test_typed_questions_keep_everything_but_their_words(data: list[PassageExample], epoch: int, share: float) -> None:
    words = (np.array([7, 8]), np.array([9], dtype=np.uint16))
    data = [replace(e, questions=tuple(replace(q, typed=(words,)) for q in e.questions)) for e in data]
    typed = as_typed(data, share, 0, epoch)
    changed = 0
    for before, after in zip(data, typed, strict=True):
        assert [q.id for q in before.questions] == [q.id for q in after.questions]
        assert [q.spans for q in before.questions] == [q.spans for q in after.questions]
        changed += sum(q.ids is words[0] and q.terms is words[1] for q in after.questions)
    total = sum(len(e.questions) for e in data)
    assert changed == {0.0: 0, 1.0: total}.get(share, changed)
    assert [[q.ids is words[0] for q in e.questions] for e in as_typed(data, share, 0, epoch)] == [
        [q.ids is words[0] for q in e.questions] for e in typed
    ]


def test_confused_passages_meet() -> None:
    data = [example(number, article=number, questions=2, length=8) for number in range(40)]
    hard_negatives = [[number ^ 1, (number + 2) % 40] for number in range(40)]
    plan = BatchPlan(questions=8, passages_per_group=2)
    planned = plan_epoch(data, plan, seed=1, epoch=0, hard_negatives=hard_negatives)
    batch_of = {piece.passage: number for number, batch in enumerate(planned) for piece in batch}
    assert sorted(batch_of) == list(range(40))
    assert all(batch_of[number] == batch_of[number ^ 1] for number in range(40))


@given(DATA, PLANS, st.integers(0, 3), st.randoms(use_true_random=False))
def test_hard_negatives_lose_no_question(data: list[PassageExample], plan: BatchPlan, epoch: int, dice: Random) -> None:
    count = 1 + max((e.passage for e in data), default=0)
    hard_negatives = [dice.sample(range(count), dice.randrange(count)) for _ in range(count)]
    planned = plan_epoch(data, replace(plan, passages_per_group=3), seed=1, epoch=epoch, hard_negatives=hard_negatives)
    expected = Counter(q.id for e in data for q in e.questions)
    assert Counter(i for batch in question_ids(planned) for i in batch) == expected
