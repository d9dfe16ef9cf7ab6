"""The forward pass of an encoder over packed windows: no padding, few kernels.

It computes what transformers computes, in another arrangement:

- Matrix products take all tokens as one long matrix. Attention is computed for groups of windows of equal length, or
  for all windows by a variable-length kernel.
- MPNet adds a bias that depends on the distance of two tokens: one table serves every length. On a GPU our own kernel
  computes it (`kernels`), since no library has variable-length attention with a bias.
- Residuals are added inside the matrix products. The biases of these products are added by the norm before them. That
  norm's result also enters the product in between, whose own bias subtracts the surplus.
- On a GPU the activation is part of the matrix product too, which offers only the tanh approximation of GELU. It
  differs from GELU by less than bfloat16 rounds.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from subprocess import SubprocessError  # what failing compilers raise
from types import ModuleType
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from densephrases.errors import ConfigError, first_line
from densephrases.model.packing import Group
from densephrases.nn.backbone import Backbone

logger = logging.getLogger(__name__)

# Shape suffixes: N tokens of all windows in turn, H hidden size, A attention heads, L longest window, W windows.

FAMILIES = ("bert", "roberta", "xlm-roberta", "camembert", "mpnet")
_SHIFTED = ("roberta", "xlm-roberta", "camembert", "mpnet")  # leave their first positions unused
# Without cuDNN, which compiles for every new shape.
_BACKENDS = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]

VarlenAttention = Callable[..., Any]
Attention = Callable[[Tensor], Tensor]
"""Queries, keys and values (N, 3, A, D) to context vectors (N, H)."""


class Norm(NamedTuple):
    weight: Tensor
    bias: Tensor
    eps: float

    @classmethod
    def from_module(cls, module: Any) -> Self:
        return cls(module.weight.detach(), module.bias.detach(), module.eps)

    def shifted(self, bias: Tensor) -> Self:
        return self._replace(bias=self.bias + bias)

    def __call__(self, hidden_NH: Tensor) -> Tensor:
        return functional.layer_norm(hidden_NH, (hidden_NH.shape[-1],), self.weight, self.bias, self.eps)


class Linear(NamedTuple):
    weight: Tensor  # (in, out)
    bias: Tensor

    @classmethod
    def from_modules(cls, *modules: Any) -> Self:
        """One product for several layers with the same input."""
        weight = torch.cat([module.weight.detach() for module in modules]).t()
        return cls(weight, torch.cat([module.bias.detach() for module in modules]))

    def without(self, shift: Tensor) -> Self:
        """The same layer for inputs to which a vector was added."""
        return self._replace(bias=self.bias - shift @ self.weight)

    def __call__(self, hidden_NH: Tensor) -> Tensor:
        return torch.addmm(self.bias, hidden_NH, self.weight)

    def gelu(self, hidden_NH: Tensor) -> Tensor:
        if hidden_NH.is_cuda:
            return torch._addmm_activation(self.bias, hidden_NH, self.weight, use_gelu=True)
        return functional.gelu(self(hidden_NH))


class Layer(NamedTuple):
    """One layer; the norms add the biases of `attention_out` and `down`, the products in between subtract them."""

    attention_in: Linear  # queries, keys and values
    attention_out: Tensor
    first_norm: Norm
    up: Linear
    down: Tensor
    second_norm: Norm

    @classmethod
    def from_module(cls, module: Any) -> tuple[Self, Tensor]:
        """The layer, and the bias that the norm before it must add."""
        mpnet = hasattr(module.attention, "attn")
        own = module.attention.attn if mpnet else module.attention.self
        inward = (own.q, own.k, own.v) if mpnet else (own.query, own.key, own.value)
        out = Linear.from_modules(own.o if mpnet else module.attention.output.dense)
        first = Norm.from_module(module.attention.LayerNorm if mpnet else module.attention.output.LayerNorm)
        down = Linear.from_modules(module.output.dense)
        layer = cls(
            Linear.from_modules(*inward).without(out.bias),
            out.weight,
            first.shifted(down.bias),
            Linear.from_modules(module.intermediate.dense).without(down.bias),
            down.weight,
            Norm.from_module(module.output.LayerNorm),
        )
        return layer, out.bias


@dataclass(frozen=True, slots=True)
class PackedInputs:
    """A batch on the device.

    Attributes:
        ids_N: Token ids.
        positions_N: Rows of `PackedBackbone.position_table`.
        groups: Windows of equal length.
        edges_W: Where windows begin, and where the last one ends.
    """

    ids_N: Tensor
    positions_N: Tensor
    groups: tuple[Group, ...]
    edges_W: Tensor


class PackedBackbone:
    """The weights of a backbone, folded together, on one device and in one precision."""

    def __init__(self, backbone: Backbone, device: torch.device, dtype: torch.dtype, attention: str = "auto") -> None:
        encoder = backbone.encoder
        refuse_unknown(encoder.config.to_dict())
        self.heads = int(encoder.config.num_attention_heads)
        self.varlen = varlen_attention(device, attention) if encoder.config.model_type != "mpnet" else None
        move = partial(_move, device=device, dtype=dtype)
        self.word_table: Tensor = move(encoder.embeddings.word_embeddings.weight.detach())
        table, self.position_count = _position_table(encoder)
        self.position_table: Tensor = move(table)
        norm = Norm.from_module(encoder.embeddings.LayerNorm)
        layers: list[Layer] = []
        norms = [norm]
        for module in encoder.encoder.layer:
            layer, shift = Layer.from_module(module)
            norms[-1] = norms[-1].shifted(shift)
            layers.append(layer)
            norms.append(layer.second_norm)
        made = [layer._replace(second_norm=after) for layer, after in zip(layers, norms[1:], strict=True)]
        self.norm: Norm = move(norms[0])
        self.layers: list[Layer] = [move(layer) for layer in made]
        bias = _distance_bias(encoder, self.position_count)
        self.bias: Tensor | None = None if bias is None else move(bias)
        own = attention == "kernels" or (attention == "auto" and device.type == "cuda")
        self.kernels = working_kernels(device) if own else None
        self.windows = self.kernels.WindowAttention(self.bias) if self.kernels and self.bias is not None else None

    def position_rows(self, columns_N: Tensor, types_N: Tensor) -> Tensor:
        """Rows of `position_table`, by the positions of tokens within their windows and by their types."""
        typed = len(self.position_table) > self.position_count
        return columns_N + types_N.to(columns_N.dtype) * self.position_count if typed else columns_N

    def __call__(self, batch: PackedInputs) -> Tensor:
        """Last hidden states (N, H)."""
        words_NH = functional.embedding(batch.ids_N, self.word_table)
        positions_NH = functional.embedding(batch.positions_N, self.position_table)
        hidden_NH = self._normed(words_NH + positions_NH, self.norm)
        attend = self._attention(batch)
        with sdpa_kernel(_BACKENDS):
            for layer in self.layers:
                context_NH = attend(layer.attention_in(hidden_NH).view(len(hidden_NH), 3, self.heads, -1))
                hidden_NH = self._normed(hidden_NH.addmm_(context_NH, layer.attention_out), layer.first_norm)
                hidden_NH = self._normed(hidden_NH.addmm_(layer.up.gelu(hidden_NH), layer.down), layer.second_norm)
        return hidden_NH

    def _normed(self, hidden_NH: Tensor, norm: Norm) -> Tensor:
        return norm(hidden_NH) if self.kernels is None else self.kernels.layer_norm(hidden_NH, *norm)

    def _attention(self, batch: PackedInputs) -> Attention:
        edges_W, longest = batch.edges_W, batch.groups[0].length
        if (varlen := self.varlen) is not None:
            return lambda parts: torch.flatten(varlen(*parts.unbind(1), edges_W, edges_W, longest, longest), 1)
        if (windows := self.windows) is not None:
            tiles_T2 = windows.tiles(edges_W, batch.groups)
            return lambda parts: windows(parts, edges_W, tiles_T2)
        return partial(self._grouped_attention, batch.groups)

    def _grouped_attention(self, groups: tuple[Group, ...], parts: Tensor) -> Tensor:
        found = [self._group_attention(parts, group) for group in groups]
        return found[0] if len(found) == 1 else torch.cat(found)

    def _group_attention(self, parts: Tensor, group: Group) -> Tensor:
        first, windows, length = group
        own = parts[first : first + windows * length].view(windows, length, 3, self.heads, -1)
        query, key, value = own.permute(2, 0, 3, 1, 4)
        bias = None if self.bias is None else self.bias[:, :, :length, :length]
        found = functional.scaled_dot_product_attention(query, key, value, attn_mask=bias)
        return found.transpose(1, 2).reshape(windows * length, -1)


def operations(backbone: Backbone, tokens: int, groups: tuple[Group, ...]) -> float:
    """Arithmetic operations of the matrix products.

    Two for each weight and token; in attention four for each pair of tokens and dimension.
    """
    config = backbone.encoder.config
    layers, hidden = int(config.num_hidden_layers), int(config.hidden_size)
    weights = layers * hidden * (4 * hidden + 2 * int(config.intermediate_size))
    pairs = sum(group.windows * group.length**2 for group in groups)
    return float(2 * weights * tokens + 4 * layers * hidden * pairs)


def refuse_unknown(config: dict[str, Any]) -> None:
    kind, activation = config.get("model_type"), config.get("hidden_act")
    if kind not in FAMILIES or activation != "gelu":
        raise ConfigError(
            f"An encoder of type '{kind}' with activation '{activation}' cannot be computed packed; expected one of "
            f"{', '.join(FAMILIES)} with 'gelu'. Index with device='cpu', from the exported model."
        )


def _move(value: Any, device: torch.device, dtype: torch.dtype) -> Any:
    """Moves and rounds a tensor, or all tensors of a tuple; weights are folded together in float32 before that."""
    if isinstance(value, Tensor):
        return value.to(device, dtype)
    if isinstance(value, tuple):
        return type(value)(*(_move(part, device, dtype) for part in value))
    return value


def _position_table(encoder: Any) -> tuple[Tensor, int]:
    """Sums of position and type embeddings, all positions of the first type first; and the number of positions."""
    table = encoder.embeddings.position_embeddings.weight.detach()
    if encoder.config.model_type in _SHIFTED:
        table = table[int(encoder.embeddings.padding_idx) + 1 :]
    types = getattr(encoder.embeddings, "token_type_embeddings", None)
    if types is None:
        return table, len(table)
    return torch.cat([table + row for row in types.weight.detach()]), len(table)


def _distance_bias(encoder: Any, positions: int) -> Tensor | None:
    """(1, A, L, L) for models that have one; L is a multiple of 8, as attention kernels expect."""
    if encoder.config.model_type != "mpnet":
        return None
    length = -(-positions // 8) * 8
    position = torch.arange(length)
    bucket = encoder.encoder.relative_position_bucket(position[None, :] - position[:, None], num_buckets=32)
    table: Tensor = encoder.encoder.relative_attention_bias.weight.detach().cpu()
    return table[bucket].permute(2, 0, 1)[None].contiguous()


@cache
def working_kernels(device: torch.device) -> ModuleType | None:
    """Our kernels, or None without Triton, which torch for CUDA brings along, or without the C compiler it needs."""
    try:
        from densephrases.nn.gpu import kernels

        row = torch.ones(1, 16, device=device)
        kernels.layer_norm(row, row[0], row[0], 1e-5)
    except (ImportError, OSError, RuntimeError, SubprocessError) as error:
        logger.warning("Triton kernels do not work on %s, torch's slower ones are used: %s", device, first_line(error))
        return None
    return kernels


def varlen_attention(device: torch.device, attention: str) -> VarlenAttention | None:
    """torch's variable-length attention on a GPU, None if it has none or groups of equal length are asked for."""
    if device.type != "cuda" or attention == "grouped":
        return None
    try:
        from torch.nn.attention.varlen import varlen_attn
    except ImportError:
        logger.warning(
            "torch %s has no variable-length attention (2.10 has): windows attend in groups of equal length, slower.",
            torch.__version__,
        )
        return None
    found: VarlenAttention = varlen_attn
    return found
