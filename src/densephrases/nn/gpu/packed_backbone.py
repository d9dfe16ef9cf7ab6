"""The forward pass of an encoder over windows that stand one after another, for speed: no padding, few kernels.

It computes what transformers computes, arranged otherwise:

- Matrix products see one long matrix of tokens. Attention is computed for groups of windows of equal length, or by one
  kernel that knows where windows begin.
- MPNet adds a bias that depends on how far two tokens are apart: one table serves every length. On a GPU a kernel of
  our own does (`kernels`), as none of the libraries' knows both where windows begin and a bias.
- Residuals are added inside the matrix products. Their biases are added by the norm before: since that norm's result
  also enters the product in between, the bias there gives back what it gets too much.
- On a GPU the activation is part of the product as well, which knows only GELU's approximation by tanh. It differs
  from GELU by less than bfloat16 does.
"""

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

from densephrases.errors import ConfigError
from densephrases.model.packing import Group
from densephrases.nn.backbone import Backbone

# Shape suffixes: N tokens of all windows in turn, H hidden size, A attention heads, L longest window, W windows.

FAMILIES = ("bert", "roberta", "xlm-roberta", "camembert", "mpnet")
_SHIFTED = ("roberta", "xlm-roberta", "camembert", "mpnet")  # their first positions are left unused
# Not cuDNN's: it takes its time over every new shape.
_BACKENDS = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]

Varlen = Callable[..., Any]
Attention = Callable[[Tensor], Tensor]
"""Queries, keys and values (N, 3, A, D) to what is attended to (N, H)."""


class Norm(NamedTuple):
    weight: Tensor
    bias: Tensor
    eps: float

    @classmethod
    def of(cls, module: Any) -> Self:
        return cls(module.weight.detach(), module.bias.detach(), module.eps)

    def shifted(self, bias: Tensor) -> Self:
        return self._replace(bias=self.bias + bias)

    def __call__(self, hidden_NH: Tensor) -> Tensor:
        return functional.layer_norm(hidden_NH, (hidden_NH.shape[-1],), self.weight, self.bias, self.eps)


class Linear(NamedTuple):
    weight: Tensor  # (in, out)
    bias: Tensor

    @classmethod
    def of(cls, *modules: Any) -> Self:
        """One product for several layers of the same input."""
        weight = torch.cat([module.weight.detach() for module in modules]).t()
        return cls(weight, torch.cat([module.bias.detach() for module in modules]))

    def without(self, shift: Tensor) -> Self:
        """The same for inputs to which a vector was added."""
        return self._replace(bias=self.bias - shift @ self.weight)

    def __call__(self, hidden_NH: Tensor) -> Tensor:
        return torch.addmm(self.bias, hidden_NH, self.weight)

    def gelu(self, hidden_NH: Tensor) -> Tensor:
        if hidden_NH.is_cuda:
            return torch._addmm_activation(self.bias, hidden_NH, self.weight, use_gelu=True)
        return functional.gelu(self(hidden_NH))


class Layer(NamedTuple):
    """One layer; the biases of `out` and `down` are added by the norm before each, and taken off between."""

    attention_in: Linear  # queries, keys and values
    attention_out: Tensor
    first_norm: Norm
    up: Linear
    down: Tensor
    second_norm: Norm

    @classmethod
    def of(cls, module: Any) -> tuple[Self, Tensor]:
        """The layer, and what the norm before it must add."""
        mpnet = hasattr(module.attention, "attn")
        own = module.attention.attn if mpnet else module.attention.self
        inward = (own.q, own.k, own.v) if mpnet else (own.query, own.key, own.value)
        out = Linear.of(own.o if mpnet else module.attention.output.dense)
        first = Norm.of(module.attention.LayerNorm if mpnet else module.attention.output.LayerNorm)
        down = Linear.of(module.output.dense)
        layer = cls(
            Linear.of(*inward).without(out.bias),
            out.weight,
            first.shifted(down.bias),
            Linear.of(module.intermediate.dense).without(down.bias),
            down.weight,
            Norm.of(module.output.LayerNorm),
        )
        return layer, out.bias


@dataclass(frozen=True, slots=True)
class PackedInputs:
    """A batch on the device: token ids, where each token finds its position and type, and groups of equal length."""

    ids_N: Tensor
    places_N: Tensor
    groups: tuple[Group, ...]
    edges_W: Tensor  # where windows begin, and where the last one ends


class PackedBackbone:
    """The weights of a backbone, folded together, on one device and in one precision."""

    def __init__(self, backbone: Backbone, device: torch.device, dtype: torch.dtype, attention: str = "auto") -> None:
        encoder = backbone.encoder
        refuse_unknown(encoder.config.to_dict())
        self.heads = int(encoder.config.num_attention_heads)
        self.varlen = _varlen(device, attention) if encoder.config.model_type != "mpnet" else None
        place = partial(_move, device=device, dtype=dtype)
        self.words: Tensor = place(encoder.embeddings.word_embeddings.weight.detach())
        table, self.positions = _positions(encoder)
        self.places: Tensor = place(table)
        norm = Norm.of(encoder.embeddings.LayerNorm)
        layers: list[Layer] = []
        norms = [norm]
        for module in encoder.encoder.layer:
            layer, shift = Layer.of(module)
            norms[-1] = norms[-1].shifted(shift)
            layers.append(layer)
            norms.append(layer.second_norm)
        made = [layer._replace(second_norm=after) for layer, after in zip(layers, norms[1:], strict=True)]
        self.norm: Norm = place(norms[0])
        self.layers: list[Layer] = [place(layer) for layer in made]
        bias = _distance_bias(encoder, self.positions)
        self.bias: Tensor | None = None if bias is None else place(bias)
        own = attention == "kernels" or (attention == "auto" and device.type == "cuda")
        self.kernels = working_kernels(device) if own else None
        self.windows = self.kernels.WindowAttention(self.bias) if self.kernels and self.bias is not None else None

    def places_of(self, columns_N: Tensor, types_N: Tensor) -> Tensor:
        """Rows of `places` for places within windows and types."""
        typed = len(self.places) > self.positions
        return columns_N + types_N.to(columns_N.dtype) * self.positions if typed else columns_N

    def __call__(self, batch: PackedInputs) -> Tensor:
        """Last hidden states (N, H)."""
        embedded = functional.embedding(batch.ids_N, self.words) + functional.embedding(batch.places_N, self.places)
        hidden_NH = self._normed(embedded, self.norm)
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
    """Of matrix products: two for each weight and token; in attention, four for each pair of tokens and dimension."""
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
    """Tensors within tuples too; what is folded together is so in float before it is rounded."""
    if isinstance(value, Tensor):
        return value.to(device, dtype)
    if isinstance(value, tuple):
        return type(value)(*(_move(part, device, dtype) for part in value))
    return value


def _positions(encoder: Any) -> tuple[Tensor, int]:
    """Position and type embeddings in one table, the first type's positions first; how many positions there are."""
    table = encoder.embeddings.position_embeddings.weight.detach()
    if encoder.config.model_type in _SHIFTED:
        table = table[int(encoder.embeddings.padding_idx) + 1 :]
    types = getattr(encoder.embeddings, "token_type_embeddings", None)
    if types is None:
        return table, len(table)
    return torch.cat([table + row for row in types.weight.detach()]), len(table)


def _distance_bias(encoder: Any, positions: int) -> Tensor | None:
    """(1, A, L, L) for models that have one; rows begin at multiples of 8, as attention kernels expect."""
    if encoder.config.model_type != "mpnet":
        return None
    length = -(-positions // 8) * 8
    place = torch.arange(length)
    bucket = encoder.encoder.relative_position_bucket(place[None, :] - place[:, None], num_buckets=32)
    table: Tensor = encoder.encoder.relative_attention_bias.weight.detach().cpu()
    return table[bucket].permute(2, 0, 1)[None].contiguous()


@cache
def working_kernels(device: torch.device) -> ModuleType | None:
    """Ours, where Triton is, which torch brings along for GPUs, and finds the C compiler that it needs."""
    try:
        from densephrases.nn.gpu import kernels

        row = torch.ones(1, 16, device=device)
        kernels.layer_norm(row, row[0], row[0], 1e-5)
    except (ImportError, OSError, RuntimeError, SubprocessError):
        return None
    return kernels


def _varlen(device: torch.device, attention: str) -> Varlen | None:
    """The kernel that knows where windows begin, where there is one."""
    if device.type != "cuda" or attention == "grouped":
        return None
    try:
        from torch.nn.attention.varlen import varlen_attn
    except ImportError:  # torch before 2.10
        return None
    found: Varlen = varlen_attn
    return found
