"""Errors that name the option that was typed."""

import pytest

from densephrases.cli.flags import flags_named, with_flag
from densephrases.errors import ConfigError

from .conftest import Command
from .test_main import is_one_sentence


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("min_confidence=2 is out of range.", "--min-confidence 2 is out of range."),
        ("k=0 is no number; k=1 is one.", "-k 0 is no number; k=1 is one."),
        ("other=0 is no number.", "other=0 is no number."),
        ("The k=0.", "The k=0."),
    ],
)
def test_a_setting_becomes_an_option(sentence: str, shown: str) -> None:
    flags = {"min_confidence": "--min-confidence", "k": "-k"}
    assert with_flag(sentence, flags) == shown
    with pytest.raises(ConfigError) as error, flags_named(flags):
        raise ConfigError(sentence)
    assert str(error.value) == shown


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["ask", "nowhere", "who?", "--min-confidence", "2"], "--min-confidence 2.0 is out of range"),
        (["ask", "nowhere", "who?", "-k", "0"], "-k 0 is no number of results"),
        (["serve", "nowhere", "--max-k", "0"], "--max-k 0 is no limit"),
        (["serve", "nowhere", "--deadline", "0"], "--deadline 0.0 is out of range"),
        (["index", ".", "-o", "new", "--max-document", "much"], "--max-document 'much' is no size"),
    ],
)
def test_commands_name_their_options(densephrases: Command, arguments: list[str], named: str) -> None:
    result = densephrases(*arguments)
    assert is_one_sentence(result)
    assert result.err.startswith(f"Error: {named}; ")
