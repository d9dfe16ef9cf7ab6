"""What an index holds, in numbers. Free of faiss, so that a client of a service can read it."""

from dataclasses import dataclass

from densephrases.index.settings import IndexSettings


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """Counts of an index. Passages, vectors and bytes include deleted documents until the index is optimised.

    Attributes:
        vectors: Token vectors, one for each token that the filter kept.
    """

    settings: IndexSettings
    package_version: str
    building: bool
    segments: int
    documents: int
    deleted: int
    passages: int
    vectors: int
    bytes: int
