"""Progress of a build."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts of a build so far.

    Attributes:
        documents: Added, replaced ones included.
        unchanged: Already in the index with the same content.
        tokens: Of all passages, whether the filter kept them or not.
        vectors: Tokens that the filter kept.
        characters: Of the texts that are encoded.
        unfinished: Characters of a long document that are encoded, while it is not complete.
    """

    documents: int = 0
    unchanged: int = 0
    replaced: int = 0
    passages: int = 0
    tokens: int = 0
    vectors: int = 0
    characters: int = 0
    seconds: float = 0.0
    unfinished: int = 0


ProgressCallback = Callable[[Progress], None]
