"""The phrase model's vectors, its switches, and what it says of folders it cannot use."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import BertConfig, DistilBertConfig, DistilBertModel, GPT2Config, MPNetConfig, RobertaConfig, T5Config

from densephrases.checksums import remove_checksums
from densephrases.errors import ConfigError, ModelError
from densephrases.model.tokenizer import TOKENIZER_FILE
from densephrases.nn.checkpoint import WEIGHTS_FILE
from densephrases.nn.phrase_model import PhraseModel
from densephrases.nn.reader import Reader
from densephrases.text.passages import Passage

HIDDEN = 32
SWITCHES: list[dict[str, Any]] = [
    {},
    {"question_backbone": "shared"},
    {"share": True},
    {"share": True, "split": True},
    {"dim": 8},
    {"dim": 8, "share": True},
    {"dim": 8, "question_backbone": "shared"},
]
every_switch = pytest.mark.parametrize("switches", SWITCHES, ids=str)


def token_rows(rows: int, width: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    ids = torch.randint(5, 60, (rows, width), generator=torch.Generator().manual_seed(seed))
    return ids, torch.zeros_like(ids), torch.ones_like(ids)


def model_of(base: Path, **switches: Any) -> PhraseModel:
    return PhraseModel.from_base(base, **switches).eval()


@every_switch
def test_shapes(tiny_base: Path, switches: dict[str, Any]) -> None:
    model = model_of(tiny_base, **switches)
    size = switches.get("dim", HIDDEN)
    vectors, filters, questions, _ = model(token_rows(3, 7), [token_rows(2, 4)])
    assert vectors.shape == (3, 7, size)
    assert filters.shape == (3, 7, 2)
    assert questions.start_BD.shape == questions.end_BD.shape == (2, size)
    coherency = questions.coherency_B
    assert (None if coherency is None else coherency.shape) == ((2,) if switches.get("split") else None)


@every_switch
def test_groups_of_questions_stand_in_turn(tiny_base: Path, switches: dict[str, Any]) -> None:
    model = model_of(tiny_base, **switches)
    groups = [token_rows(2, 4), token_rows(3, 9, seed=1)]
    _, _, found, _ = model(token_rows(1, 5), groups)
    apart = [model.question_states(*group) for group in groups]
    assert torch.allclose(found.start_BD, torch.cat([states.start_BD for states in apart]), atol=1e-6)
    assert torch.allclose(found.end_BD, torch.cat([states.end_BD for states in apart]), atol=1e-6)
    coherency = [states.coherency_B for states in apart if states.coherency_B is not None]
    assert len(coherency) == (2 if switches.get("split") else 0)
    if coherency:
        assert found.coherency_B is not None
        assert torch.allclose(found.coherency_B, torch.cat(coherency), atol=1e-6)
    else:
        assert found.coherency_B is None


@pytest.mark.parametrize(
    ("switches", "count"),
    [({}, 3), ({"question_backbone": "shared"}, 2), ({"share": True}, 1), ({"share": True, "split": True}, 1)],
)
def test_number_of_backbones(tiny_base: Path, switches: dict[str, Any], count: int) -> None:
    assert len(model_of(tiny_base, **switches).backbones) == count


def test_all_backbones_start_from_the_base(tiny_base: Path) -> None:
    model = model_of(tiny_base)
    first, *others = (backbone.state_dict() for backbone in model.backbones)
    assert all(torch.equal(first[name], other[name]) for other in others for name in first)
    first["encoder.embeddings.word_embeddings.weight"].zero_()
    assert all(other["encoder.embeddings.word_embeddings.weight"].any() for other in others), "backbones are apart"


def test_question_vectors_are_those_of_the_first_token(tiny_base: Path) -> None:
    model = model_of(tiny_base)
    nn.init.normal_(model.question_end.encoder.embeddings.word_embeddings.weight)
    rows = token_rows(2, 5)
    states = model.question_states(*rows)
    torch.testing.assert_close(states.start_BD, model.question_start(*rows)[:, 0])
    torch.testing.assert_close(states.end_BD, model.question_end(*rows)[:, 0])
    assert not torch.allclose(states.start_BD, states.end_BD)


@pytest.mark.parametrize("switches", [{"share": True}, {"question_backbone": "shared"}])
def test_heads_start_as_identity(tiny_base: Path, switches: dict[str, Any]) -> None:
    model = model_of(tiny_base, **switches)
    assert torch.equal(model.start_head.weight, torch.eye(HIDDEN))
    assert torch.equal(model.end_head.weight, torch.eye(HIDDEN))
    rows = token_rows(2, 5)
    expected = model.passage(*rows)[:, 0]
    assert torch.allclose(model.question_states(*rows).start_BD, expected, atol=1e-6)


def test_projections_start_alike_and_keep_lengths(tiny_base: Path) -> None:
    model = model_of(tiny_base, dim=8)
    weights = [model.projection.weight, model.start_head.weight, model.end_head.weight]
    assert all(torch.equal(weight, weights[0]) for weight in weights)
    assert torch.allclose(weights[0] @ weights[0].T, torch.eye(8), atol=1e-5)


def test_split_question_vectors_are_zero_outside_their_part(tiny_base: Path) -> None:
    model = model_of(tiny_base, share=True, split=True)
    rows = token_rows(3, 5)
    cls = model.passage(*rows)[:, 0]
    states = model.question_states(*rows)
    assert states.coherency_B is not None
    assert torch.equal(states.start_BD[:, :15], cls[:, :15])
    assert not states.start_BD[:, 15:].any()
    assert torch.equal(states.end_BD[:, 15:30], cls[:, 15:30])
    assert not states.end_BD[:, :15].any()
    assert not states.end_BD[:, 30:].any()
    assert torch.allclose(states.coherency_B, cls[:, 30] * cls[:, 31])


def test_padding_changes_nothing(tiny_base: Path) -> None:
    model = model_of(tiny_base)
    ids, types, mask = token_rows(1, 6)
    padded = [torch.cat([row, torch.zeros_like(row)], dim=1) for row in (ids, types, mask)]
    assert torch.allclose(model.passage_states(*padded)[0][:, :6], model.passage_states(ids, types, mask)[0], atol=1e-5)


def test_freezing_word_embeddings(tiny_base: Path) -> None:
    model = model_of(tiny_base)
    model.freeze_word_embeddings()
    frozen = {name for name, parameter in model.named_parameters() if not parameter.requires_grad}
    backbones = ("passage", "question_start", "question_end")
    assert frozen == {f"{backbone}.encoder.embeddings.word_embeddings.weight" for backbone in backbones}


@every_switch
def test_saved_and_loaded_it_computes_the_same(tiny_base: Path, tmp_path: Path, switches: dict[str, Any]) -> None:
    model = model_of(tiny_base, max_words=7, **switches)
    model.save_pretrained(tmp_path / "model", card="# A card")
    loaded = PhraseModel.from_pretrained(tmp_path / "model").eval()
    assert replace(loaded.config, backbone={}) == replace(model.config, backbone={})
    assert (tmp_path / "model" / "README.md").read_text() == "# A card"
    expected, found = (m(token_rows(2, 6), [token_rows(2, 4, seed=1)]) for m in (model, loaded))
    for one, other in zip(expected[:2], found[:2], strict=True):
        torch.testing.assert_close(one, other)
    torch.testing.assert_close(expected[2].start_BD, found[2].start_BD)
    torch.testing.assert_close(expected[2].end_BD, found[2].end_BD)


def test_encoder_leaves_the_model_in_training(tiny_base: Path) -> None:
    model = PhraseModel.from_base(tiny_base).train()
    first, second = (model.encoder().encode_passages([Passage("the tower of paris")])[0] for _ in range(2))
    assert first.vectors_TD.tolist() == second.vectors_TD.tolist(), "encoding drops nothing out"
    assert model.training


@pytest.mark.parametrize("name", ["./nowhere", "/no/such/folder", "~/nowhere", "a/b/c"])
def test_missing_base_folder(name: str) -> None:
    with pytest.raises(ModelError, match=f"'{name}' does not exist"):
        PhraseModel.from_base(name)


@pytest.mark.parametrize("config", [T5Config(), GPT2Config()], ids=["t5", "gpt2"])
def test_other_kinds_of_base_are_refused_by_type(tmp_path: Path, config: Any) -> None:
    config.save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=f"is of type '{config.model_type}', not a BERT-like encoder"):
        PhraseModel.from_base(tmp_path)


def test_base_folder_without_config(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read as a Hugging Face encoder"):
        PhraseModel.from_base(tmp_path)


@pytest.mark.parametrize("family", [BertConfig, RobertaConfig, MPNetConfig])
def test_base_folder_without_tokenizer(tmp_path: Path, family: Any) -> None:
    family(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, vocab_size=50).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="has no tokenizer files"):
        PhraseModel.from_base(tmp_path)


def test_base_folder_without_weights(tiny_base: Path, tmp_path: Path) -> None:
    BertConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, vocab_size=150).save_pretrained(tmp_path)
    (tmp_path / TOKENIZER_FILE).write_bytes((tiny_base / TOKENIZER_FILE).read_bytes())
    with pytest.raises(ModelError, match=r"weights of base model .* cannot be loaded"):
        PhraseModel.from_base(tmp_path)


def test_encoder_without_token_types(tiny_base: Path, tmp_path: Path) -> None:
    config = DistilBertConfig(dim=16, n_layers=1, n_heads=2, hidden_dim=32, vocab_size=150)
    DistilBertModel(config).save_pretrained(tmp_path)
    (tmp_path / TOKENIZER_FILE).write_bytes((tiny_base / TOKENIZER_FILE).read_bytes())
    model = model_of(tmp_path)
    assert not model.passage.uses_types
    assert model.passage_states(*token_rows(1, 4))[0].shape == (1, 4, 16)


def test_impossible_switches(tiny_base: Path) -> None:
    with pytest.raises(ConfigError, match="split=True needs share=True"):
        PhraseModel.from_base(tiny_base, split=True)


def test_missing_weights(tiny_model: PhraseModel, tmp_path: Path) -> None:
    tiny_model.save_pretrained(tmp_path)
    (tmp_path / WEIGHTS_FILE).unlink()
    with pytest.raises(ModelError, match=f"has no {WEIGHTS_FILE}"):
        PhraseModel.from_pretrained(tmp_path)


@pytest.mark.parametrize("kept", [0, 5, 200, -10])
def test_truncated_weights(tiny_model: PhraseModel, tmp_path: Path, kept: int) -> None:
    tiny_model.save_pretrained(tmp_path)
    path = tmp_path / WEIGHTS_FILE
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ModelError, match=rf"{WEIGHTS_FILE}' is damaged or was changed: its SHA-256 differs"):
        PhraseModel.from_pretrained(tmp_path)
    remove_checksums(tmp_path)
    with pytest.raises(ModelError, match=r"cannot be read .*truncated"):
        PhraseModel.from_pretrained(tmp_path)


def test_weights_of_another_model(tiny_model: PhraseModel, tmp_path: Path) -> None:
    tiny_model.save_pretrained(tmp_path)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"dim": 8}))
    remove_checksums(tmp_path)
    with pytest.raises(ModelError, match=r"does not fit its config\.json"):
        PhraseModel.from_pretrained(tmp_path)


def test_reader_is_no_phrase_model(tiny_base: Path, tmp_path: Path) -> None:
    Reader.from_base(tiny_base).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="of kind 'reader', expected 'phrases'"):
        PhraseModel.from_pretrained(tmp_path)
