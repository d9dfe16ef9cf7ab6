"""What an index takes on disk, by what the bytes are for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from densephrases.index.candidates.ivf_file import INVERTED_FILES
from densephrases.index.manifest import SegmentEntry
from densephrases.index.segment.passage_terms import COUNTS_FILE, TERM_ARRAYS
from densephrases.index.segment.reader import (
    CALIBRATION_FILE,
    MEANS_FILE,
    RECORDS_FILE,
    TEXT_FILE,
    VECTORS_FILE,
    Segment,
    array_file,
)
from densephrases.index.segment.token_offsets import TOKEN_OFFSET_ARRAYS

_PURPOSES = {
    "vectors": (VECTORS_FILE, MEANS_FILE, CALIBRATION_FILE),
    "candidates": INVERTED_FILES,
    "tokens": tuple(map(array_file, TOKEN_OFFSET_ARRAYS)),
    "words": (*map(array_file, TERM_ARRAYS), COUNTS_FILE),
    "text": (TEXT_FILE, array_file("text_blocks")),
}
_WHOLE_PASSAGES = "passage_"  # what the names of their arrays begin with


@dataclass(frozen=True, slots=True)
class Storage:
    """Bytes by purpose, of documents that are deleted too until the index is optimised.

    Attributes:
        tokens: Of all passages, whether the filter kept them or not.
        rows: The kept ones.
        parts: `vectors` for scores, `candidates` for the search, `tokens` says where kept tokens stand, `words` which
            passages have a word, `passages` and `documents` where these stand, with titles, ids and metadata; then the
            `text` itself and the marks of what is `deleted`.
    """

    tokens: int
    rows: int
    parts: dict[str, int]

    @classmethod
    def of(cls, entries: Sequence[SegmentEntry], segments: Sequence[Segment]) -> Self:
        """Of segments and what the manifest now says of them."""
        parts = dict.fromkeys([*_PURPOSES, "passages", "documents", "deleted"], 0)
        for entry in entries:
            for name, file in entry.files.items():
                parts[_purpose(name)] += file.size
            parts["deleted"] += 0 if entry.deleted_entry is None else entry.deleted_entry.size
        tokens = sum(int(segment.array("passage_tokens").sum(dtype="int64")) for segment in segments)
        return cls(tokens, sum(entry.rows for entry in entries), parts)

    @property
    def bytes(self) -> int:
        return sum(self.parts.values())

    @property
    def bytes_per_token(self) -> float:
        """Of the text, kept or not."""
        return self.bytes / max(self.tokens, 1)


def _purpose(file: str) -> str:
    for purpose, files in _PURPOSES.items():
        if file in files:
            return purpose
    assert file == RECORDS_FILE or file.endswith(array_file(""))
    return "passages" if file.startswith(_WHOLE_PASSAGES) else "documents"
