"""A query encoder on its own: what it computes and what it leaves alone."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from densephrases.errors import ConfigError
from densephrases.nn.phrase_model import PhraseModel
from densephrases.nn.question_tower import AdaptedEncoder, QuestionTower, with_questions
from densephrases.text.passages import Passage

from .made_up import ARCHITECTURES, model_of

QUESTIONS = ["who built the tower", "what is it", "where was the city on the river in the year 1750?"]


@pytest.fixture(params=list(ARCHITECTURES.values()), ids=list(ARCHITECTURES))
def model(request: pytest.FixtureRequest, tiny_base: Path) -> PhraseModel:
    return model_of(tiny_base, **request.param)


def change(tower: QuestionTower) -> None:
    with torch.no_grad():
        for parameter in tower.parameters():
            parameter.add_(0.1)


def vectors(encoder: Any) -> np.ndarray[Any, Any]:
    found = encoder.encode_questions(QUESTIONS)
    return np.stack([found.start_BD, found.end_BD])


def test_a_copy_asks_alike_and_may_change(model: PhraseModel) -> None:
    tower, base = QuestionTower.from_model(model), model.encoder()
    adapted = AdaptedEncoder(base, tower)
    np.testing.assert_allclose(vectors(adapted), vectors(base), atol=1e-6)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    change(tower)
    assert np.abs(vectors(adapted) - vectors(base)).max() > 1e-3
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


def test_passages_and_fingerprint_are_the_base_s(model: PhraseModel) -> None:
    tower, base = QuestionTower.from_model(model), model.encoder()
    change(tower)
    adapted, whole = AdaptedEncoder(base, tower), with_questions(model, tower)
    assert adapted.fingerprint == base.fingerprint == whole.passage_fingerprint()
    (ours,), (theirs,) = (e.encode_passages([Passage("the tower was built in 1889")]) for e in (adapted, base))
    np.testing.assert_array_equal(ours.vectors_TD, theirs.vectors_TD)
    np.testing.assert_allclose(vectors(whole.encoder()), vectors(adapted), atol=1e-6)


def test_split_models_have_no_query_encoder_of_their_own(tiny_base: Path) -> None:
    with pytest.raises(ConfigError, match="split=True"):
        QuestionTower.from_model(PhraseModel.from_base(tiny_base, share=True, split=True))


def test_word_embeddings_can_be_frozen(tiny_base: Path) -> None:
    tower = QuestionTower.from_model(model_of(tiny_base))
    tower.freeze_word_embeddings()
    frozen = [name for name, parameter in tower.named_parameters() if not parameter.requires_grad]
    assert frozen == [f"question_{end}.encoder.embeddings.word_embeddings.weight" for end in ("start", "end")]


def test_learning_beside_the_shared_backbone(tiny_base: Path) -> None:
    model = model_of(tiny_base, share=True)
    tower, base = QuestionTower.from_model(model), model.encoder()
    tower.learn_beside(3, layers=1)
    assert {name.split(".")[0] for name, each in tower.named_parameters() if each.requires_grad} == {
        "start_head",
        "end_head",
        "question_matrices",
    }
    np.testing.assert_allclose(vectors(AdaptedEncoder(base, tower)), vectors(base), atol=1e-6)
    with torch.no_grad():
        for parameter in tower.parameters():
            if parameter.requires_grad:
                parameter.add_(0.1)
    whole = with_questions(model, tower)
    assert (whole.config.share, whole.config.question_rank, whole.config.question_layers) == (True, 3, 1)
    assert whole.passage_fingerprint() == base.fingerprint
    np.testing.assert_allclose(vectors(whole.encoder()), vectors(AdaptedEncoder(base, tower)), atol=1e-6)
    again = QuestionTower.from_model(whole)
    again.learn_beside(3, layers=1)
    np.testing.assert_allclose(vectors(AdaptedEncoder(base, again)), vectors(whole.encoder()), atol=1e-6)
    with pytest.raises(ConfigError, match="matrices of rank 3 beside 1 layers, not of rank 4 beside all"):
        QuestionTower.from_model(whole).learn_beside(4)


def test_questions_with_a_backbone_of_their_own_have_nothing_to_learn_beside(tiny_base: Path) -> None:
    tower = QuestionTower.from_model(model_of(tiny_base, question_backbone="shared"))
    with pytest.raises(ConfigError, match=r"rank=3: questions of this model have a backbone of their own"):
        tower.learn_beside(3)
