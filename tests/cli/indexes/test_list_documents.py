"""`densephrases list`."""

import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import TEXTS, Command
from tests.cli.test_main import is_one_sentence


def test_lines(densephrases: Command, made_index: Path) -> None:
    lines = [line.split("\t") for line in densephrases("list", made_index).out.splitlines()]
    assert {line[0]: line[1] for line in lines} == {
        "cities/london.md": "London",
        "cities/paris.txt": "paris",
        "tower.txt": "tower",
    }
    metadata = {line[0]: json.loads(line[2]) for line in lines}
    assert metadata["tower.txt"]["size"] == len(TEXTS["tower.txt"])


def test_json_and_conditions(densephrases: Command, made_index: Path) -> None:
    def listed(*options: str) -> list[str]:
        return [
            json.loads(line)["id"] for line in densephrases("list", made_index, "--json", *options).out.splitlines()
        ]

    assert listed("--where", "type=md") == ["cities/london.md"]
    assert listed("--where", "size>=60", "--since", "2020-01-01") == ["cities/london.md", "tower.txt"]
    assert listed("--until", "2020-01-01") == []


def test_a_table_at_a_terminal(densephrases: Command, made_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True)
    shown = densephrases("list", made_index).out
    assert "cities/london.md" in shown
    assert "type: md" in shown


def test_mistakes(densephrases: Command, made_index: Path) -> None:
    for options, expected in {
        ("--where", "size>x"): "compares 'size' with 'x', but document",
        ("--since", "x"): "--since x is no date",
    }.items():
        result = densephrases("list", made_index, *options)
        assert is_one_sentence(result)
        assert expected in result.err
