"""A backbone computes what the encoder in it does, for every family."""

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import (
    BertConfig,
    BertModel,
    DistilBertConfig,
    DistilBertModel,
    ElectraConfig,
    ElectraModel,
    MPNetConfig,
    MPNetModel,
    RobertaConfig,
    RobertaModel,
)

from densephrases.errors import ModelError
from densephrases.nn.backbone import Backbone, read_config

SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32, "vocab_size": 50}
FAMILIES: list[tuple[Any, Any, dict[str, Any]]] = [
    (BertConfig, BertModel, SIZES),
    (RobertaConfig, RobertaModel, SIZES),
    (MPNetConfig, MPNetModel, SIZES),
    (ElectraConfig, ElectraModel, SIZES | {"embedding_size": 16}),
    (DistilBertConfig, DistilBertModel, {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32, "vocab_size": 50}),
]


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize(("config", "model", "sizes"), FAMILIES)
@pytest.mark.parametrize("padded", [True, False])
def test_as_the_encoder_itself(config: Any, model: Any, sizes: dict[str, Any], attention: str, padded: bool) -> None:
    if model is MPNetModel and attention == "sdpa":
        attention = "eager"  # the only one it has
    torch.manual_seed(0)
    encoder = model(config(**sizes))
    encoder.set_attn_implementation(attention)
    backbone = Backbone(encoder).eval()
    ids = torch.randint(3, 50, (3, 8))
    mask = torch.ones_like(ids)
    if padded:
        mask[1, 5:] = 0
        ids[1, 5:] = encoder.config.pad_token_id
    with torch.no_grad():
        expected = encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        found = backbone(ids, torch.zeros_like(ids), mask)
    torch.testing.assert_close(found[mask.bool()], expected[mask.bool()])


@pytest.mark.parametrize("content", ["7", "[]", "null", '"bert"', "{"])
def test_a_configuration_that_is_no_object_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(ModelError, match="cannot be read as a Hugging Face encoder"):
        read_config(tmp_path)
