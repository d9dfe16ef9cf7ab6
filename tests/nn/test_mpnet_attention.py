"""MPNet's attention by one kernel against transformers' own."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import MPNetConfig, MPNetModel
from transformers.models.mpnet.modeling_mpnet import MPNetSelfAttention

from densephrases.nn.backbone import Backbone
from densephrases.nn.mpnet_attention import fuse_attention


def made_up(layers: int) -> Backbone:
    torch.manual_seed(3)
    config = MPNetConfig(
        vocab_size=50,
        hidden_size=24,
        num_hidden_layers=layers,
        num_attention_heads=3,
        intermediate_size=40,
        max_position_embeddings=80,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.3,
    )
    model: Any = MPNetModel  # typed in some versions of transformers and not in others
    return Backbone(model(config, add_pooling_layer=False)).eval()


def fused_copy(backbone: Backbone) -> Backbone:
    made = copy.deepcopy(backbone)
    fuse_attention(made)
    return made


@pytest.fixture
def backbone() -> Backbone:
    return made_up(layers=3)


@pytest.fixture
def fused(backbone: Backbone) -> Backbone:
    return fused_copy(backbone)


@pytest.fixture
def nothing_compiled() -> Iterator[None]:
    torch.compiler.reset()
    yield
    torch.compiler.reset()


def batch() -> tuple[Tensor, Tensor, Tensor]:
    """Rows of different lengths, the first without padding, the last nearly all of it."""
    ids = torch.randint(5, 50, (4, 40), generator=torch.Generator().manual_seed(0))
    mask = (torch.arange(40) < torch.tensor([[40], [31], [12], [1]])).long()
    return ids, torch.zeros_like(ids), mask


def test_the_same_states(backbone: Backbone, fused: Backbone) -> None:
    ids, types, mask = batch()
    with torch.no_grad():
        expected, found = backbone(ids, types, mask), fused(ids, types, mask)
    assert expected[mask.bool()].std() > 0.5
    torch.testing.assert_close(found[mask.bool()], expected[mask.bool()], rtol=1e-4, atol=1e-4)


def test_the_bias_counts(backbone: Backbone, fused: Backbone) -> None:
    ids, types, mask = batch()
    with torch.no_grad():
        before = fused(ids, types, mask)
        fused.encoder.encoder.relative_attention_bias.weight.mul_(-1)
        assert (fused(ids, types, mask) - before)[0].abs().max() > 1e-2


def test_the_same_gradients_but_of_the_bias(backbone: Backbone, fused: Backbone) -> None:
    ids, types, mask = batch()
    for some in (backbone, fused):
        (some(ids, types, mask) * mask[..., None]).square().sum().backward()
    found = dict(fused.named_parameters())
    for name, parameter in backbone.named_parameters():
        if "relative_attention_bias" in name:
            assert not found[name].requires_grad
        elif parameter.grad is not None:
            torch.testing.assert_close(found[name].grad, parameter.grad, rtol=1e-3, atol=1e-3)


# A CPU without instructions for bfloat16 computes products otherwise, as exactly, but not without saying so once.
@pytest.mark.filterwarnings("ignore:mkldnn_matmul failed:UserWarning")
def test_half_precision_is_close_and_finite(backbone: Backbone, fused: Backbone) -> None:
    ids, types, mask = batch()
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        found = fused(ids, types, mask)[mask.bool()]
    with torch.no_grad():
        expected = backbone(ids, types, mask)[mask.bool()]
    assert found.isfinite().all()
    assert torch.nn.functional.cosine_similarity(found.float(), expected, dim=-1).min() > 0.98


def test_weights_are_dropped_in_training_only(backbone: Backbone) -> None:
    ids, types, mask = batch()
    for module in backbone.modules():
        if isinstance(module, MPNetSelfAttention):
            module.dropout.p = 0.5
    fuse_attention(backbone)
    with torch.no_grad():
        assert torch.equal(backbone(ids, types, mask), backbone(ids, types, mask))
        backbone.train()
        assert not torch.equal(backbone(ids, types, mask), backbone(ids, types, mask))


def test_once_is_enough(backbone: Backbone, fused: Backbone) -> None:
    ids, types, mask = batch()
    with torch.no_grad():
        before = fused(ids, types, mask)
        fuse_attention(fused)
        assert torch.equal(fused(ids, types, mask), before)


def test_checkpoints_fit_both_ways(backbone: Backbone, fused: Backbone) -> None:
    assert list(fused.state_dict()) == list(backbone.state_dict())
    assert [name for name, _ in fused.named_modules()] == [name for name, _ in backbone.named_modules()]
    other = made_up(layers=3)
    fuse_attention(other)
    other.load_state_dict(fused.state_dict())
    backbone.load_state_dict(other.state_dict())


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf:UserWarning")  # torch's compiler
@pytest.mark.usefixtures("nothing_compiled")
@pytest.mark.parametrize("training", [False, True])
def test_all_layers_and_shapes_compile_to_two_graphs(training: bool) -> None:
    backbone = made_up(layers=10)  # more than the 8 graphs that torch compiles of one function
    fused = fused_copy(backbone).train(training)
    graphs: list[Any] = []

    def compiler(graph: Any, _: list[Tensor]) -> Callable[..., Any]:
        graphs.append(graph)
        run: Callable[..., Any] = graph.forward
        return run

    for layer in fused.encoder.encoder.layer:
        layer.compile(dynamic=True, backend=compiler)
    ids, types, mask = batch()
    for rows, tokens in ((4, 40), (3, 33), (2, 12), (4, 7), (1, 40), (3, 16), (1, 9), (2, 25)):
        part = (slice(rows), slice(tokens))
        with torch.set_grad_enabled(training):
            expected, found = (some(ids[part], types[part], mask[part]) for some in (backbone, fused))
        real = mask[part].bool()
        torch.testing.assert_close(found[real], expected[real], rtol=1e-4, atol=1e-4)
    assert len(graphs) == 2  # torch makes a graph of its own for batches of one row


def test_other_encoders_stay_as_they_are() -> None:
    layer = torch.nn.Linear(2, 2)
    fuse_attention(torch.nn.Sequential(layer))
    assert type(layer) is torch.nn.Linear
