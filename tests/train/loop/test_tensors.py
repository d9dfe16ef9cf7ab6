"""Batches of tensors: moved, copied and compared as a whole."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from densephrases.model.tokenizer import Window
from densephrases.train.loop.tensors import Inputs, Tensors, columns, content_mask, inputs


@dataclass(frozen=True)
class Batch(Tensors):
    tokens: Inputs
    groups: tuple[Inputs, ...]
    weight: Tensor
    teacher: Tensor | None
    count: int


def batch(value: int, teacher: bool = True) -> Batch:
    part = Inputs(*(torch.full((2, 3), value + i) for i in range(3)))
    return Batch(part, (part, part), torch.full((2,), float(value)), torch.zeros(2) if teacher else None, value)


def test_every_tensor_is_found_and_moved() -> None:
    moved = batch(1).to(torch.device("meta"))
    assert len(list(batch(1).tensors())) == 3 + 6 + 2
    assert {tensor.device.type for tensor in moved.tensors()} == {"meta"}
    assert moved.count == 1


def test_values_are_copied_in_place() -> None:
    one, other = batch(1), batch(5)
    addresses = [tensor.data_ptr() for tensor in one.tensors()]
    one.copy_(other)
    assert [tensor.data_ptr() for tensor in one.tensors()] == addresses
    assert all(torch.equal(a, b) for a, b in zip(one.tensors(), other.tensors(), strict=True))


def test_signatures_are_shapes() -> None:
    assert batch(1).signature() == batch(2).signature()
    assert batch(1).signature() != batch(1, teacher=False).signature()


def test_inputs_are_padded() -> None:
    ids = [np.array([5, 6]), np.array([7, 8, 9])]
    made = inputs(ids, [np.zeros_like(row) for row in ids], pad_id=1, multiple=4)
    assert made.ids.tolist() == [[5, 6, 1, 1], [7, 8, 9, 1]]
    assert made.mask.tolist() == [[1, 1, 0, 0], [1, 1, 1, 0]]
    assert made.arguments == (made.ids, made.types, made.mask)


def test_columns_are_padded_with_minus_one() -> None:
    rows = [np.array([3]), np.array([1, 2])]
    assert columns(rows).tolist() == [[3, -1], [1, 2]]
    assert columns(rows, least=3).tolist() == [[3, -1, -1], [1, 2, -1]]


def test_content_is_the_text_of_the_passage() -> None:
    ids = np.zeros(5, dtype=np.int64)
    places = ((1, 0, 3), (2, 4, 5))
    windows = [Window(ids, ids, first, start, stop, start, stop) for first, start, stop in places]
    assert content_mask(windows, 5).tolist() == [[False, True, True, True, False], [False, False, True, False, False]]
