"""How far a build is."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a build is. Documents that were in the index already, with the same content, count as unchanged."""

    documents: int = 0
    unchanged: int = 0
    replaced: int = 0
    passages: int = 0
    tokens: int = 0
    rows: int = 0
    characters: int = 0
    seconds: float = 0.0


ProgressCallback = Callable[[Progress], None]
