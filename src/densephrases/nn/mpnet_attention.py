"""MPNet's attention by one kernel: as transformers computes it, a step on a GPU mostly moves scores through memory.

Scores are (B, A, T, T), and transformers divides, biases, masks, normalises and drops them one after the other, in full
precision. Bias and mask are added up once for all layers instead, and the kernel keeps scores to itself.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers.models.mpnet.modeling_mpnet import MPNetEncoder, MPNetSelfAttention

# Shape suffixes: B rows of a batch, A attention heads, T tokens, H hidden size.


def fuse_attention(model: nn.Module) -> None:
    """Lets all MPNet encoders in a model attend so; their table of biases, which no kernel learns, stays as it is."""
    for module in model.modules():
        if isinstance(module, MPNetEncoder):
            _fuse_encoder(module)
        elif isinstance(module, MPNetSelfAttention):
            _fuse_layer(module)


def _fuse_encoder(encoder: Any) -> None:
    if encoder.compute_position_bias is not _nothing:  # once is enough
        encoder.relative_attention_bias.requires_grad_(False)
        encoder.compute_position_bias = _nothing  # it comes with the mask
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
    place_T = torch.arange(hidden_BTH.shape[1], device=hidden_BTH.device)
    bucket_TT = encoder.relative_position_bucket(place_T[None, :] - place_T[:, None], num_buckets=32)
    bias_TTA: Tensor = encoder.relative_attention_bias(bucket_TT)
    return bias_TTA.permute(2, 0, 1)[None]


class _Attention:
    """Stands for the forward pass of the module whose weights it takes."""

    def __init__(self, module: Any) -> None:
        self.module = module

    def __call__(self, hidden_BTH: Tensor, mask_BATT: Tensor, *_: Any, **__: Any) -> tuple[Tensor]:
        module = self.module
        shape = (*hidden_BTH.shape[:-1], -1, module.attention_head_size)
        query, key, value = (part(hidden_BTH).view(shape).transpose(1, 2) for part in (module.q, module.k, module.v))
        dropped = module.dropout.p if module.training else 0.0
        context = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask_BATT, dropout_p=dropped)
        return (module.o(context.transpose(1, 2).flatten(2)),)
