"""A bundled model belongs to the package: whatever would change it is refused before anything is written."""

from pathlib import Path

import pytest

from densephrases.errors import ModelError
from densephrases.model import folders
from densephrases.model.config import CONFIG_FILE, ModelConfig
from densephrases.model.folders import writable_folder
from densephrases.nn.adapted_folder import refuse_unfit_target, save_adapted
from densephrases.nn.onnx.export import export_model
from densephrases.nn.phrase_model import PhraseModel
from densephrases.nn.question_tower import QuestionTower


@pytest.fixture
def bundled(tiny_model: PhraseModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation with one bundled model, which nothing may write to."""
    export_model(tiny_model, tmp_path / "weights" / "small", ("int8",))
    monkeypatch.setattr(folders, "BUNDLED_FOLDER", tmp_path / "weights")
    return tmp_path / "weights" / "small"


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_other_folders_may_be_written(bundled: Path, tmp_path: Path) -> None:
    assert writable_folder(tmp_path / "mine") == tmp_path / "mine"
    assert writable_folder(str(tmp_path / "mine")) == tmp_path / "mine"
    assert writable_folder(bundled.parent / "unfinished") == bundled.parent / "unfinished"


def test_a_bundled_model_is_refused_however_it_is_called(bundled: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(bundled, target_is_directory=True)
    roundabout = bundled.parent / ".." / "weights" / "small"
    for name in ("small", bundled, str(bundled), roundabout, tmp_path / "link", bundled / "tasks" / "web"):
        with pytest.raises(ModelError, match=rf"bundled model 'small'.*copy its folder '{bundled}' and give the copy"):
            writable_folder(name)


def test_a_bundled_name_that_is_a_folder_here_is_the_folder(
    bundled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "small").mkdir()
    monkeypatch.chdir(tmp_path)
    assert writable_folder(Path("small")) == Path("small")
    with pytest.raises(ModelError, match="bundled model 'small'"):
        writable_folder("small")


def test_nothing_of_it_is_changed(bundled: Path, tiny_model: PhraseModel) -> None:
    before, config = content(bundled), ModelConfig.load(bundled)
    tower = QuestionTower.from_model(tiny_model)
    with pytest.raises(ModelError, match="bundled"):
        tiny_model.save_pretrained(bundled)
    with pytest.raises(ModelError, match="bundled"):
        export_model(tiny_model, bundled)
    with pytest.raises(ModelError, match="bundled"):
        refuse_unfit_target(bundled, bundled, "web", config.fingerprint)
    with pytest.raises(ModelError, match="bundled"):
        save_adapted(tower, bundled, bundled, "web")
    assert content(bundled) == before


def test_a_folder_is_never_without_its_configuration(
    tiny_model: PhraseModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written beside it and moved into place: a full disk leaves the former one."""
    tiny_model.config.save(tmp_path)
    before = (tmp_path / CONFIG_FILE).read_bytes()

    def full_disk(path: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full_disk)
    with pytest.raises(OSError, match="No space left"):
        tiny_model.config.with_threshold(0.5).save(tmp_path)
    assert (tmp_path / CONFIG_FILE).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [CONFIG_FILE]
