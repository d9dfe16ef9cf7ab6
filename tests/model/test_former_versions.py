"""A model folder of version 0.1 opens as it is, and is written anew under today's names."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from densephrases.model.config import CONFIG_FILE, SCHEMA_VERSION, ModelConfig
from densephrases.model.load import load
from densephrases.model.precision import PRECISIONS, Precision
from densephrases.quantize.codebooks import CODEBOOKS_FILE, codebooks_path
from densephrases.text.passages import Passage

FORMER = Path(__file__).parents[1] / "fixtures" / "v0_1"
MODEL = FORMER / "model"
FORMER_CODEBOOKS = "code.npz"
INDEX = json.loads((FORMER / "expected.json").read_text(encoding="utf-8"))["indexes"]["index-compact"]["info"]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(MODEL, tmp_path / "model"))


@pytest.mark.parametrize("precision", ["int8", "fp32"])
def test_it_encodes_for_the_indexes_of_its_time(precision: Precision) -> None:
    encoder = load(MODEL, precision, threads=1)
    assert encoder.fingerprint == INDEX["settings"]["fingerprint"]
    assert encoder.product_quantizer is not None
    assert encoder.product_quantizer.digest == INDEX["settings"]["code"]
    (passage,) = encoder.encode_passages([Passage("The Rhine rises in Switzerland.", "Rivers")])
    assert passage.vectors_TD.shape == (len(passage.offsets_T2), INDEX["settings"]["dim"])
    question = encoder.encode_questions(["Where does the Rhine rise?"])
    assert np.isfinite(question.start_BD).all()
    assert np.abs(passage.vectors_TD @ question.start_BD[0]).max() > 0


def test_both_precisions_stand_for_one_model() -> None:
    starts = [load(MODEL, p, threads=1).encode_questions(["Where does the Rhine rise?"]).start_BD for p in PRECISIONS]
    np.testing.assert_allclose(starts[0], starts[1], atol=0.1 * float(np.abs(starts[0]).max()))


def test_its_settings_have_their_values_under_new_names() -> None:
    config = ModelConfig.load(MODEL)
    assert (config.base, config.hidden, config.dim) == ("tiny-bert", 32, 24)
    assert (config.share, config.split, config.question_backbone) == (True, False, "shared")
    assert (config.passage_tokens, config.overlap, config.title_tokens, config.question_tokens) == (64, 16, 4, 24)
    assert (config.max_words, config.filter_threshold) == (6, -5.231)
    assert (config.length_penalty, config.lexical_weight) == (0.02, 0.5)
    assert config.confidence is not None
    assert config.confidence["temperature"] == 4.0


def test_its_task_has_settings_and_a_query_encoder_of_its_own() -> None:
    model, task = load(MODEL, threads=1), load(MODEL, threads=1, task="keywords")
    assert model.tasks == ["keywords"]
    assert (task.config.length_penalty, task.config.lexical_weight) == (0.01, 0.25)
    assert task.fingerprint == model.fingerprint
    asked = [encoder.encode_questions(["tower paris"]).start_BD for encoder in (model, task)]
    assert np.abs(asked[0] - asked[1]).max() > 1e-3


def test_settings_are_written_with_the_new_schema(copy: Path) -> None:
    former = ModelConfig.load(copy)
    former.save(copy)
    values = json.loads((copy / CONFIG_FILE).read_text())
    assert values["schema_version"] == SCHEMA_VERSION == 2
    assert values["backbone"]["hidden_size"] == 32
    assert values["question_backbone"] == "shared"
    assert values["lexical_weight"] == 0.5
    assert not values.keys() & {"trunk", "question_trunk", "word_weight"}
    assert ModelConfig.load(copy) == former
    assert load(copy, threads=1).fingerprint == INDEX["settings"]["fingerprint"]


def test_codebooks_are_written_under_the_new_name(copy: Path) -> None:
    assert codebooks_path(copy) == copy / FORMER_CODEBOOKS
    former = load(copy).product_quantizer
    assert former is not None
    former.save(copy)
    assert codebooks_path(copy) == copy / CODEBOOKS_FILE
    assert not (copy / FORMER_CODEBOOKS).exists()
    again = load(copy).product_quantizer
    assert again is not None
    assert again.digest == former.digest
