"""Two Triton kernels: variable-length attention with a bias by distance, and layer norm.

Libraries have the first only for windows of equal length and with a kernel for older GPUs. Their layer norm reaches a
third of the memory bandwidth.
"""

from collections.abc import Iterable

import torch
import triton
import triton.language as tl
from torch import Tensor

from densephrases.model.packing import Group

# Shape suffixes: N tokens of all windows in turn, H hidden size, A attention heads, D size of a head, L longest window,
# W windows, T tiles of queries.

QUERIES, KEYS, WARPS, STAGES = 64, 64, 4, 2  # the fastest of twelve settings on an H200
NORM_BLOCK = 4096  # values that one program of the layer norm handles
LOG2_E = 1.4426950408889634


class WindowAttention:
    """Every token attends to the tokens of its window."""

    def __init__(self, bias_1ALL: Tensor) -> None:
        self.bias_ALL = (bias_1ALL[0].float() * LOG2_E).to(bias_1ALL.dtype).contiguous()

    def tiles(self, edges_W: Tensor, groups: Iterable[Group]) -> Tensor:
        """(T, 2): the window of each tile and its first query."""
        count = sum(group.windows * -(-group.length // QUERIES) for group in groups)  # without waiting for the GPU
        of_window_W = (edges_W.diff() + QUERIES - 1) // QUERIES
        window_T = torch.repeat_interleave(of_window_W, output_size=count)
        before_W = of_window_W.cumsum(0) - of_window_W
        first_T = (torch.arange(count, device=edges_W.device) - before_W[window_T]) * QUERIES
        return torch.stack([window_T, first_T], dim=1).to(torch.int32)

    def __call__(self, parts: Tensor, edges_W: Tensor, tiles_T2: Tensor) -> Tensor:
        """Queries, keys and values (N, 3, A, D) to context vectors (N, A * D)."""
        tokens, _, heads, width = parts.shape
        found = parts.new_empty((tokens, heads * width))
        _attend[(len(tiles_T2), heads)](
            parts,
            self.bias_ALL,
            edges_W,
            tiles_T2,
            found,
            LOG2_E * width**-0.5,
            HEADS=heads,
            WIDTH=width,
            LONGEST=self.bias_ALL.shape[-1],
            QUERIES=QUERIES,
            KEYS=KEYS,
            num_warps=WARPS,
            num_stages=STAGES,
        )
        return found


def layer_norm(hidden_NH: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    count, width = hidden_NH.shape
    found = torch.empty_like(hidden_NH)
    block = triton.next_power_of_2(width)
    rows = max(NORM_BLOCK // block, 1)
    grid = (triton.cdiv(count, rows),)
    _normalise[grid](hidden_NH, weight, bias, found, count, eps, WIDTH=width, ROWS=rows, BLOCK=block)
    return found


@triton.jit
def _attend(
    parts,
    bias,
    edges,
    tiles,
    found,
    scale,
    HEADS: tl.constexpr,
    WIDTH: tl.constexpr,
    LONGEST: tl.constexpr,
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,
):
    """One tile of queries of one head: online softmax over tiles of keys, with powers of two."""
    tile, head = tl.program_id(0), tl.program_id(1)
    window, first = tl.load(tiles + 2 * tile), tl.load(tiles + 2 * tile + 1)
    begin = tl.load(edges + window)
    length = tl.load(edges + window + 1) - begin
    step: tl.constexpr = 3 * HEADS * WIDTH
    own = parts + begin.to(tl.int64) * step + head * WIDTH
    rows, numbers = first + tl.arange(0, QUERIES), tl.arange(0, WIDTH)
    query = tl.load(own + rows[:, None] * step + numbers[None, :], mask=rows[:, None] < length, other=0.0)
    largest = tl.full((QUERIES,), -1e30, dtype=tl.float32)
    total = tl.zeros((QUERIES,), dtype=tl.float32)
    context = tl.zeros((QUERIES, WIDTH), dtype=tl.float32)
    for start in range(0, length, KEYS):
        columns = start + tl.arange(0, KEYS)
        there = columns < length
        key_place = own + HEADS * WIDTH + columns[None, :] * step + numbers[:, None]
        value_place = own + 2 * HEADS * WIDTH + columns[:, None] * step + numbers[None, :]
        bias_place = bias + head * LONGEST * LONGEST + rows[:, None] * LONGEST + columns[None, :]
        key = tl.load(key_place, mask=there[None, :], other=0.0)
        value = tl.load(value_place, mask=there[:, None], other=0.0)
        nearness = tl.load(bias_place, mask=(rows[:, None] < length) & there[None, :], other=0.0)
        scores = tl.where(there[None, :], tl.dot(query, key) * scale + nearness.to(tl.float32), float("-inf"))
        higher = tl.maximum(largest, tl.max(scores, axis=1))
        weights = tl.exp2(scores - higher[:, None])
        fading = tl.exp2(largest - higher)
        total = total * fading + tl.sum(weights, axis=1)
        context = context * fading[:, None] + tl.dot(weights.to(value.dtype), value)
        largest = higher
    place = found + (begin + rows[:, None]).to(tl.int64) * (HEADS * WIDTH) + head * WIDTH + numbers[None, :]
    tl.store(place, (context / total[:, None]).to(found.dtype.element_ty), mask=rows[:, None] < length)


@triton.jit
def _normalise(hidden, weight, bias, found, count, eps, WIDTH: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows, columns = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS), tl.arange(0, BLOCK)
    there = columns < WIDTH
    inside = (rows[:, None] < count) & there[None, :]
    places = rows[:, None] * WIDTH + columns[None, :]
    values = tl.load(hidden + places, mask=inside, other=0.0).to(tl.float32)
    centred = tl.where(inside, values - (tl.sum(values, axis=1) / WIDTH)[:, None], 0.0)
    spread = tl.sqrt(tl.sum(centred * centred, axis=1) / WIDTH + eps)
    factor = tl.load(weight + columns, mask=there, other=0.0).to(tl.float32)
    shift = tl.load(bias + columns, mask=there, other=0.0).to(tl.float32)
    result = centred / spread[:, None] * factor[None, :] + shift[None, :]
    tl.store(found + places, result.to(found.dtype.element_ty), mask=inside)
