"""`densephrases reproduce`."""

import json
from pathlib import Path

from tests.cli.conftest import Command
from tests.cli.test_main import is_one_sentence


def test_a_table(densephrases: Command, exported: Path, tmp_path: Path) -> None:
    arguments = ("reproduce", "speed", "--size", "smoke", "--model", exported, "--out", tmp_path / "run", "--cpu")
    result = densephrases(*arguments)
    assert result.code == 0
    assert "this index, CPU, nothing read" in result.out
    assert "DensePhrases, GPU" in result.out
    assert "A few bundled passages stand in for all data" in result.out
    again = json.loads(densephrases(*arguments, "--json").out)
    assert again["number"] == "Tables 1 and A.1"


def test_mistakes(densephrases: Command, tmp_path: Path) -> None:
    result = densephrases("reproduce", "reading", "--data", tmp_path, "--out", tmp_path / "run")
    assert is_one_sentence(result)
    assert "Nothing of table 'reading' can be run. SQuAD is not run: " in result.err
    assert densephrases("reproduce", "table-2").code == 2
