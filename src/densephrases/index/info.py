"""What an index holds, in numbers. Free of faiss, so that a client of a service can read it."""

from dataclasses import dataclass
from typing import Self

from densephrases.index.manifest import Manifest
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

    @classmethod
    def from_manifest(cls, manifest: Manifest) -> Self:
        entries = manifest.segments
        return cls(
            settings=manifest.settings,
            package_version=manifest.package_version,
            building=manifest.building,
            segments=len(entries),
            documents=sum(entry.documents - entry.deleted for entry in entries),
            deleted=sum(entry.deleted for entry in entries),
            passages=sum(entry.passages for entry in entries),
            vectors=sum(entry.vectors for entry in entries),
            bytes=sum(file.size for entry in entries for _, file in entry.paths()),
        )
