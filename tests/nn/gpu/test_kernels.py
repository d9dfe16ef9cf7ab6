"""Kernels for a GPU, by Triton's interpreter: what they compute is what torch computes window by window."""

from itertools import pairwise

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from densephrases.model.packing import Group

kernels = pytest.importorskip("densephrases.nn.gpu.kernels", reason="Triton is made for Linux alone")


def attended(parts: Tensor, bias: Tensor, edges: list[int]) -> Tensor:
    """(N, A * D)."""
    found = []
    for first, last in pairwise(edges):
        query, key, value = parts[first:last].permute(1, 2, 0, 3)
        mask = bias[0, :, : last - first, : last - first]
        found.append(functional.scaled_dot_product_attention(query, key, value, attn_mask=mask))
    return torch.cat([own.transpose(0, 1).flatten(1) for own in found])


@pytest.mark.parametrize("lengths", [[150, 150, 70, 64, 9], [1], [64, 65, 128], [129, 1, 1]])
def test_tokens_attend_within_their_windows(lengths: list[int]) -> None:
    torch.manual_seed(0)
    edges_W = torch.tensor([0, *lengths]).cumsum(0).to(torch.int32)
    parts, bias = torch.randn(sum(lengths), 3, 2, 16), torch.randn(1, 2, 160, 160)
    attention = kernels.WindowAttention(bias)
    tiles_T2 = attention.tiles(edges_W, [Group(0, 1, length) for length in lengths])
    found = attention(parts, edges_W, tiles_T2)
    torch.testing.assert_close(found, attended(parts, bias, edges_W.tolist()), atol=1e-5, rtol=1e-5)


def test_very_unlike_scores_leave_numbers() -> None:
    edges_W, parts, bias = (
        torch.tensor([0, 90], dtype=torch.int32),
        torch.randn(90, 3, 1, 16),
        torch.zeros(1, 1, 96, 96),
    )
    parts[:, :2] *= 100
    attention = kernels.WindowAttention(bias)
    found = attention(parts, edges_W, attention.tiles(edges_W, [Group(0, 1, 90)]))
    torch.testing.assert_close(found, attended(parts, bias, [0, 90]), atol=1e-4, rtol=1e-4)


def test_every_query_is_in_one_tile() -> None:
    lengths = [130, 130, 130, 64, 64, 1]
    groups = (Group(0, 3, 130), Group(390, 2, 64), Group(518, 1, 1))
    edges_W = torch.tensor([0, *lengths]).cumsum(0)
    tiles_T2 = kernels.WindowAttention(torch.zeros(1, 1, 8, 8)).tiles(edges_W, groups)
    expected = [[w, query] for w, length in enumerate(lengths) for query in range(0, length, kernels.QUERIES)]
    assert tiles_T2.tolist() == expected


@pytest.mark.parametrize("shape", [(37, 96), (1, 768), (9, 4100)])
def test_rows_are_normalised(shape: tuple[int, int]) -> None:
    torch.manual_seed(0)
    hidden, weight, bias = 3 + 2 * torch.randn(shape), torch.randn(shape[1]), torch.randn(shape[1])
    expected = functional.layer_norm(hidden, shape[1:], weight, bias, 1e-5)
    torch.testing.assert_close(kernels.layer_norm(hidden, weight, bias, 1e-5), expected, atol=1e-5, rtol=1e-5)
