"""`densephrases export`: which files it writes where."""

from pathlib import Path

import pytest

import densephrases as package
from densephrases.model import folders
from densephrases.nn.phrase_model import PhraseModel

from .conftest import Command

GRAPHS = {f"{kind}.{precision}.onnx" for kind in ("passage", "question") for precision in ("fp32", "int8")}


@pytest.mark.parametrize(("option", "precision"), [("--no-int8", "fp32"), ("--no-fp32", "int8")])
def test_one_precision(
    densephrases: Command, tiny_model: PhraseModel, tmp_path: Path, option: str, precision: str
) -> None:
    tiny_model.save_pretrained(tmp_path / "model")
    result = densephrases("export", tmp_path / "model", option, "--out", tmp_path / "out")
    assert result.code == 0
    assert result.out.startswith(f"Exported {precision} to {tmp_path / 'out'}")
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written & GRAPHS == {f"passage.{precision}.onnx", f"question.{precision}.onnx"}
    vectors = package.load(tmp_path / "out", threads=1).encode_questions(["who built the tower?"])
    assert vectors.start_BD.shape == (1, 32)


def test_into_the_model_folder_itself(densephrases: Command, tiny_model: PhraseModel, tmp_path: Path) -> None:
    tiny_model.save_pretrained(tmp_path)
    assert densephrases("export", tmp_path, "--no-int8").code == 0
    assert (tmp_path / "model.safetensors").is_file()
    assert (tmp_path / "passage.fp32.onnx").is_file()


def test_nothing_to_export(densephrases: Command, tiny_model: PhraseModel, tmp_path: Path) -> None:
    tiny_model.save_pretrained(tmp_path)
    result = densephrases("export", tmp_path, "--no-int8", "--no-fp32")
    assert result.code == 2
    assert "leaves nothing to export" in result.err


def test_the_bundled_model_is_not_written_to(densephrases: Command, tiny_model: PhraseModel, tmp_path: Path) -> None:
    tiny_model.save_pretrained(tmp_path)
    result = densephrases("export", tmp_path, "--out", folders.resolve("small"))
    assert result.code == 2
    assert "is the bundled model 'small'" in result.err
