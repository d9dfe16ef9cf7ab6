"""A search takes what was fitted to questions about its index, if it was fitted for its model."""

import json
import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from densephrases.errors import PhraseIndexError
from densephrases.index.fitted_confidence import FittedConfidence, fitted_confidences, store_confidence
from densephrases.model.encoder import DelegatingEncoder
from densephrases.search.confidence import Calibration
from densephrases.search.own_calibration import calibration_digest, calibration_of
from densephrases.search.phrase_index import PhraseIndex
from densephrases.text.documents import Document
from tests.index.made_up import HashEncoder

QUESTION = "who built the tower in Paris?"
WEIGHTS = Calibration(intercept=-1.0, score=0.1, gap=0.2, share=0.3)
FITTED = WEIGHTS.rescaled(0.5, -1.0)


@pytest.fixture
def index(tmp_path: Path) -> PhraseIndex:
    documents = [Document("a", "The tower in Paris was built by Eiffel."), Document("b", "a city on the river")]
    return PhraseIndex.create(tmp_path / "index", documents, model=HashEncoder(confidence=WEIGHTS.to_dict()))


def store(index: PhraseIndex, weights: dict[str, float] | None = None, query_encoder: str = "") -> Path:
    digest = calibration_digest(index.encoder)
    fitted = FittedConfidence(model=digest, weights=weights or FITTED.to_dict(), questions=20, date="2026-01-01")
    store_confidence(index.folder.folder, query_encoder, fitted)
    return index.folder.folder


def confidences(index: PhraseIndex) -> list[float | None]:
    return [answer.confidence for answer in index.search(QUESTION)]


def test_it_is_used_wherever_the_index_is_opened(index: PhraseIndex) -> None:
    before = index.search(QUESTION)
    folder = store(index)
    assert confidences(index) == [each.confidence for each in before], "this object has not looked again"
    index.refresh()
    expected = FITTED.probability([each.score for each in index.search(QUESTION, 10, overlapping=True)])
    for opened in (index, PhraseIndex.open(folder, index.encoder), index.reopened()):
        found = opened.search(QUESTION)
        assert [(each.text, each.score) for each in found] == [(each.text, each.score) for each in before]
        assert found[0].confidence == pytest.approx(expected[0])


def test_another_query_encoder_has_the_models(index: PhraseIndex) -> None:
    assert calibration_of(store(index, query_encoder="slots"), index.encoder) == WEIGHTS


def test_one_that_is_none_of_the_folder_has_the_models(index: PhraseIndex) -> None:
    class Adapted(DelegatingEncoder):
        @property
        def query_encoder(self) -> None:
            return

    encoder = index.encoder
    assert calibration_of(store(index), Adapted(encoder, encoder.config, encoder.tokens)) == WEIGHTS
    assert calibration_of(store(index), DelegatingEncoder(encoder, encoder.config, encoder.tokens)) == FITTED


@pytest.mark.parametrize(
    "other",
    [
        {"confidence": replace(WEIGHTS, gap=0.25).to_dict()},
        {"fingerprint": "def"},
        {"lexical_weight": 0.5},
        {"length_penalty": 0.5},
    ],
)
def test_one_of_another_model_is_ignored(
    index: PhraseIndex, other: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    encoder = HashEncoder(**{"confidence": WEIGHTS.to_dict()} | other)
    folder = store(index)
    with caplog.at_level(logging.WARNING):
        assert calibration_of(folder, encoder) == Calibration.from_dict(encoder.config.confidence or {})
    assert "fit them again with `densephrases tune confidence`" in caplog.text


def test_without_confidences_of_the_model_there_are_none(index: PhraseIndex) -> None:
    assert calibration_of(store(index), HashEncoder()) is None


def test_other_weights_are_refused(index: PhraseIndex) -> None:
    folder = store(index, {"intercept": 1.0})
    assert fitted_confidences(folder)
    with pytest.raises(PhraseIndexError, match="no weights of a confidence; remove it with"):
        PhraseIndex.open(folder, index.encoder).search(QUESTION)


def test_damage_is_refused_when_asked(index: PhraseIndex) -> None:
    path = store(index) / "confidence.json"
    values = json.loads(path.read_text())
    values["query_encoders"][""]["weights"]["gap"] = 9.0
    path.write_text(json.dumps(values))
    opened = PhraseIndex.open(path.parent, index.encoder)
    with pytest.raises(PhraseIndexError, match="is damaged"):
        opened.search(QUESTION)
    assert len(opened) == 2


def test_digests_are_those_of_equal_models() -> None:
    assert calibration_digest(HashEncoder()) == calibration_digest(HashEncoder())
    assert len({calibration_digest(HashEncoder(lexical_weight=each)) for each in np.linspace(0, 1, 5).tolist()}) == 5
