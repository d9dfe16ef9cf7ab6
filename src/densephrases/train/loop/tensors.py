"""Batches of tensors that are moved to a device together."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from densephrases.model.padding import pad_rows, token_batch
from densephrases.model.tokenizer import Window


@dataclass(frozen=True)
class Tensors:
    """Base class of batches: a dataclass of tensors, nested batches and tuples of batches."""

    def to(self, device: torch.device) -> Self:
        return self._map(lambda tensor: _pinned(tensor, device).to(device, non_blocking=True))

    def copy_(self, other: Self) -> None:
        """Copies the values of a batch of the same shape."""
        for own, new in zip(self.tensors(), other.tensors(), strict=True):
            own.copy_(_pinned(new, own.device), non_blocking=True)

    def signature(self) -> tuple[torch.Size, ...]:
        """The shapes of all tensors; batches with equal signatures can share a captured step."""
        return tuple(tensor.shape for tensor in self.tensors())

    def tensors(self) -> Iterator[Tensor]:
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, Tensors):
                yield from value.tensors()
            elif isinstance(value, Tensor):
                yield value
            elif isinstance(value, tuple):
                for part in value:
                    yield from part.tensors()

    def _map(self, change: Callable[[Tensor], Tensor]) -> Self:
        changed: dict[str, Any] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, Tensors):
                changed[f.name] = value._map(change)
            elif isinstance(value, Tensor):
                changed[f.name] = change(value)
            elif isinstance(value, tuple):
                changed[f.name] = tuple(part._map(change) for part in value)
        return replace(self, **changed)


def _pinned(tensor: Tensor, device: torch.device) -> Tensor:
    """Pinned memory, from which a GPU copies asynchronously."""
    return tensor.pin_memory() if device.type == "cuda" and tensor.device.type == "cpu" else tensor


@dataclass(frozen=True)
class Inputs(Tensors):
    ids: Tensor
    types: Tensor
    mask: Tensor

    @property
    def arguments(self) -> tuple[Tensor, Tensor, Tensor]:
        return self.ids, self.types, self.mask


def inputs(
    ids: Sequence[NDArray[np.int64]], types: Sequence[NDArray[np.int64]], pad_id: int, multiple: int = 8
) -> Inputs:
    batch = token_batch(ids, types, pad_id, multiple)
    return Inputs(*(torch.from_numpy(array) for array in (batch.ids, batch.types, batch.mask)))


def columns(rows: Sequence[NDArray[np.int64]], least: int = 0) -> Tensor:
    """Positions as rows of equal length, padded with -1."""
    widest = max(least, *map(len, rows))
    return torch.from_numpy(pad_rows([*rows, np.full(widest, -1)], -1, np.int64)[:-1].copy())


def content_mask(windows: Sequence[Window], width: int) -> NDArray[np.bool_]:
    """True on columns of passage text; False on title, question, special tokens and padding."""
    columns = np.arange(width)
    first = np.array([w.first for w in windows])[:, None]
    count = np.array([w.stop - w.start for w in windows])[:, None]
    return np.asarray((columns >= first) & (columns < first + count))
