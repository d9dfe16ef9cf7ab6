"""An index of three documents that opens by its folder alone."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.serve.running import CITIES

if TYPE_CHECKING:
    from densephrases.nn.phrase_model import PhraseModel

# Before the libraries are imported: tests tell nobody that they run.
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
os.environ["LANGSMITH_TRACING"] = "false"


@pytest.fixture(scope="session")
def folder(tiny_model: "PhraseModel", tmp_path_factory: pytest.TempPathFactory) -> Path:
    from densephrases.nn.onnx.export import export_model
    from densephrases.search.phrase_index import PhraseIndex

    place = tmp_path_factory.mktemp("integrations")
    tiny_model.save_pretrained(place / "model")
    export_model(tiny_model, place / "model")
    PhraseIndex.create(place / "index", CITIES, model=place / "model")
    return place / "index"
