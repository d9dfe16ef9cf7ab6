"""What an attack found."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """A promise, how often it was attacked, and a sentence for each time that it broke.

    Every attack is a function `attack(cases, seed, folder)` in a module of its own; `cases` is the least number of
    attacks, and `folder` is empty and its own.
    """

    promise: str
    cases: int
    failures: tuple[str, ...] = ()
