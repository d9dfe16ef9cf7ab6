"""Gold phrases of other questions as negatives: in-batch, across processes, and pre-batch."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

import torch
import torch.distributed as dist
from torch import Tensor

from densephrases.errors import ModelError
from densephrases.train.loop.tensors import Tensors


@dataclass(frozen=True)
class GoldPhrases(Tensors):
    """Vectors of gold phrases, with the numbers that identify equal phrases."""

    start_ND: Tensor
    end_ND: Tensor
    answer_N: Tensor
    passage_N: Tensor
    start_N: Tensor  # token positions in the passage
    end_N: Tensor
    valid_N: Tensor  # False on padding rows

    def __len__(self) -> int:
        return len(self.answer_N)


class PreBatchQueue:
    """The gold phrases of the last `batches` batches, without gradients.

    A ring buffer of `batches` slots for `capacity` phrases each, so its shape never changes. Its phrases are valid
    negatives only while it is `active`.
    """

    def __init__(self, batches: int, capacity: int, dim: int, device: torch.device) -> None:
        rows = batches * capacity
        self.capacity, self.batches = capacity, batches
        self.slot = torch.zeros(1, dtype=torch.int64, device=device)
        self.active = torch.zeros(1, dtype=torch.bool, device=device)
        numbers = {name: torch.zeros(rows, dtype=torch.int64, device=device) for name in _NUMBERS}
        vectors = {name: torch.zeros(rows, dim, device=device) for name in ("start_ND", "end_ND")}
        self.ring = GoldPhrases(**vectors, **numbers, valid_N=torch.zeros(rows, dtype=torch.bool, device=device))

    def extend(self, phrases: GoldPhrases) -> GoldPhrases:
        """The gold phrases of the batch, followed by those of the queue."""
        parts = {f.name: [getattr(phrases, f.name), getattr(self.ring, f.name)] for f in fields(GoldPhrases)}
        parts["valid_N"][1] = parts["valid_N"][1] & self.active
        return GoldPhrases(**{name: torch.cat(both) for name, both in parts.items()})

    @torch.no_grad()
    def push(self, phrases: GoldPhrases) -> None:
        """Overwrites the oldest slot. Uses device operations only, so that a CUDA graph can replay them."""
        if self.batches == 0:
            return
        rows = self.slot * self.capacity + torch.arange(self.capacity, device=self.slot.device)
        self.ring.valid_N.index_fill_(0, rows, False)
        for f in fields(GoldPhrases):
            getattr(self.ring, f.name).index_copy_(0, rows[: len(phrases)], getattr(phrases, f.name).detach())
        self.slot.add_(1).remainder_(self.batches)

    def state(self) -> dict[str, Tensor]:
        ring = {f"queue.{f.name}": getattr(self.ring, f.name) for f in fields(GoldPhrases)}
        return ring | {"queue.slot": self.slot, "queue.active": self.active}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        for name, tensor in self.state().items():
            if name not in state or state[name].shape != tensor.shape:
                raise ModelError("The pre-batch queue of the checkpoint has another size; resume with the same recipe.")
            tensor.copy_(state[name])


_NUMBERS = ("answer_N", "passage_N", "start_N", "end_N")


def gather(phrases: GoldPhrases) -> tuple[GoldPhrases, int]:
    """The gold phrases of all processes in rank order, and the position of the first local one.

    Gradients flow to the local phrases only.
    """
    if not (dist.is_available() and dist.is_initialized()) or dist.get_world_size() == 1:
        return phrases, 0
    counts = _gather_counts(len(phrases))
    rank = dist.get_rank()
    longest = max(counts)
    columns = {f.name: _gather_rows(getattr(phrases, f.name), counts, longest, rank) for f in fields(phrases)}
    return GoldPhrases(**columns), sum(counts[:rank])


def _gather_rows(local: Tensor, counts: list[int], longest: int, rank: int) -> Tensor:
    padded = torch.zeros((longest, *local.shape[1:]), dtype=local.dtype, device=local.device)
    padded[: len(local)] = local.detach()
    received = [torch.empty_like(padded) for _ in counts]
    dist.all_gather(received, padded)
    parts = [rows[:count] for rows, count in zip(received, counts, strict=True)]
    parts[rank] = local  # with gradients
    return torch.cat(parts)


def _gather_counts(value: int) -> list[int]:
    device = torch.device("cuda", torch.cuda.current_device()) if dist.get_backend() == "nccl" else torch.device("cpu")
    received = [torch.zeros(1, dtype=torch.long, device=device) for _ in range(dist.get_world_size())]
    dist.all_gather(received, torch.tensor([value], device=device))
    return [int(r) for r in received]
