"""What a question generator reads."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from densephrases.errors import ConfigError, ModelError
from densephrases.model.prompts import GeneratorConfig, Prompts, centred
from densephrases.text.passages import Passage

from ..conftest import small_tokenizer


def prompts(**limits: Any) -> Prompts:
    return Prompts(small_tokenizer(), GeneratorConfig(base="tiny", **limits))


def shown(tokenizer: Tokenizer, ids: list[int]) -> str:
    return " ".join(str(tokenizer.id_to_token(number)) for number in ids)


@given(st.integers(1, 30), st.data())
def test_the_window_is_centred(count: int, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, count - 1))
    last = data.draw(st.integers(first, count - 1))
    room = data.draw(st.integers(last - first + 1, 40))
    start, stop = centred(count, first, last, room)
    assert 0 <= start <= first <= last < stop <= count
    assert stop - start == min(room, count)
    before, after = first - start, stop - 1 - last
    if start > 0 and stop < count:
        assert abs(before - after) <= 1


def test_a_prompt() -> None:
    made = prompts(context_tokens=5, title_tokens=1)
    (passage,) = made.passages([Passage("the tower of paris was built in london", "paris in france")])
    ids = made.prompt(passage, 3, 3)
    assert ids is not None
    assert shown(made.tokenizer, ids.tolist()) == (
        "paris <passage> tower of <answer> paris </answer> was built <question>"
    )
    assert made.prompt(passage, 0, 5) is None, "the answer is longer than the context"
    assert made.prompt(passage, 0, 4) is not None


def test_a_question_there_and_back() -> None:
    made = prompts()
    (ids,) = made.questions([" who built the tower"])
    assert shown(made.tokenizer, ids.tolist()) == "who built the tower </question>"
    assert made.text([*ids.tolist(), 7, 8]) == "who built the tower"
    assert made.text(ids.tolist()[:-1]) is None, "it did not come to its end"


def test_tags_in_a_text_are_no_more_than_text_that_is_not_learned() -> None:
    """Special tokens are never decoded, so no question can contain one."""
    made = prompts()
    (ids,) = made.questions(["who <answer> built"])
    assert made.text(ids.tolist()) == "who built"


def test_config_of_a_folder(tmp_path: Path) -> None:
    config = GeneratorConfig(base="tiny", context_tokens=7)
    config.save(tmp_path)
    assert GeneratorConfig.load(tmp_path) == config
    (tmp_path / "generator.json").write_text('{"schema_version": 9}')
    with pytest.raises(ModelError, match="does not have schema version 1; train"):
        GeneratorConfig.load(tmp_path)
    with pytest.raises(ModelError, match="is no question generator"):
        GeneratorConfig.load(tmp_path / "nothing")
    with pytest.raises(ModelError, match="no token '<nothing>'"):
        Prompts(small_tokenizer(), GeneratorConfig(base="tiny", end="<nothing>"))
    with pytest.raises(ConfigError, match="question_tokens=1"):
        GeneratorConfig(base="x", question_tokens=1)
