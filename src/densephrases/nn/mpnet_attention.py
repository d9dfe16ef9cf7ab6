"""MPNet's attention by one fused kernel.

Attention scores have shape (B, A, T, T), and transformers scales, biases, masks, normalises and drops them in separate
steps in float32: on a GPU most of the time goes to moving them through memory. Here bias and mask are added once for
all layers, and scores never leave the kernel.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers.models.mpnet.modeling_mpnet import MPNetEncoder, MPNetSelfAttention

# Shape suffixes: B rows of a batch, A attention heads, T tokens, H hidden size.


def fuse_attention(model: nn.Module) -> None:
    """Fuse the attention of all MPNet encoders in a model; their bias tables, which get no gradient, are frozen."""
    for module in model.modules():
        if isinstance(module, MPNetEncoder):
            _fuse_encoder(module)
        elif isinstance(module, MPNetSelfAttention):
            module.__class__ = FusedSelfAttention


def _fuse_encoder(encoder: Any) -> None:
    if encoder.compute_position_bias is not _nothing:  # not fused before
        encoder.relative_attention_bias.requires_grad_(False)
        encoder.compute_position_bias = _nothing  # the bias comes with the mask
        encoder.register_forward_pre_hook(_add_bias_to_mask, with_kwargs=True)


def _nothing(_: Tensor) -> None:
    return None


def _add_bias_to_mask(
    encoder: Any, inputs: tuple[Any, ...], settings: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    hidden_BTH, *rest = inputs
    mask = rest.pop(0) if rest else settings.pop("attention_mask")
    biased = _position_bias(encoder, hidden_BTH) if mask is None else _position_bias(encoder, hidden_BTH) + mask
    kind = hidden_BTH.device.type
    dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else hidden_BTH.dtype
    lowest = torch.finfo(dtype).min  # the lowest float32 would become infinite
    return (hidden_BTH, biased.clamp_min(lowest).to(dtype), *rest), settings


def _position_bias(encoder: Any, hidden_BTH: Tensor) -> Tensor:
    position_T = torch.arange(hidden_BTH.shape[1], device=hidden_BTH.device)
    bucket_TT = encoder.relative_position_bucket(position_T[None, :] - position_T[:, None], num_buckets=32)
    bias_TTA: Tensor = encoder.relative_attention_bias(bucket_TT)
    return bias_TTA.permute(2, 0, 1)[None]


class FusedSelfAttention(MPNetSelfAttention):
    """Takes the position bias from the mask.

    `fuse_attention` sets this class on existing modules. torch compiles methods of a class once for all layers; a
    function set as `forward` on each module would be compiled once a layer, up to torch's limit of 8.
    """

    def forward(self, hidden_states: Tensor, attention_mask: Tensor | None = None, *_: Any, **__: Any) -> tuple[Tensor]:
        shape = (*hidden_states.shape[:-1], -1, self.attention_head_size)
        query, key, value = (part(hidden_states).view(shape).transpose(1, 2) for part in (self.q, self.k, self.v))
        dropped = self.dropout.p if self.training else 0.0
        context = functional.scaled_dot_product_attention(
            query, key, value, attn_mask=attention_mask, dropout_p=dropped
        )
        return (self.o(context.transpose(1, 2).flatten(2)),)
