"""Committed figures are what their code draws, and their numbers are the bundled model's."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from densephrases import Passage, load

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
FIGURES = ["losses", "segments", "two-searches", "verification"]
QUESTION = "When does the lease end?"
PASSAGE = "The lease of the flat ends on 31 March 2027. The rent is 950 euros a month."


def test_the_committed_files_are_what_is_drawn(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "docs.figures", "--out", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True)  # noqa: S603
    assert sorted(path.stem for path in tmp_path.iterdir()) == FIGURES
    for drawn in tmp_path.iterdir():
        assert drawn.read_text(encoding="utf-8") == (IMAGES / drawn.name).read_text(encoding="utf-8"), drawn.name


@pytest.mark.parametrize("name", FIGURES)
def test_it_is_well_formed_and_loads_nothing(name: str) -> None:
    text = (IMAGES / f"{name}.svg").read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)  # noqa: S314
    assert {child.tag.rpartition("}")[2] for child in root} >= {"title", "desc", "text"}
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


def test_the_numbers_are_the_models() -> None:
    shown = json.loads((ROOT / "docs" / "figures" / "measured.json").read_text())
    model = load()
    passage = model.encode_passages([Passage(PASSAGE, "lease")])[0]
    question = model.encode_questions([QUESTION])
    assert model.config.filter_threshold == pytest.approx(shown["threshold"], abs=0.1)
    assert [token["text"] for token in shown["tokens"]] == [PASSAGE[a:b] for a, b in passage.offsets_T2]
    starts_T, ends_T = passage.vectors_TD @ question.start_BD[0], passage.vectors_TD @ question.end_BD[0]
    assert [token["start"] for token in shown["tokens"]] == pytest.approx(starts_T.tolist(), abs=2)
    assert [token["end"] for token in shown["tokens"]] == pytest.approx(ends_T.tolist(), abs=2)
