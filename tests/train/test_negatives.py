"""Gold phrases kept from batch to batch."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from densephrases.train.negatives import Golds, PreBatchQueue, gather


def golds(first: int, count: int) -> Golds:
    """Phrases numbered from `first`, whose every field says their number."""
    numbers = torch.arange(first, first + count)
    vectors = numbers[:, None].expand(count, 3).float().clone().requires_grad_()
    return Golds(vectors, vectors * 2, numbers, numbers, numbers, numbers + 1)


@given(st.integers(0, 4), st.lists(st.integers(1, 3), max_size=6))
def test_queue_keeps_the_last_batches_in_order(batches: int, counts: list[int]) -> None:
    queue = PreBatchQueue(batches)
    pushed: list[list[int]] = []
    for count in counts:
        first = sum(len(p) for p in pushed)
        queue.push(golds(first, count))
        pushed.append(list(range(first, first + count)))
    expected = [number for batch in pushed[len(pushed) - min(batches, len(pushed)) :] for number in batch]
    extended = queue.extend(golds(100, 2))
    assert extended.answer_N.tolist() == [100, 101, *expected]
    assert extended.end_ND[:, 0].tolist() == [200, 202, *(2 * n for n in expected)]
    assert extended.end_N.tolist() == [101, 102, *(n + 1 for n in expected)]
    assert len(extended) == 2 + len(expected)


def test_gradients_reach_the_batch_but_not_the_queue() -> None:
    queue, old, new = PreBatchQueue(2), golds(0, 2), golds(5, 2)
    queue.push(old)
    assert not any(item.start_ND.requires_grad or item.end_ND.requires_grad for item in queue.items)
    torch.autograd.backward(queue.extend(new).start_ND.sum())
    assert old.start_ND.grad is None
    assert new.start_ND.grad is not None
    assert new.start_ND.grad.tolist() == [[1.0] * 3] * 2


def test_state_round_trip() -> None:
    queue, restored = PreBatchQueue(2), PreBatchQueue(2)
    for first in (0, 4, 8):
        queue.push(golds(first, 1 + first // 4))
    restored.push(golds(50, 3))  # what was there before is gone afterwards
    restored.load_state({**queue.state(), "other": torch.zeros(1)}, torch.device("cpu"))
    assert len(restored.items) == 2
    for one, other in zip(queue.items, restored.items, strict=True):
        for name, value in vars(one).items():
            assert torch.equal(value, getattr(other, name))


def test_empty_state() -> None:
    queue = PreBatchQueue(2)
    assert queue.state() == {}
    queue.push(golds(0, 1))
    queue.load_state({}, torch.device("cpu"))
    assert len(queue.extend(golds(3, 1))) == 1


def test_gather_in_one_process_changes_nothing() -> None:
    own = golds(0, 3)
    gathered, first = gather(own)
    assert gathered is own
    assert first == 0
