"""How a search in progress is ended: whoever works long calls a check, which raises what ends it."""

from collections.abc import Callable

Check = Callable[[], None]
"""Raises what ends a search, if it shall end."""


def go_on() -> None:
    """The check of a search that nothing ends."""
