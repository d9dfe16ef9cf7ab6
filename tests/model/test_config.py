"""Model configurations: what is refused, and that a saved one comes back."""

import json
from pathlib import Path
from typing import Any

import pytest

from densephrases.errors import ConfigError, ModelError
from densephrases.model.config import CONFIG_FILE, SCHEMA_VERSION, ModelConfig, ModelKind

BACKBONE = {"model_type": "bert", "hidden_size": 64}


def config(**settings: Any) -> ModelConfig:
    return ModelConfig(base="tiny", backbone=BACKBONE, **settings)


def write(folder: Path, content: str | bytes) -> Path:
    (folder / CONFIG_FILE).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"split": True}, "split=True needs share=True"),
        ({"split": True, "share": True, "dim": 16}, "split=True excludes dim=16"),
        ({"question_backbone": "both"}, "question_backbone='both' is neither"),
        ({"dim": 0}, "dim=0"),
        ({"dim": -3}, "dim=-3"),
        ({"passage_tokens": 146}, "passage_tokens=146 leaves no room beside overlap=128 and title_tokens=10"),
        ({"overlap": -1}, "overlap=-1 is not a whole number of at least 0"),
        ({"title_tokens": -1}, "title_tokens=-1"),
        ({"question_tokens": 2}, "question_tokens=2 is not a whole number of at least 3"),
        ({"max_words": 0}, "max_words=0 is not a whole number of at least 1"),
        ({"passage_tokens": "384"}, "passage_tokens='384'"),
        ({"overlap": 12.5}, "overlap=12.5"),
    ],
)
def test_impossible_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        config(**settings)


def test_the_least_room_that_is_accepted() -> None:
    assert config(passage_tokens=147).passage_tokens == 147


def test_a_reader_needs_room_beside_its_longest_question() -> None:
    limits: dict[str, Any] = {"question_tokens": 30, "overlap": 4, "title_tokens": 2}
    message = "passage_tokens=45 leaves a reader no room beside questions of up to 30 tokens; raise it to at least 46"
    with pytest.raises(ConfigError, match=message):
        config(kind="reader", passage_tokens=45, **limits)
    assert config(kind="reader", passage_tokens=46, **limits).passage_tokens == 46
    assert config(passage_tokens=45, **limits).passage_tokens == 45, "a phrase model reads questions apart"


POSITIONS: list[tuple[dict[str, Any], int]] = [
    ({"model_type": "bert", "max_position_embeddings": 512, "pad_token_id": 0}, 512),
    ({"model_type": "bert", "max_position_embeddings": 512, "pad_token_id": 1}, 512),
    ({"model_type": "distilbert", "max_position_embeddings": 512}, 512),
    ({"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1}, 512),
    ({"model_type": "xlm-roberta", "max_position_embeddings": 514, "pad_token_id": 1}, 512),
    ({"model_type": "camembert", "max_position_embeddings": 514, "pad_token_id": 1}, 512),
    ({"model_type": "mpnet", "max_position_embeddings": 514, "pad_token_id": 1}, 512),
    ({"model_type": "roberta", "max_position_embeddings": 130, "pad_token_id": 0}, 129),
    ({"model_type": "roberta", "max_position_embeddings": 130, "pad_token_id": None}, 129),
]


@pytest.mark.parametrize("kind", ["phrases", "reader"])
@pytest.mark.parametrize(("backbone", "positions"), POSITIONS)
def test_windows_may_not_exceed_the_positions(backbone: dict[str, Any], positions: int, kind: ModelKind) -> None:
    settings: dict[str, Any] = {"base": "tiny", "backbone": backbone | {"hidden_size": 8}, "kind": kind, "overlap": 16}
    longest = ModelConfig(passage_tokens=positions, **settings)
    assert longest.passage_tokens == longest.positions == positions
    message = f"passage_tokens={positions + 1} exceeds the {positions} positions of tiny"
    with pytest.raises(ConfigError, match=message):
        ModelConfig(passage_tokens=positions + 1, **settings)


def test_questions_may_not_exceed_the_backbones_positions() -> None:
    backbone = {"hidden_size": 8, "model_type": "bert", "max_position_embeddings": 40}
    with pytest.raises(ConfigError, match="question_tokens=64 exceeds the 40 positions"):
        ModelConfig(base="tiny", backbone=backbone, passage_tokens=40, overlap=4)


@pytest.mark.parametrize("unlimited", [{}, {"max_position_embeddings": None}])
def test_a_backbone_without_position_embeddings_reads_any_length(unlimited: dict[str, Any]) -> None:
    backbone = {"model_type": "relative", "hidden_size": 8} | unlimited
    assert ModelConfig(base="tiny", backbone=backbone, passage_tokens=100_000).passage_tokens == 100_000


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"share": True, "split": True, "max_words": 5},
        {"dim": 16, "question_backbone": "shared", "filter_threshold": -1.5},
        {"passage_tokens": 512, "overlap": 0, "title_tokens": 0, "question_tokens": 3},
    ],
)
def test_saved_and_loaded(tmp_path: Path, settings: dict[str, Any]) -> None:
    saved = config(**settings)
    saved.save(tmp_path)
    assert ModelConfig.load(tmp_path) == saved


@pytest.mark.parametrize(
    ("settings", "size", "one_backbone"),
    [
        ({}, 64, False),
        ({"dim": 16}, 16, False),
        ({"question_backbone": "shared"}, 64, True),
        ({"share": True}, 64, True),
    ],
)
def test_derived_properties(settings: dict[str, Any], size: int, one_backbone: bool) -> None:
    made = config(**settings)
    assert (made.hidden, made.vector_size, made.one_question_backbone) == (64, size, one_backbone)


@pytest.mark.parametrize("hidden", [3, 32, 64, 768])
def test_split_parts_lie_side_by_side(hidden: int) -> None:
    parts = ModelConfig(base="tiny", backbone={"hidden_size": hidden}, share=True, split=True).split_parts
    start, end, left, right = (list(range(hidden))[part] for part in parts)
    assert start + end + left + right == list(range(len(start) * 2 + len(left) * 2))
    assert len(start) == len(end)
    assert len(left) == len(right) >= 1
    assert hidden - 2 * (len(start) + len(left)) in (0, 1)


@pytest.mark.parametrize("name", ["hidden_size", "dim", "d_model"])
def test_hidden_size_under_any_familys_name(name: str) -> None:
    assert ModelConfig(base="tiny", backbone={name: 48}).hidden == 48


def test_backbone_without_hidden_size() -> None:
    with pytest.raises(ConfigError, match="no hidden size"):
        _ = ModelConfig(base="tiny", backbone={}).hidden


def test_with_threshold_changes_nothing_else() -> None:
    assert config(max_words=7).with_threshold(1.5) == config(max_words=7, filter_threshold=1.5)


def test_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="nowhere' does not exist"):
        ModelConfig.load(tmp_path / "nowhere")


def test_folder_without_config(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"has no config\.json"):
        ModelConfig.load(tmp_path)


GOOD: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "base": "tiny", "backbone": BACKBONE}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (json.dumps(GOOD)[:-9], "is not valid JSON"),
        ("", "is not valid JSON"),
        (b"\xff\xfe{", "is not valid JSON"),
        ("[]", "has no schema_version"),
        ("{}", "has no schema_version"),
        (json.dumps({"model_type": "bert"}), "has no schema_version"),
        (json.dumps(GOOD | {"schema_version": 3}), "has schema version 3, this package reads 2"),
        (json.dumps(GOOD | {"schema_version": "1"}), "has schema version 1"),
        (json.dumps(GOOD | {"nprobe": 256, "colour": "red"}), r"unknown settings \['colour', 'nprobe'\]"),
        (json.dumps({"schema_version": 2, "backbone": BACKBONE}), r"lacks \['base'\]"),
        (json.dumps({"schema_version": 2}), r"lacks \['backbone', 'base'\]"),
        (json.dumps(GOOD | {"max_words": 0}), "impossible setting: max_words=0"),
        (json.dumps(GOOD | {"passage_tokens": None}), "impossible setting: passage_tokens=None"),
        (json.dumps(GOOD | {"dim": "96"}), "impossible setting"),
        (json.dumps(GOOD | {"dim": 10**30}), "impossible setting: dim=1000"),
        (json.dumps(GOOD | {"dim": True}), "impossible setting: dim=True"),
        (json.dumps(GOOD | {"max_words": 10**9}), "impossible setting: max_words=1000000000 is more than 10,000,000"),
        (json.dumps(GOOD | {"base": 7}), "impossible setting: base=7 is not a text"),
        (json.dumps(GOOD | {"length_penalty": "x"}), "impossible setting: length_penalty='x' is not a finite number"),
        (json.dumps(GOOD | {"filter_threshold": float("nan")}), "is not valid JSON .NaN"),
        (json.dumps(GOOD | {"confidence": {"a": []}}), "impossible setting: confidence="),
        (json.dumps(GOOD | {"kind": ["phrases"]}), "impossible setting: kind="),
        (json.dumps(GOOD | {"backbone": {"max_position_embeddings": []}}), "max_position_embeddings="),
        (json.dumps(GOOD | {"backbone": {"max_position_embeddings": 10**400}}), "max_position_embeddings="),
        (json.dumps(GOOD)[:-1] + ', "x": ' + "[" * 5000 + "]" * 5000 + "}", "nested more than 100 levels"),
        (json.dumps(GOOD | {"kind": "reader", "question_tokens": 369}), "impossible setting: passage_tokens=384"),
    ],
)
def test_unusable_files_are_named(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        ModelConfig.load(write(tmp_path, content))
    assert str(tmp_path / CONFIG_FILE) in str(caught.value)


def test_settings_left_out_have_their_defaults(tmp_path: Path) -> None:
    assert ModelConfig.load(write(tmp_path, json.dumps(GOOD))) == config()


@pytest.mark.parametrize("penalty", [-0.1, float("nan")])
def test_weights_are_not_negative(penalty: float) -> None:
    with pytest.raises(ConfigError, match="length_penalty="):
        config(length_penalty=penalty)
    with pytest.raises(ConfigError, match="lexical_weight="):
        config(lexical_weight=penalty)


@pytest.mark.parametrize(
    ("text", "ours"),
    [('{"schema_version": 1}', True), ('{"model_type": "bert"}', False), ("7", False), ("[]", False), ("{", False)],
)
def test_our_configuration_is_told_from_others(tmp_path: Path, text: str, ours: bool) -> None:
    assert not ModelConfig.describes(tmp_path)
    write(tmp_path, text)
    assert ModelConfig.describes(tmp_path) == ours
