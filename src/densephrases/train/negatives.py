"""Gold phrases of other questions as negatives: of the batch, of other processes, and of preceding batches."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Self

import torch
import torch.distributed as dist
from torch import Tensor


@dataclass(frozen=True)
class Golds:
    """Gold phrases as vectors, with what is needed to see that two are the same."""

    start_ND: Tensor
    end_ND: Tensor
    answer_N: Tensor
    passage_N: Tensor
    start_N: Tensor  # token positions in the passage
    end_N: Tensor

    def __len__(self) -> int:
        return len(self.answer_N)

    def detach(self) -> Self:
        return type(self)(**{f.name: getattr(self, f.name).detach() for f in fields(self)})

    @classmethod
    def concatenate(cls, parts: list[Self]) -> Self:
        return cls(**{f.name: torch.cat([getattr(part, f.name) for part in parts]) for f in fields(cls)})


class PreBatchQueue:
    """The gold phrases of the last `batches` batches, first in, first out, without gradients."""

    def __init__(self, batches: int) -> None:
        self.items: deque[Golds] = deque(maxlen=batches)

    def push(self, golds: Golds) -> None:
        self.items.append(golds.detach())

    def extend(self, golds: Golds) -> Golds:
        """The batch's own golds first, then the queue's."""
        return Golds.concatenate([golds, *self.items])

    def state(self) -> dict[str, Tensor]:
        return {
            f"queue.{number}.{f.name}": getattr(item, f.name)
            for number, item in enumerate(self.items)
            for f in fields(item)
        }

    def load_state(self, state: Mapping[str, Tensor], device: torch.device) -> None:
        self.items.clear()
        count = len({key.split(".")[1] for key in state if key.startswith("queue.")})
        for number in range(count):
            values = {f.name: state[f"queue.{number}.{f.name}"].to(device) for f in fields(Golds)}
            self.items.append(Golds(**values))


def gather(golds: Golds) -> tuple[Golds, int]:
    """The golds of all processes in the order of their ranks, and where the local ones begin.

    Gradients flow to the local part only.
    """
    if not (dist.is_available() and dist.is_initialized()) or dist.get_world_size() == 1:
        return golds, 0
    counts = _gather_counts(len(golds))
    rank = dist.get_rank()
    longest = max(counts)
    columns = {f.name: _gather_rows(getattr(golds, f.name), counts, longest, rank) for f in fields(golds)}
    return Golds(**columns), sum(counts[:rank])


def _gather_rows(local: Tensor, counts: list[int], longest: int, rank: int) -> Tensor:
    padded = torch.zeros((longest, *local.shape[1:]), dtype=local.dtype, device=local.device)
    padded[: len(local)] = local.detach()
    received = [torch.empty_like(padded) for _ in counts]
    dist.all_gather(received, padded)
    parts = [rows[:count] for rows, count in zip(received, counts, strict=True)]
    parts[rank] = local  # the one with its gradient
    return torch.cat(parts)


def _gather_counts(value: int) -> list[int]:
    device = torch.device("cuda", torch.cuda.current_device()) if dist.get_backend() == "nccl" else torch.device("cpu")
    received = [torch.zeros(1, dtype=torch.long, device=device) for _ in range(dist.get_world_size())]
    dist.all_gather(received, torch.tensor([value], device=device))
    return [int(r) for r in received]
