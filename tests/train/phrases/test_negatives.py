"""Gold phrases kept from batch to batch in a ring of fixed shape."""

from dataclasses import fields, replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from densephrases.errors import ModelError
from densephrases.train.phrases.negatives import GoldPhrases, PreBatchQueue, gather

CPU = torch.device("cpu")
CAPACITY = 4
DIM = 3


def gold(first: int, count: int) -> GoldPhrases:
    """Phrases numbered from `first`, whose every field says their number."""
    numbers = torch.arange(first, first + count)
    vectors = numbers[:, None].expand(count, DIM).float().clone().requires_grad_()
    valid = torch.ones(count, dtype=torch.bool)
    return GoldPhrases(vectors, vectors * 2, numbers, numbers + 1, numbers + 2, numbers + 3, valid)


def queue_of(batches: int, active: bool = True) -> PreBatchQueue:
    queue = PreBatchQueue(batches, CAPACITY, DIM, CPU)
    queue.active.fill_(active)
    return queue


def valid(extended: GoldPhrases) -> list[int]:
    """The numbers of the phrases that count, after a look whether all of their fields say the same."""
    kept = {f.name: getattr(extended, f.name)[extended.valid_N].detach() for f in fields(GoldPhrases)}
    numbers: Tensor = kept["answer_N"]
    for name, shift in (("passage_N", 1), ("start_N", 2), ("end_N", 3)):
        assert torch.equal(kept[name], numbers + shift)
    for name, factor in (("start_ND", 1), ("end_ND", 2)):
        assert torch.equal(kept[name], factor * numbers[:, None].expand(-1, DIM).float())
    return [int(number) for number in numbers]


@given(st.integers(0, 4), st.lists(st.integers(1, CAPACITY), max_size=10))
def test_queue_keeps_the_last_batches(batches: int, counts: list[int]) -> None:
    """Of slots filled anew with fewer phrases than before, the stale rows count for nothing."""
    queue = queue_of(batches)
    pushed: list[list[int]] = []
    for count in counts:
        first = sum(map(len, pushed))
        queue.push(gold(first, count))
        pushed.append(list(range(first, first + count)))
        extended = queue.extend(gold(100, 2))
        assert len(extended) == 2 + batches * CAPACITY, "the shape never changes"
        assert valid(extended)[:2] == [100, 101], "the batch's own come first"
        kept = [number for batch in pushed[max(len(pushed) - batches, 0) :] for number in batch]
        assert sorted(valid(extended)[2:]) == kept


def test_slots_are_taken_in_turn() -> None:
    queue = queue_of(2)
    slots = []
    for first in (0, 10, 20, 30, 40):
        queue.push(gold(first, 2))
        slots.append(queue.ring.answer_N.view(2, CAPACITY)[:, 0].tolist())
    assert slots[1:] == [[0, 10], [20, 10], [20, 30], [40, 30]]


def test_rows_of_a_fuller_batch_become_invalid() -> None:
    queue = queue_of(1)
    queue.push(gold(0, CAPACITY))
    queue.push(gold(50, 1))
    assert queue.ring.valid_N.tolist() == [True, False, False, False]
    assert valid(queue.extend(gold(9, 1))) == [9, 50]


def test_filling_rows_stay_invalid() -> None:
    queue = queue_of(2)
    queue.push(replace(gold(0, 3), valid_N=torch.tensor([True, False, True])))
    own = replace(gold(7, 2), valid_N=torch.tensor([False, True]))
    assert valid(queue.extend(own)) == [8, 0, 2]


def test_an_inactive_queue_adds_no_negatives() -> None:
    queue = queue_of(2, active=False)
    assert not PreBatchQueue(2, CAPACITY, DIM, CPU).active, "as it is at first"
    queue.push(gold(0, 3))
    extended = queue.extend(gold(9, 2))
    assert len(extended) == 2 + 2 * CAPACITY
    assert valid(extended) == [9, 10]
    queue.active.fill_(True)
    assert valid(queue.extend(gold(9, 2))) == [9, 10, 0, 1, 2], "it was filled all the same"


def test_a_queue_of_no_batches() -> None:
    queue = queue_of(0)
    queue.push(gold(0, 3))
    extended = queue.extend(gold(5, 2))
    assert len(extended) == 2
    assert valid(extended) == [5, 6]
    restored = queue_of(0, active=False)
    restored.load_state(queue.state())
    assert restored.active


def test_gradients_reach_the_batch_but_not_the_ring() -> None:
    queue, old, new = queue_of(2), gold(0, 2), gold(5, 2)
    queue.push(old)
    assert not queue.ring.start_ND.requires_grad
    assert not queue.ring.end_ND.requires_grad
    extended = queue.extend(new)
    torch.autograd.backward(extended.start_ND.sum() + extended.end_ND.sum())
    assert old.start_ND.grad is None
    assert new.start_ND.grad is not None
    assert new.start_ND.grad.tolist() == [[3.0] * DIM] * 2  # once as start, twice as end
    assert queue.ring.start_ND.grad is None


def test_pushing_changes_nothing_that_was_handed_out() -> None:
    """The loss looks at the candidates after the batch's gold have gone into the ring, and once more backward."""
    queue = queue_of(1)
    queue.push(gold(0, 3))
    own = gold(20, 3)
    queries = torch.ones(1, DIM, requires_grad=True)
    extended = queue.extend(own)
    before = [getattr(extended, f.name).detach().clone() for f in fields(GoldPhrases)]
    scores = queries @ extended.start_ND.T
    queue.push(own)
    assert all(torch.equal(getattr(extended, f.name), b) for f, b in zip(fields(GoldPhrases), before, strict=True))
    torch.autograd.backward(scores.sum())
    assert queries.grad is not None
    assert queries.grad.tolist() == [[float(20 + 21 + 22 + 0 + 1 + 2)] * DIM]


def test_the_ring_stays_where_it_is() -> None:
    """A captured graph knows it by its addresses."""
    queue, other = queue_of(2), queue_of(2)
    places = {name: tensor.data_ptr() for name, tensor in queue.state().items()}
    for first in (0, 5, 10):
        queue.push(gold(first, 3))
        queue.extend(gold(90, 1))
    queue.load_state(other.state())
    assert {name: tensor.data_ptr() for name, tensor in queue.state().items()} == places


@pytest.mark.parametrize("pushed", [0, 1, 2, 3])
def test_state_round_trip(pushed: int) -> None:
    """The restored queue holds the same, nothing of its own before, and goes on with the same slot."""
    queue, restored = queue_of(2), queue_of(2, active=False)
    for number in range(pushed):
        queue.push(gold(10 * number, 1 + number))
    restored.push(gold(50, 4))
    kept = {name: tensor.clone() for name, tensor in queue.state().items()}
    assert all(name.startswith("queue.") for name in kept)
    restored.load_state({**kept, "other": torch.zeros(1)})
    assert kept.keys() == restored.state().keys()
    assert all(torch.equal(tensor, restored.state()[name]) for name, tensor in kept.items())
    for one in (queue, restored):
        one.push(gold(70, 2))
    assert valid(restored.extend(gold(90, 1))) == valid(queue.extend(gold(90, 1)))
    assert all(torch.equal(tensor, restored.state()[name]) for name, tensor in queue.state().items())


def test_gather_in_one_process_changes_nothing() -> None:
    own = gold(0, 3)
    gathered, first = gather(own)
    assert gathered is own
    assert first == 0


def test_a_ring_of_another_size_is_refused() -> None:
    larger = PreBatchQueue(batches=3, capacity=9, dim=2, device=torch.device("cpu"))
    with pytest.raises(ModelError, match="resume with the same recipe"):
        queue_of(1).load_state(larger.state())
