"""`densephrases eval confidence` on the bundled model, which is right often enough to be fitted."""

import json
from pathlib import Path

import pytest

from densephrases.cli import extras
from densephrases.data.squad import sample_path
from densephrases.model.folders import resolve
from tests.cli.conftest import Command
from tests.cli.test_main import is_one_sentence


def test_confidence_is_measured_and_nothing_is_stored(densephrases: Command, tmp_path: Path) -> None:
    before = (resolve("small") / "config.json").read_bytes()
    unanswerable = tmp_path / "unanswerable.json"
    unanswerable.write_text(sample_path().read_text().replace('"answers": [', '"is_impossible": true, "answers": ['))
    off_topic = tmp_path / "off-topic.jsonl"
    off_topic.write_text(
        "".join(f'{{"question": "Who is {name}?", "answer": ["x"]}}\n' for name in ("Zorro", "Tarzan"))
    )
    options = ["--index", tmp_path / "index", "--plot", tmp_path / "plot.png", "--absent", "0.5", "--swapped", "0"]
    options += ["--unanswerable", unanswerable, "--off-topic", off_topic]
    result = densephrases("eval", "confidence", sample_path(), *options, "--json")
    assert result.code == 0
    values = json.loads(result.out)
    answerable = values["questions"] - values["unanswerable"]
    assert values["unanswerable"] == answerable + round(0.5 * answerable) + 2
    numbers = {kind["kind"]: kind["questions"] for kind in values["kinds"]}
    assert numbers["answerable"] == answerable > 0
    assert numbers["off topic"] == 2
    assert (tmp_path / "plot.png").is_file()
    assert (resolve("small") / "config.json").read_bytes() == before


def test_the_missing_package_is_named(densephrases: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    result = densephrases("eval", "confidence", sample_path())
    assert is_one_sentence(result)
    assert "densephrases[evaluate]" in result.err
