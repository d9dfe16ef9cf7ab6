"""An index of three documents that opens by its folder alone."""

import os
from pathlib import Path

import pytest

from tests.serve.running import CITIES

# Before the libraries are imported: tests tell nobody that they run.
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
os.environ["LANGSMITH_TRACING"] = "false"


@pytest.fixture(scope="session")
def folder(tiny_base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its model reads."""
    from densephrases.nn.onnx.export import export_model
    from densephrases.nn.phrase_model import PhraseModel
    from densephrases.search.phrase_index import PhraseIndex

    place = tmp_path_factory.mktemp("integrations")
    model = PhraseModel.from_base(tiny_base, reads=True)
    model.save_pretrained(place / "model")
    export_model(model, place / "model")
    PhraseIndex.create(place / "index", CITIES, model=place / "model")
    return place / "index"
