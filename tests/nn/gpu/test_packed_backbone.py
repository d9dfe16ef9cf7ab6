"""The packed forward pass computes what transformers does, and says so where it is slower than it could be."""

import logging
import sys
from collections.abc import Iterator
from subprocess import CalledProcessError
from typing import Any

import pytest
import torch
from transformers import (
    BertConfig,
    BertModel,
    DistilBertConfig,
    DistilBertModel,
    MPNetConfig,
    MPNetModel,
    RobertaConfig,
    RobertaModel,
)

from densephrases.errors import ConfigError
from densephrases.model.packing import Group
from densephrases.nn.backbone import Backbone
from densephrases.nn.gpu.packed_backbone import (
    PackedBackbone,
    PackedInputs,
    operations,
    varlen_attention,
    working_kernels,
)

CPU = torch.device("cpu")
SIZES = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 32, "vocab_size": 50}
FAMILIES = [(BertConfig, BertModel), (RobertaConfig, RobertaModel), (MPNetConfig, MPNetModel)]


def random_backbone(config: Any, model: Any) -> Backbone:
    """With weights so large that nothing is near zero, biases and norms included."""
    torch.manual_seed(0)
    backbone = Backbone(model(config(**SIZES, initializer_range=0.3))).eval()
    with torch.no_grad():
        for name, parameter in backbone.named_parameters():
            if parameter.ndim == 1:
                parameter.normal_(1.0 if "LayerNorm.weight" in name else 0.0, 0.3)
    return backbone


@pytest.mark.parametrize("attention", ["auto", "kernels"])
@pytest.mark.parametrize(("config", "model"), FAMILIES)
def test_packed_windows_are_what_each_is_alone(config: Any, model: Any, attention: str) -> None:
    backbone = random_backbone(config, model)
    groups = (Group(0, 2, 150), Group(300, 3, 7), Group(321, 1, 1))
    ids, types = torch.randint(3, 50, (322,)), torch.randint(0, 2, (322,))
    columns = torch.cat([torch.arange(g.length).repeat(g.windows) for g in groups])
    packed = PackedBackbone(backbone, CPU, torch.float32, attention)
    edges = torch.tensor([0, 150, 300, 307, 314, 321, 322])
    with torch.inference_mode():
        found = packed(PackedInputs(ids, packed.position_rows(columns, types), groups, edges))
        for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            own, own_types = ids[None, first:last], types[None, first:last]
            expected = backbone(own, own_types, torch.ones_like(own))[0]
            torch.testing.assert_close(found[first:last], expected, atol=1e-4, rtol=1e-4)


def test_other_encoders_are_refused() -> None:
    backbone = Backbone(DistilBertModel(DistilBertConfig(dim=16, n_layers=1, n_heads=2, hidden_dim=32, vocab_size=50)))
    with pytest.raises(ConfigError, match=r"type 'distilbert'.*expected one of bert.*device='cpu'"):
        PackedBackbone(backbone, CPU, torch.float32)
    backbone = random_backbone(BertConfig, BertModel)
    backbone.encoder.config.hidden_act = "relu"
    with pytest.raises(ConfigError, match="activation 'relu'"):
        PackedBackbone(backbone, CPU, torch.float32)


def test_operations_are_two_for_each_weight_and_four_for_each_pair() -> None:
    backbone = random_backbone(*FAMILIES[0])
    matrices = sum(p.numel() for n, p in backbone.named_parameters() if p.ndim == 2 and ".layer." in n)
    assert operations(backbone, 10, ()) == 2 * 10 * matrices
    assert operations(backbone, 0, (Group(0, 2, 5),)) == 4 * 3 * 16 * 2 * 5**2


@pytest.fixture
def forget_kernels() -> Iterator[None]:
    working_kernels.cache_clear()
    yield
    working_kernels.cache_clear()


@pytest.mark.usefixtures("forget_kernels")
@pytest.mark.parametrize(
    "error",
    [RuntimeError("Failed to find C compiler"), CalledProcessError(1, "gcc"), ImportError("no libcuda")],
    ids=lambda error: type(error).__name__,
)
def test_without_a_compiler_torch_computes(
    error: Exception, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any) -> None:
        raise error

    kernels = pytest.importorskip("densephrases.nn.gpu.kernels", reason="Triton is made for Linux alone")
    monkeypatch.setattr(kernels, "layer_norm", fail)
    with caplog.at_level(logging.WARNING):
        assert working_kernels(CPU) is None
        assert working_kernels(CPU) is None
    assert caplog.messages == [f"Triton kernels do not work on cpu, torch's slower ones are used: {error}"]
    packed = PackedBackbone(random_backbone(*FAMILIES[-1]), CPU, torch.float32, "kernels")
    assert packed.kernels is None
    assert packed.windows is None


def test_without_variable_lengths_groups_attend(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Only where it would be used: on a GPU, unless groups are asked for."""
    monkeypatch.setitem(sys.modules, "torch.nn.attention.varlen", None)
    with caplog.at_level(logging.WARNING):
        assert varlen_attention(CPU, "auto") is None
        assert varlen_attention(torch.device("cuda"), "grouped") is None
        assert caplog.messages == []
        assert varlen_attention(torch.device("cuda"), "auto") is None
    assert len(caplog.messages) == 1
    assert "no variable-length attention" in caplog.messages[0]
