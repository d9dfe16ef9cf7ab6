"""Runs at smoke size, with a tiny random model where one is to be there."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from densephrases.reproduce.inputs import Inputs

if TYPE_CHECKING:
    from densephrases.nn.phrase_model import PhraseModel


@pytest.fixture(scope="session")
def exported(tiny_model: "PhraseModel", tmp_path_factory: pytest.TempPathFactory) -> Path:
    from densephrases.nn.onnx.export import export_model

    folder = tmp_path_factory.mktemp("exported") / "model"
    tiny_model.save_pretrained(folder)
    export_model(tiny_model, folder)
    return folder


@pytest.fixture
def inputs(tmp_path: Path) -> Inputs:
    return Inputs(data=tmp_path / "data", models=tmp_path, out=tmp_path / "run", size="smoke", cpu=True)


@pytest.fixture
def with_model(inputs: Inputs, exported: Path) -> Inputs:
    return replace(inputs, model=str(exported))


@pytest.fixture
def counted_steps() -> tuple[list[str], Callable[[str], None]]:
    """What was told, and what tells it."""
    told: list[str] = []
    return told, told.append
