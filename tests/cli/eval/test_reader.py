"""`densephrases eval reader` on a random reader."""

import json
import re
from pathlib import Path

from densephrases.nn.reader import Reader
from tests.cli.conftest import Command


def test_reader(densephrases: Command, tiny_base: Path, small_squad: Path, tmp_path: Path) -> None:
    Reader.from_base(tiny_base, passage_tokens=96, overlap=16).save_pretrained(tmp_path)
    result = densephrases("eval", "reader", small_squad, "--model", tmp_path, "--json")
    assert json.loads(result.out).keys() == {"questions", "exact_match", "f1"}
    words = densephrases("eval", "reader", small_squad, "--model", tmp_path)
    assert re.fullmatch(r"10 questions: EM \d+\.\d\d, F1 \d+\.\d\d\n", words.out)


def test_a_phrase_model_is_no_reader(densephrases: Command, exported: Path, small_squad: Path) -> None:
    result = densephrases("eval", "reader", small_squad, "--model", exported)
    assert result.code == 2
    assert "of kind 'phrases', expected 'reader'" in result.err
