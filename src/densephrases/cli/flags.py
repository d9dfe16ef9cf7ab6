"""Errors that name the option: the library says `min_confidence=2`, whoever typed it wrote `--min-confidence 2`."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from densephrases.errors import ConfigError

_SETTING = re.compile(r"(\w+)=")


def with_flag(sentence: str, flags: Mapping[str, str]) -> str:
    """A sentence that begins with a setting and its value, with the setting named as on the command line."""
    found = _SETTING.match(sentence)
    if found is None or found[1] not in flags:
        return sentence
    return f"{flags[found[1]]} {sentence[found.end() :]}"


@contextmanager
def flags_named(flags: Mapping[str, str]) -> Iterator[None]:
    """For settings that have other names in the library than on the command line."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(with_flag(str(error), flags)) from error
