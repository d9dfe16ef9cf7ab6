"""A pre-trained Hugging Face encoder with one signature for all families."""

import inspect
import os
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import MODEL_MAPPING, AutoConfig, AutoTokenizer, PretrainedConfig
from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

from densephrases.errors import ModelError, first_line
from densephrases.model.tokenizer import TOKENIZER_FILE, load_tokenizer

_TAKE_WHOLE_MASKS = ("bert", "roberta", "xlm-roberta", "camembert", "mpnet")


class Backbone(nn.Module):
    """Token ids in, last hidden states out."""

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        self.encoder = encoder
        takes_types = "token_type_ids" in inspect.signature(encoder.forward).parameters
        self.uses_types = takes_types and getattr(encoder.config, "type_vocab_size", 0) > 1

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        extra = {"token_type_ids": types} if self.uses_types else {}
        states: Tensor = self.encoder(input_ids=ids, attention_mask=self._mask(mask), **extra).last_hidden_state
        return states

    def _mask(self, mask: Tensor) -> Tensor:
        """A mask that attention takes unchanged, for families known to accept it.

        From a two-dimensional mask transformers builds one itself. It reads the mask's values to do so, which makes
        the CPU wait for the GPU in every pass.
        """
        if mask.ndim != 2 or self.encoder.config.model_type not in _TAKE_WHOLE_MASKS:
            return mask
        kept = mask[:, None, None, :].bool()
        return kept if self.encoder.config._attn_implementation == "sdpa" else additive_mask(kept)


def additive_mask(kept: Tensor) -> Tensor:
    """Zero where kept, the lowest float elsewhere."""
    return (1.0 - kept.to(torch.float32)) * torch.finfo(torch.float32).min


def build_backbone(values: dict[str, Any]) -> Backbone:
    """A backbone with random weights from the configuration kept in a model folder."""
    config = AutoConfig.for_model(**values)
    model_class = _model_class(config)
    return Backbone(model_class(config, **_without_pooler(model_class)))


def load_backbone(base: str | Path) -> Backbone:
    """A backbone with the weights of a pre-trained encoder."""
    config = read_config(base)
    try:
        model_class = _model_class(config)
        return Backbone(model_class.from_pretrained(str(base), config=config, **_without_pooler(model_class)).float())
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelError(f"The weights of base model '{base}' cannot be loaded: {first_line(error)}") from error


def read_config(base: str | Path) -> PretrainedConfig:
    refuse_missing_folder(base)
    try:
        config: PretrainedConfig = AutoConfig.from_pretrained(str(base))
    except (OSError, ValueError, TypeError, AttributeError) as error:  # the last if its JSON is no object
        raise ModelError(
            f"Base model '{base}' cannot be read as a Hugging Face encoder: {first_line(error)}"
        ) from error
    if config.is_encoder_decoder or config.model_type not in MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        raise ModelError(
            f"Base model '{base}' is of type '{config.model_type}', not a BERT-like encoder; "
            "name one such as SpanBERT, MPNet, RoBERTa or MiniLM."
        )
    return config


def read_tokenizer(base: str | Path) -> Tokenizer:
    """The base model's tokenizer with offsets: a folder's tokenizer.json, else what transformers loads."""
    if (Path(base) / TOKENIZER_FILE).is_file():
        return load_tokenizer(Path(base))
    try:
        loaded = AutoTokenizer.from_pretrained(str(base), use_fast=True)
        tokenizer: Tokenizer = loaded.backend_tokenizer
    except (OSError, ValueError, AttributeError) as error:
        raise ModelError(f"Base model '{base}' has no fast tokenizer: {first_line(error)}") from error
    if len(loaded) <= len(loaded.all_special_ids):  # without files transformers creates an empty vocabulary
        raise ModelError(f"Base model '{base}' has no tokenizer files; put its {TOKENIZER_FILE} into the folder.")
    return tokenizer


def refuse_missing_folder(base: str | Path) -> None:
    """A Path, or a string that can only be one, is never looked up on the hub."""
    name = str(base)
    is_path = isinstance(base, Path) or name.count("/") > 1 or name.startswith((".", os.sep, "~"))
    if is_path and not Path(name).is_dir():
        raise ModelError(f"Base model folder '{name}' does not exist; put the model there or set base to a hub name.")


def _model_class(config: PretrainedConfig) -> Any:
    return MODEL_MAPPING[type(config)]


def _without_pooler(model_class: Any) -> dict[str, Any]:
    """The pooler is never used; families that have one accept an argument to leave it out."""
    return {"add_pooling_layer": False} if "add_pooling_layer" in inspect.signature(model_class).parameters else {}


def backbone_parameters(backbone: nn.Module) -> int:
    """Parameters of matrix products: all but the embedding tables."""
    return sum(p.numel() for name, p in backbone.named_parameters() if "embeddings" not in name)
