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
            _fuse_layer(module)


def _fuse_encoder(encoder: Any) -> None:
    if encoder.compute_position_bias is not _nothing:  # not fused before
        encoder.relative_attention_bias.requires_grad_(False)
        encoder.compute_position_bias = _nothing  # the bias comes with the mask
        encoder.register_forward_pre_hook(_add_bias_to_mask, with_kwargs=True)


def _fuse_layer(attention: Any) -> None:
    attention.forward = _Attention(attention)


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


class _Attention:
    """Replaces the forward pass of the module whose weights it uses."""

    def __init__(self, module: Any) -> None:
        self.module = module

    def __call__(self, hidden_BTH: Tensor, mask_BATT: Tensor, *_: Any, **__: Any) -> tuple[Tensor]:
        module = self.module
        shape = (*hidden_BTH.shape[:-1], -1, module.attention_head_size)
        query, key, value = (part(hidden_BTH).view(shape).transpose(1, 2) for part in (module.q, module.k, module.v))
        dropped = module.dropout.p if module.training else 0.0
        context = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask_BATT, dropout_p=dropped)
        return (module.o(context.transpose(1, 2).flatten(2)),)
