"""Low-rank matrices of a role, against a backbone whose weights have them added."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch

from densephrases.errors import ConfigError
from densephrases.nn.low_rank import LowRankMatrices, linear_layers
from densephrases.nn.phrase_model import PhraseModel
from tests.nn.test_phrase_model import token_rows


@pytest.fixture
def model(tiny_base: Path) -> PhraseModel:
    model = PhraseModel.from_base(tiny_base, share=True).eval()
    model.learn_to_read(rank=3)
    return model


def fill(model: PhraseModel) -> None:
    fill_matrices(model.reading_matrices)


def fill_matrices(matrices: LowRankMatrices) -> None:
    for number, weight in enumerate(matrices.up.parameters()):
        torch.nn.init.normal_(weight, std=0.1, generator=torch.Generator().manual_seed(number))


def test_nothing_is_added_at_first(model: PhraseModel) -> None:
    inputs = token_rows(2, 9)
    assert torch.equal(model.reading_states(*inputs), model.reading(model.passage(*inputs)))


def test_reading_is_that_of_the_sums_and_nothing_else_changes(model: PhraseModel) -> None:
    inputs = token_rows(2, 9)
    before, fingerprint = model.passage_states(*inputs)[0], model.passage_fingerprint()
    fill(model)
    merged = deepcopy(model.passage)
    pairs = zip(model.reading_matrices.down.parameters(), model.reading_matrices.up.parameters(), strict=True)
    with torch.no_grad():
        for layer, (down, up) in zip(linear_layers(merged).values(), pairs, strict=True):
            layer.weight += up @ down
    expected = model.reading(merged(*inputs))
    torch.testing.assert_close(model.reading_states(*inputs), expected, atol=1e-4, rtol=1e-4)
    assert not torch.allclose(expected, model.reading(model.passage(*inputs)), atol=1e-2)
    assert torch.equal(model.passage_states(*inputs)[0], before)
    assert model.passage_fingerprint() == fingerprint


def test_the_backbone_is_itself_again_after_an_error(model: PhraseModel) -> None:
    fill(model)
    inputs = token_rows(2, 9)
    before = model.passage(*inputs)
    with pytest.raises(IndexError):
        model.reading_states(torch.full((1, 4), 10**6), *inputs[1:])
    assert torch.equal(model.passage(*inputs), before)


def test_only_the_reading_role_is_trained(model: PhraseModel) -> None:
    model.freeze_all_but_reading()
    trained = {name.split(".")[0] for name, each in model.named_parameters() if each.requires_grad}
    assert trained == {"reading", "reading_matrices"}


def test_a_checkpoint_keeps_them(model: PhraseModel, tmp_path: Path) -> None:
    fill(model)
    model.save_pretrained(tmp_path)
    loaded, inputs = PhraseModel.from_pretrained(tmp_path).eval(), token_rows(2, 9)
    assert loaded.config.reading_rank == 3
    assert torch.equal(loaded.reading_states(*inputs), model.reading_states(*inputs))


def test_another_rank_is_refused(model: PhraseModel) -> None:
    model.learn_to_read(rank=3)
    with pytest.raises(ConfigError, match=r"reads with matrices of rank 3, not 8; set reading.rank to that, or start"):
        model.learn_to_read(rank=8)


def test_questions_may_have_their_own_beside_the_last_layers(tiny_base: Path) -> None:
    plain = PhraseModel.from_base(tiny_base, share=True).eval()
    model = PhraseModel.from_base(tiny_base, share=True, question_rank=3, question_layers=1).eval()
    inputs, fingerprint = token_rows(2, 9), model.passage_fingerprint()
    assert torch.equal(model.question_states(*inputs).start_BD, plain.question_states(*inputs).start_BD)
    fill_matrices(model.question_matrices)
    merged = deepcopy(model.passage)
    names = list(linear_layers(merged, 1))
    assert all(".layer.1." in name for name in names)
    assert 2 * len(names) == len(linear_layers(merged))
    matrices = model.question_matrices
    with torch.no_grad():
        pairs = zip(matrices.down.parameters(), matrices.up.parameters(), strict=True)
        for layer, (down, up) in zip(linear_layers(merged, 1).values(), pairs, strict=True):
            layer.weight += up @ down
    found, expected = model.question_states(*inputs).start_BD, model.start_head(merged(*inputs)[:, 0])
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
    assert not torch.allclose(expected, plain.question_states(*inputs).start_BD, atol=1e-2)
    assert torch.equal(model.passage_states(*inputs)[0], plain.passage_states(*inputs)[0])
    assert model.passage_fingerprint() == fingerprint


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"question_rank": 3}, "question_rank=3 needs one backbone"),
        ({"share": True, "question_rank": -1}, "question_rank=-1 is not a whole number"),
        ({"share": True, "question_rank": 3, "question_layers": 0}, "question_layers=0 is not a number of layers"),
    ],
)
def test_impossible_matrices_of_questions_are_refused(tiny_base: Path, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        PhraseModel.from_base(tiny_base, **settings)
