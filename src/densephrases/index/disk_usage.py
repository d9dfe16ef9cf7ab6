"""Bytes of an index on disk, by purpose."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from densephrases.index.candidates.ivf_file import INVERTED_FILES
from densephrases.index.manifest import SegmentEntry
from densephrases.index.segment.files import (
    CENTROIDS_FILE,
    CHECKSUMS_FILE,
    CURRENT_FILES,
    QUANTIZER_FILE,
    RECORDS_FILE,
    TEXT_FILE,
    VECTORS_FILE,
    array_file,
)
from densephrases.index.segment.metadata_index import METADATA_ARRAYS
from densephrases.index.segment.passage_terms import COUNTS_FILE, TERM_ARRAYS
from densephrases.index.segment.reader import Segment
from densephrases.index.segment.token_offsets import TOKEN_OFFSET_ARRAYS

_PURPOSES = {
    "vectors": (VECTORS_FILE, CENTROIDS_FILE, QUANTIZER_FILE),
    "candidates": INVERTED_FILES,
    "tokens": tuple(map(array_file, TOKEN_OFFSET_ARRAYS)),
    "words": (*map(array_file, TERM_ARRAYS), COUNTS_FILE),
    "metadata": tuple(map(array_file, METADATA_ARRAYS)),
    "text": (TEXT_FILE, array_file("text_blocks")),
    "checksums": (CHECKSUMS_FILE,),
    "passages": tuple(
        array_file(name)
        for name in (
            "passage_documents",
            "passage_offsets",
            "passage_bytes",
            "passage_lengths",
            "passage_tokens",
            "vector_edges",
        )
    ),
}


@dataclass(frozen=True, slots=True)
class DiskUsage:
    """Bytes by purpose; those of deleted documents are included until the index is optimised.

    Attributes:
        tokens: Of all passages, whether the filter kept them or not.
        vectors: Tokens that the filter kept.
        purposes: `vectors` for scores, `candidates` for the search, `tokens` for the offsets of kept tokens, `words`
            for lexical overlap, `metadata` for filters, `passages` and `documents` for their boundaries, titles, ids
            and metadata, `text`, `checksums` of blocks, and `deleted` for deletion marks.
    """

    tokens: int
    vectors: int
    purposes: dict[str, int]

    @classmethod
    def from_segments(cls, entries: Sequence[SegmentEntry], segments: Sequence[Segment]) -> Self:
        """Of opened segments and their entries in the manifest, which know of deletions since."""
        purposes = dict.fromkeys([*_PURPOSES, "documents", "deleted"], 0)
        for entry in entries:
            for name, file in entry.files.items():
                purposes[_purpose(name)] += file.size
            purposes["deleted"] += 0 if entry.deleted_entry is None else entry.deleted_entry.size
        tokens = sum(int(segment.array("passage_tokens").sum(dtype="int64")) for segment in segments)
        return cls(tokens, sum(entry.vectors for entry in entries), purposes)

    @property
    def bytes(self) -> int:
        return sum(self.purposes.values())

    @property
    def bytes_per_token(self) -> float:
        """For each token of the text, kept or not."""
        return self.bytes / max(self.tokens, 1)


def _purpose(file: str) -> str:
    current = CURRENT_FILES.get(file, file)
    for purpose, files in _PURPOSES.items():
        if current in files:
            return purpose
    assert current == RECORDS_FILE or current.endswith(array_file(""))
    return "documents"
