"""`densephrases eval own` on a random model."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.cli.test_main import is_one_sentence


def test_generated_questions(densephrases: Command, made_index: Path) -> None:
    result = densephrases("eval", "own", made_index)
    assert result.code == 0
    assert "question made from the documents by rule" in result.out.replace("questions made", "question made")
    assert "expect fewer right answers to questions of people" in result.out


@pytest.mark.parametrize("shown", [True, False])
def test_given_questions(densephrases: Command, made_index: Path, tmp_path: Path, shown: bool) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("question,answer\nWho built the tower?,Eiffel\nWho was Zorro?,\n")
    result = densephrases("eval", "own", made_index, "--questions", path, *([] if shown else ["--json"]))
    assert result.code == 0
    if shown:
        assert result.out.startswith("1 question given, 1 about what the documents do not say\nfirst answer right ")
        assert "made by rule" not in result.out
    else:
        found = json.loads(result.out)
        assert (found["questions"], found["absent"], found["generated"]) == (1, 1, False)
        assert found["median_milliseconds"] > 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--count", "0"], "--count 0 is no number of questions"),
        (["--questions", "none.csv"], "'none.csv' is not a file"),
    ],
)
def test_mistakes(densephrases: Command, made_index: Path, options: list[str], sentence: str) -> None:
    result = densephrases("eval", "own", made_index, *options)
    assert is_one_sentence(result)
    assert sentence in result.err
