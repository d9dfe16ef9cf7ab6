"""Model folders with several query encoders: one passage encoder, one default and any number of named ones."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from densephrases.checksums import remove_checksums
from densephrases.errors import ConfigError, ModelError
from densephrases.model.config import CONFIG_FILE, ModelConfig
from densephrases.model.load import load
from densephrases.model.tasks import task_names
from densephrases.nn.adapted_folder import export_tasks, read_adaptation_source, refuse_unfit_target, save_adapted
from densephrases.nn.onnx.export import export_model
from densephrases.nn.phrase_model import PhraseModel
from densephrases.nn.question_tower import AdaptedEncoder, QuestionTower, load_task
from densephrases.text.passages import Passage
from densephrases.train.loop.loop import compile_layers
from tests.index.made_up import code_for

PASSAGE = Passage("the tower was built in 1889 by a man")
QUESTIONS = ["who built the tower", "what is it"]


@pytest.fixture
def exported(tiny_base: Path, tmp_path: Path) -> Path:
    """As the bundled model is: one backbone for all, int8 only."""
    export_model(PhraseModel.from_base(tiny_base, share=True), tmp_path / "exported", ("int8",))
    return tmp_path / "exported"


def changed_tower(folder: Path, by: float) -> QuestionTower:
    tower = read_adaptation_source(folder).tower
    with torch.no_grad():
        tower.start_head.weight.mul_(1 + by)
    return tower


def asked(encoder: Any) -> np.ndarray[Any, Any]:
    return np.asarray(encoder.encode_questions(QUESTIONS).start_BD)


def read(encoder: Any) -> np.ndarray[Any, Any]:
    return np.asarray(encoder.encode_passages([PASSAGE])[0].vectors_TD)


@pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")  # what torch.compile imports
def test_a_tower_whose_layers_were_compiled_for_training(exported: Path, tmp_path: Path) -> None:
    tower = changed_tower(exported, 0.5)
    compile_layers(tower)
    save_adapted(tower, exported, tmp_path / "new")
    save_adapted(changed_tower(exported, 0.5), exported, tmp_path / "plain")
    np.testing.assert_array_equal(asked(load(tmp_path / "new")), asked(load(tmp_path / "plain")))


def test_a_default_tower_in_a_new_folder(exported: Path, tmp_path: Path) -> None:
    base, tower = load(exported), changed_tower(exported, 0.5)
    save_adapted(tower, exported, tmp_path / "new", card="# adapted")
    made = load(tmp_path / "new")
    assert made.fingerprint == base.fingerprint
    np.testing.assert_array_equal(read(made), read(base))
    expected = asked(AdaptedEncoder(base, tower))
    assert np.abs(asked(made) - expected).max() < 0.02 * np.abs(expected).max()
    assert np.abs(asked(made) - asked(base)).max() > 0.2 * np.abs(expected).max()
    assert not made.config.share
    assert (tmp_path / "new" / "README.md").read_text() == "# adapted"
    again = read_adaptation_source(tmp_path / "new").tower
    assert np.abs(asked(AdaptedEncoder(base, again)) - expected).max() < 0.02 * np.abs(expected).max()


def test_what_is_known_of_vectors_is_taken_along(exported: Path, tmp_path: Path) -> None:
    code_for(load(exported).config.vector_size).save(exported)
    save_adapted(changed_tower(exported, 0.5), exported, tmp_path / "new", card="# adapted")
    before, after = load(exported).product_quantizer, load(tmp_path / "new").product_quantizer
    assert before is not None
    assert after is not None
    assert after.to_bytes() == before.to_bytes()


def test_small_steps_are_not_rounded_away(exported: Path, tmp_path: Path) -> None:
    """Weights of an int8 model begin on the numbers of 8 bits; most that learning adds is less than half a step."""
    tower = read_adaptation_source(exported).tower
    before = tower.start_head.weight.detach().clone()
    step = before.abs().amax(dim=1) / 127  # of each column of the graph
    with torch.no_grad():
        tower.start_head.weight.add_(0.3 * step[:, None])
    save_adapted(tower, exported, tmp_path / "new")
    after = read_adaptation_source(tmp_path / "new").tower.start_head.weight
    torch.testing.assert_close(after - before, 0.3 * step[:, None].expand_as(before), rtol=0.2, atol=5e-4)


def low_rank_tower(folder: Path) -> QuestionTower:
    tower = read_adaptation_source(folder).tower
    tower.learn_beside(16, layers=1)
    with torch.no_grad():
        tower.start_head.weight.mul_(1.2)
        for number, weight in enumerate(tower.question_matrices.parameters()):
            torch.nn.init.normal_(weight, std=0.15, generator=torch.Generator().manual_seed(number))
    return tower


def test_a_tower_beside_the_shared_backbone(exported: Path, tmp_path: Path) -> None:
    """The model grows by the matrices alone: what passages need is as it was."""
    code_for(load(exported).config.vector_size).save(exported)
    save_adapted(changed_tower(exported, 0.5), exported, exported, "trex")
    base, tower = load(exported), low_rank_tower(exported)
    save_adapted(tower, exported, tmp_path / "new", card="# adapted")
    made = load(tmp_path / "new")
    assert made.config.share
    assert made.fingerprint == base.fingerprint
    assert made.tasks == ["trex"]
    assert made.product_quantizer is not None
    np.testing.assert_array_equal(read(made), read(base))
    expected = asked(AdaptedEncoder(base, tower))
    assert np.abs(asked(made) - expected).max() < 0.1 * np.abs(expected).max()
    assert np.abs(expected - asked(base)).max() > 0.2 * np.abs(expected).max()
    before, after = ((folder / "weights.int8.bin").stat().st_size for folder in (exported, tmp_path / "new"))
    matrices = sum(matrix.numel() for matrix in tower.question_matrices.parameters())
    assert before < after < before + 2 * matrices
    again = read_adaptation_source(tmp_path / "new").tower
    assert np.abs(asked(AdaptedEncoder(base, again)) - expected).max() < 0.02 * np.abs(expected).max()


def test_a_checkpoint_with_a_tower_beside_the_shared_backbone(tiny_base: Path, tmp_path: Path) -> None:
    model = PhraseModel.from_base(tiny_base, share=True)
    model.save_pretrained(tmp_path / "model")
    tower = low_rank_tower(tmp_path / "model")
    save_adapted(tower, tmp_path / "model", tmp_path / "new")
    found = PhraseModel.from_pretrained(tmp_path / "new")
    assert found.config.share
    np.testing.assert_allclose(asked(found.encoder()), asked(AdaptedEncoder(model.encoder(), tower)), atol=1e-6)


def test_a_task_has_a_backbone_of_its_own(exported: Path) -> None:
    with pytest.raises(ConfigError, match=r"task='trex' cannot be learned with rank"):
        save_adapted(low_rank_tower(exported), exported, exported, "trex")


def test_named_towers_in_the_same_folder(exported: Path) -> None:
    before = asked(load(exported))
    for name, by in (("trex", 0.5), ("my-web_2", -0.5)):
        save_adapted(changed_tower(exported, by), exported, exported, name)
    base, trex, web = load(exported), load(exported, task="trex"), load(exported, task="my-web_2")
    assert base.tasks == trex.tasks == ["my-web_2", "trex"]
    np.testing.assert_array_equal(asked(base), before)
    np.testing.assert_array_equal(asked(base.with_task("trex")), asked(trex))
    np.testing.assert_array_equal(asked(trex.with_task(None)), before)
    difference = np.abs(asked(trex) - before).max()
    assert difference > 0.1
    assert np.abs(asked(web) - asked(trex)).max() > difference
    assert trex.fingerprint == web.fingerprint == base.fingerprint
    np.testing.assert_array_equal(read(trex), read(base))


def test_a_named_tower_in_a_new_folder_takes_the_whole_model_along(exported: Path, tmp_path: Path) -> None:
    save_adapted(changed_tower(exported, 0.5), exported, exported, "first")
    save_adapted(changed_tower(exported, -0.5), exported, tmp_path / "new", "second")
    new = load(tmp_path / "new")
    assert new.tasks == ["first", "second"]
    np.testing.assert_array_equal(asked(new), asked(load(exported)))
    np.testing.assert_array_equal(asked(new.with_task("first")), asked(load(exported, task="first")))


def logits(encoder: Any) -> np.ndarray[Any, Any]:
    (question,), (passage,) = encoder.tokens.questions(QUESTIONS[:1]), encoder.tokens.passages([PASSAGE])
    return np.asarray(encoder.read([(question, passage.windows[0])])[0].tokens_T2)


@pytest.mark.parametrize("task", [None, "trex"])
def test_an_adapted_model_still_reads(tiny_base: Path, tmp_path: Path, task: str | None) -> None:
    source = tmp_path / "exported"
    export_model(PhraseModel.from_base(tiny_base, share=True, reads=True), source, ("int8",))
    tower = changed_tower(source, 0.5)
    save_adapted(tower, source, tmp_path / "new", task)
    expected = logits(load(source))
    np.testing.assert_array_equal(logits(load(tmp_path / "new", task=task)), expected)
    np.testing.assert_array_equal(logits(AdaptedEncoder(load(source), tower)), expected)


def test_tasks_share_the_reading_graph(tiny_base: Path, tmp_path: Path) -> None:
    source = tmp_path / "exported"
    export_model(PhraseModel.from_base(tiny_base, share=True, reads=True), source, ("int8",))
    save_adapted(changed_tower(source, 0.5), source, source, "trex")
    base = load(source)
    other = base.with_task("trex")
    np.testing.assert_array_equal(logits(other), logits(base))
    assert "_reading_session" in vars(base)
    assert "_reading_session" not in vars(other)


def test_an_adapted_checkpoint_still_reads(tiny_base: Path, tmp_path: Path) -> None:
    model = PhraseModel.from_base(tiny_base, reads=True)
    model.save_pretrained(tmp_path / "model")
    tower = read_adaptation_source(tmp_path / "model").tower
    save_adapted(tower, tmp_path / "model", tmp_path / "model", "trex")
    save_adapted(tower, tmp_path / "model", tmp_path / "new")
    for found in (load_task(tmp_path / "model", "trex"), PhraseModel.from_pretrained(tmp_path / "new")):
        np.testing.assert_allclose(logits(found.encoder()), logits(model.encoder()), atol=1e-6)


def test_a_tower_may_be_trained_again(exported: Path) -> None:
    save_adapted(changed_tower(exported, 0.5), exported, exported, "trex")
    first = asked(load(exported, task="trex"))
    save_adapted(changed_tower(exported, -0.5), exported, exported, "trex")
    assert np.abs(asked(load(exported, task="trex")) - first).max() > 0.1


def test_training_may_start_from_a_task(exported: Path) -> None:
    save_adapted(changed_tower(exported, 0.5), exported, exported, "trex")
    source = read_adaptation_source(exported, "trex")
    expected = asked(load(exported, task="trex"))
    found = asked(AdaptedEncoder(source.encoder, source.tower))
    assert np.abs(found - expected).max() < 0.1 * np.abs(expected).max()


@pytest.mark.parametrize("share", [True, False])
def test_checkpoints_hold_towers_too(tiny_base: Path, tmp_path: Path, share: bool) -> None:
    model = PhraseModel.from_base(tiny_base, share=share, dim=8)
    model.save_pretrained(tmp_path / "model")
    tower = changed_tower(tmp_path / "model", 0.5)
    save_adapted(tower, tmp_path / "model", tmp_path / "model", "trex")
    save_adapted(tower, tmp_path / "model", tmp_path / "new")
    expected = asked(AdaptedEncoder(model.encoder(), tower))
    for found in (
        load_task(tmp_path / "model", "trex"),
        PhraseModel.from_pretrained(tmp_path / "new"),
    ):
        assert found.passage_fingerprint() == model.passage_fingerprint()
        np.testing.assert_allclose(asked(found.encoder()), expected, atol=1e-6)
    assert task_names(tmp_path / "new") == ["trex"]
    export_model(model, tmp_path / "exported", ("fp32",))
    assert export_tasks(tmp_path / "model", tmp_path / "exported") == ["trex"]
    np.testing.assert_allclose(asked(load(tmp_path / "exported", task="trex")), expected, atol=0.03)
    np.testing.assert_allclose(
        asked(PhraseModel.from_pretrained(tmp_path / "model").encoder()), asked(model.encoder()), atol=1e-6
    )


def test_unknown_tasks_are_refused_with_the_known_ones(exported: Path) -> None:
    with pytest.raises(ModelError, match=r"no task 'trex': it has only its default"):
        load(exported, task="trex")
    save_adapted(changed_tower(exported, 0.5), exported, exported, "web")
    with pytest.raises(ModelError, match=r"no task 'trex': it has 'web'\. .*train queries --task"):
        load(exported, task="trex")
    with pytest.raises(ConfigError, match=r"'\.\./x' is no name of a task"):
        load(exported, task="../x")


def test_a_model_in_memory_has_no_tasks(tiny_model: PhraseModel) -> None:
    encoder = tiny_model.encoder()
    assert encoder.tasks == []
    assert encoder.with_task(None) is encoder
    with pytest.raises(ModelError, match="no task 'trex': it stands in no folder"):
        encoder.with_task("trex")


def test_a_tower_of_another_model_is_refused(exported: Path) -> None:
    save_adapted(changed_tower(exported, 0.5), exported, exported, "web")
    path = exported / "tasks" / "web" / CONFIG_FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | {"fingerprint": "other"}))
    remove_checksums(path.parent)
    with pytest.raises(ModelError, match=r"'web' .* fingerprint other.* learn the task anew"):
        load(exported, task="web")


def test_a_tower_without_its_graph_is_refused(exported: Path) -> None:
    save_adapted(changed_tower(exported, 0.5), exported, exported, "web")
    (exported / "tasks" / "web" / "question.fp16.onnx").unlink()
    with pytest.raises(ModelError, match=r"has no tasks/web/question\.fp16\.onnx"):
        load(exported, task="web")


def test_truncated_weights_are_named(exported: Path, tmp_path: Path) -> None:
    save_adapted(changed_tower(exported, 0.5), exported, exported, "web")
    save_adapted(changed_tower(exported, 0.5), exported, tmp_path / "new")
    for folder, task in ((exported, "web"), (tmp_path / "new", None)):
        path = (folder / "tasks" / task if task else folder) / "question.fp16.bin"
        path.write_bytes(path.read_bytes()[:100])
        with pytest.raises(ModelError, match=r"question\.fp16\.bin.*copy the model folder again"):
            asked(load(folder, task=task))


def test_what_cannot_be_written_is_said_before_learning(exported: Path, tmp_path: Path) -> None:
    fingerprint = load(exported).fingerprint
    with pytest.raises(ConfigError, match=r"is the model itself.*name a task"):
        refuse_unfit_target(exported, exported, None, fingerprint)
    refuse_unfit_target(exported, exported, "web", fingerprint)
    refuse_unfit_target(exported, tmp_path / "new", None, fingerprint)
    with pytest.raises(ModelError, match=r"learned for .*other.*; give another folder"):
        refuse_unfit_target(tmp_path / "new", exported, "web", "other")


def test_an_incomplete_tower_is_none(exported: Path) -> None:
    """The configuration is written last."""
    save_adapted(changed_tower(exported, 0.5), exported, exported, "web")
    config = ModelConfig.load(exported / "tasks" / "web")
    (exported / "tasks" / "web" / CONFIG_FILE).unlink()
    assert task_names(exported) == []
    config.save(exported / "tasks" / "web")
    assert task_names(exported) == ["web"]
