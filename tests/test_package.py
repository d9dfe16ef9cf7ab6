"""The package is light to import and says what to install for the rest."""

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import densephrases
from densephrases.errors import DataError, MissingExtraError, meant

HEAVY = ("torch", "transformers", "onnx", "safetensors")


def loaded_after(statement: str, names: tuple[str, ...]) -> list[str]:
    """Which of the packages a fresh interpreter has imported after a statement."""
    code = f"import sys; {statement}; print(*(n for n in {names!r} if n in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    return done.stdout.split()


@pytest.mark.parametrize(
    "module", ["densephrases.evaluate.reading", "densephrases.model.onnx", "densephrases.model.load"]
)
def test_light_modules_need_no_torch(module: str) -> None:
    assert loaded_after(f"import {module}", HEAVY) == []


@pytest.mark.parametrize(
    "module", ["densephrases.index.manifest", "densephrases.index.info", "densephrases.client.client"]
)
def test_manifests_and_the_client_need_no_engine(module: str) -> None:
    assert loaded_after(f"import {module}", (*HEAVY, "faiss", "onnxruntime")) == []


def test_package_loads_nothing() -> None:
    assert loaded_after("import densephrases", (*HEAVY, "onnxruntime", "numpy", "tokenizers")) == []
    assert loaded_after("from densephrases import Passage, load", HEAVY) == []


def test_public_names_resolve() -> None:
    for name in densephrases.__all__:
        assert getattr(densephrases, name) is not None
        assert name in dir(densephrases)
    assert densephrases.__version__ == metadata.version("densephrases")
    assert densephrases.Passage("text").title == ""


def test_documents_of_files(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("It rains.")
    for paths in (tmp_path, str(tmp_path), [tmp_path / "note.txt"], (str(tmp_path / "note.txt"),)):
        assert [each.text for each in densephrases.read_documents(paths)] == ["It rains."]
    with pytest.raises(DataError, match="5 is no path; expected names of files and folders"):
        densephrases.read_documents([tmp_path, 5])  # type: ignore[list-item]


def test_close_names_are_suggested() -> None:
    assert meant("pharse", ["phrase", "sentence"]) == " Did you mean 'phrase'?"
    assert meant(None, ["phrase", "sentence"]) == meant("zebra", ["phrase"]) == meant("x", []) == ""


def test_unknown_name() -> None:
    with pytest.raises(AttributeError, match=r"'lod'.*Passage, PhraseIndex, PhraseModel"):
        _ = densephrases.lod


def test_missing_torch_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(vars(densephrases), "PhraseModel", raising=False)
    monkeypatch.delitem(sys.modules, "densephrases.nn.phrase_model", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"'torch'.*pip install 'densephrases\[train\]'"):
        _ = densephrases.PhraseModel
