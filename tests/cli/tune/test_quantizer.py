"""`densephrases tune quantizer` on a random model."""

import json
from pathlib import Path

from densephrases.quantize.codebooks import CODEBOOKS_FILE, ProductQuantizer
from tests.cli.conftest import Command


def test_codebooks_are_stored(densephrases: Command, model: Path, small_squad: Path) -> None:
    shown = densephrases("tune", "quantizer", model, small_squad, "--dry-run")
    assert "bytes per kept token" in shown.out
    assert not (model / CODEBOOKS_FILE).exists()
    refused = densephrases("eval", "reading", small_squad, "--model", model, "--quantizer", "pq")
    assert refused.code == 2
    assert "tune quantizer MODEL DATA" in refused.err
    values = json.loads(densephrases("tune", "quantizer", model, small_squad, "--json").out)
    assert values.keys() == {"dimensions", "token_bytes", "passage_bytes", "score_errors"}
    assert ProductQuantizer.read(model, values["dimensions"]) is not None
    assert densephrases("eval", "reading", small_squad, "--model", model, "--quantizer", "pq").code == 0
