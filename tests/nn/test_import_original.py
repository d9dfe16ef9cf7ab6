"""Import of the original's checkpoints, on a tiny one with the same names in it."""

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from densephrases.errors import ModelError
from densephrases.nn.import_original import ImportReport, import_original
from densephrases.nn.phrase_model import PhraseModel
from densephrases.text.passages import Passage

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "who", "met", "Ann", "Bob", "title", "##by", "in", "é"]
PARTS = ("phrase_encoder", "query_start_encoder", "query_end_encoder")
OLD_PARTS = ("bert_start", "bert_q_start", "bert_q_end")

State = dict[str, Tensor]


def tiny_config(**changes: Any) -> BertConfig:
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
    limits = {"vocab_size": len(VOCABULARY) + 3, "max_position_embeddings": 400}
    return BertConfig(**(sizes | limits | changes))


class Parts:
    """The modules of an original checkpoint, made from random numbers."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        bert: Any = BertModel  # untyped
        self.encoders = [bert(tiny_config()).eval() for _ in PARTS]
        for encoder in self.encoders:
            nn.init.normal_(encoder.embeddings.token_type_embeddings.weight)  # so that types matter
        self.filter = nn.Linear(16, 2)

    def state(self, names: tuple[str, ...] = PARTS, prefix: str = "") -> State:
        state = {f"filter_linear.{name}": tensor for name, tensor in self.filter.state_dict().items()}
        for part, encoder in zip(names, self.encoders, strict=True):
            state |= {f"{part}.{name}": tensor for name, tensor in encoder.state_dict().items()}
            state[f"{part}.embeddings.position_ids"] = torch.arange(400)[None]
        return {prefix + name: tensor.clone() for name, tensor in state.items()}


@pytest.fixture(scope="module")
def parts() -> Parts:
    return Parts()


def write(folder: Path, state: Any, config: dict[str, Any] | None = None, safe: bool = False) -> Path:
    folder.mkdir()
    values = tiny_config().to_dict() | {"architectures": ["Encoder"]} if config is None else config
    (folder / "config.json").write_text(json.dumps(values))
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    if safe:
        save_file(state, folder / "model.safetensors")
    else:
        torch.save(state, folder / "pytorch_model.bin")
    return folder


def imported(tmp_path: Path, state: State, **options: Any) -> tuple[PhraseModel, ImportReport]:
    report = import_original(write(tmp_path / "original", state, **options), tmp_path / "ours")
    return PhraseModel.from_pretrained(tmp_path / "ours"), report


def check_outputs(model: PhraseModel, parts: Parts) -> None:
    """Ids, token types and vectors as the original computes them: type 1 in passages, 0 in questions."""
    encoder = model.encoder()
    text, title, question = "Ann met Bobby in é", "title", "who met Ann?"
    (vectors,) = encoder.encode_passages([Passage(text, title)])
    questions = encoder.encode_questions([question])
    passage_ids = torch.tensor([[2, 9, 3, 7, 6, 8, 10, 11, 12, 3]])
    question_ids = torch.tensor([[2, 5, 6, 7, 3]])
    with torch.inference_mode():
        hidden = parts.encoders[0](passage_ids, token_type_ids=torch.ones_like(passage_ids)).last_hidden_state[0, 3:-1]
        start, end = (bert(question_ids).last_hidden_state[:, 0] for bert in parts.encoders[1:])
        logits = parts.filter(hidden)
    for ours, theirs in (
        (vectors.vectors_TD, hidden),
        (vectors.filter_T2, logits),
        (questions.start_BD, start),
        (questions.end_BD, end),
    ):
        np.testing.assert_allclose(ours, theirs.numpy(), atol=1e-5)


@pytest.mark.parametrize("safe", [False, True])
@pytest.mark.parametrize("prefix", ["", "module."])
@pytest.mark.parametrize("names", [PARTS, OLD_PARTS])
def test_outputs_are_the_originals(
    tmp_path: Path, parts: Parts, names: tuple[str, ...], prefix: str, safe: bool
) -> None:
    state = parts.state(names, prefix)
    model, report = imported(tmp_path, state, safe=safe)
    check_outputs(model, parts)
    assert report == ImportReport(taken=len(state) - 9, ignored=9)  # two of a pooler and the positions, three times


def test_teacher_is_ignored(tmp_path: Path, parts: Parts) -> None:
    state = parts.state()
    teacher = {name: torch.zeros(2) for name in ("cross_encoder.bert.x.weight", "bert_qd.x.weight", "qa_outputs.bias")}
    model, report = imported(tmp_path, state | teacher)
    check_outputs(model, parts)
    assert report == ImportReport(len(state) - 9, 12)


def test_checkpoints_without_pooler_and_of_half_precision(tmp_path: Path, parts: Parts) -> None:
    state = {name: tensor for name, tensor in parts.state().items() if "pooler" not in name}
    halves = {name: tensor.half() if tensor.is_floating_point() else tensor for name, tensor in state.items()}
    model, report = imported(tmp_path, halves)
    assert report.ignored == 3
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}


def test_configuration_without_type_is_a_berts(tmp_path: Path, parts: Parts) -> None:
    values = {name: value for name, value in tiny_config().to_dict().items() if name != "model_type"}
    model, _ = imported(tmp_path, parts.state(), config=values)
    assert model.config.backbone["model_type"] == "bert"
    assert model.config.base == "original"


@pytest.mark.parametrize(("lower_case", "expected"), [(False, [2, 7, 1, 3]), (True, [2, 1, 5, 3])])
def test_case_follows_the_tokenizers_settings(
    tmp_path: Path, parts: Parts, lower_case: bool, expected: list[int]
) -> None:
    folder = write(tmp_path / "original", parts.state())
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": lower_case}))
    import_original(folder, tmp_path / "ours")
    model = PhraseModel.from_pretrained(tmp_path / "ours")
    assert model.tokens.questions(["Ann WHO"])[0].tolist() == expected


def test_separator_within_a_question_is_one_token(tmp_path: Path, parts: Parts) -> None:
    """Slot filling asks "subject [SEP] relation"."""
    model, _ = imported(tmp_path, parts.state())
    assert model.tokens.questions(["Ann [SEP] met"])[0].tolist() == [2, 7, 3, 6, 3]


def without(name: str) -> Callable[[State], State]:
    return lambda state: {key: tensor for key, tensor in state.items() if not key.startswith(name)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without("phrase_encoder."), "question encoders only"),
        (lambda _: {"encoder.block.0.weight": torch.zeros(2)}, "no phrase_encoder"),
        (lambda _: {}, "no phrase_encoder"),
        (without("filter_linear.bias"), r"lacks 1 tensors: filter_linear\.bias\."),
        (without("query_end_encoder.encoder.layer.1."), r"lacks 16 tensors: query_end_encoder\..*, \.\.\."),
        (lambda s: s | {"sparse.weight": torch.zeros(1)}, r"1 tensors of unknown purpose: sparse\.weight"),
        (
            lambda s: s | {"phrase_encoder.encoder.layer.2.x.weight": torch.zeros(1)},
            r"1 tensors more than its config\.json describes: phrase_encoder\.encoder\.layer\.2\.x\.weight",
        ),
        (
            lambda s: s | {"filter_linear.weight": torch.zeros(2, 8)},
            r"filter_linear\.weight has shape \(2, 8\), its config\.json asks for \(2, 16\)",
        ),
        (lambda _: [torch.zeros(1)], "not a dictionary of tensors"),
        (lambda _: {"model": {"x": torch.zeros(1)}}, "not a dictionary of tensors"),
    ],
)
def test_checkpoints_that_do_not_fit(
    tmp_path: Path, parts: Parts, change: Callable[[State], Any], message: str
) -> None:
    folder = write(tmp_path / "original", change(parts.state()))
    with pytest.raises(ModelError, match=message):
        import_original(folder, tmp_path / "ours")
    assert not (tmp_path / "ours").exists()


def remove(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).unlink()


def overwrite(name: str, content: str | bytes) -> Callable[[Path], object]:
    data = content if isinstance(content, bytes) else content.encode()
    return lambda folder: (folder / name).write_bytes(data)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (remove("config.json"), r"has no config\.json"),
        (overwrite("config.json", "{"), "not valid JSON"),
        (overwrite("config.json", "[]"), "not an object"),
        (overwrite("config.json", '{"model_type": "t5"}'), "of type 't5'"),
        (remove("vocab.txt"), r"has no vocab\.txt"),
        (overwrite("vocab.txt", "who\nmet\n"), "lacks the special tokens"),
        (overwrite("vocab.txt", "\n".join([*VOCABULARY, "a", "b", "c", "d"])), "has 17 tokens, the model knows 16"),
        (overwrite("vocab.txt", b"\xff\xfe\xfa"), "not a vocabulary in UTF-8"),
        (remove("pytorch_model.bin"), r"neither model\.safetensors nor pytorch_model\.bin"),
        (overwrite("pytorch_model.bin", b""), "cannot be read"),
        (overwrite("pytorch_model.bin", b"no weights at all"), "cannot be read"),
        (lambda f: overwrite("pytorch_model.bin", (f / "pytorch_model.bin").read_bytes()[:5000])(f), "cannot be read"),
        (overwrite("model.safetensors", b"\x08\x00\x00"), "cannot be read"),
    ],
)
def test_damaged_folders(tmp_path: Path, parts: Parts, damage: Callable[[Path], object], message: str) -> None:
    folder = write(tmp_path / "original", parts.state())
    damage(folder)
    with pytest.raises(ModelError, match=message) as caught:
        import_original(folder, tmp_path / "ours")
    assert str(folder) in str(caught.value)


class Touch:
    """An object whose unpickling creates a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., None], tuple[Path]]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("archive", [False, True])
def test_a_pickle_cannot_run_code(tmp_path: Path, parts: Parts, archive: bool) -> None:
    folder = write(tmp_path / "original", parts.state())
    bait = {"phrase_encoder.x": Touch(tmp_path / "touched")}
    if archive:
        torch.save(bait, folder / "pytorch_model.bin")
    else:
        (folder / "pytorch_model.bin").write_bytes(pickle.dumps(bait, protocol=2))
    with pytest.raises(ModelError, match="cannot be read"):
        import_original(folder, tmp_path / "ours")
    assert not (tmp_path / "touched").exists()


def test_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="nowhere' does not exist"):
        import_original(tmp_path / "nowhere", tmp_path / "ours")


def test_the_checkpoint_is_not_overwritten(tmp_path: Path, parts: Parts) -> None:
    folder = write(tmp_path / "original", parts.state())
    with pytest.raises(ModelError, match="is the checkpoint itself"):
        import_original(folder, tmp_path / "x" / ".." / "original")
