"""What the small arrays of a segment must satisfy, whoever wrote them: edges ascend, numbers refer to what exists.

A checksum says that an array is as it was written. This says that no reader can be led outside of another array by it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from densephrases.index.manifest import SegmentEntry
from densephrases.index.segment.files import ARRAYS, FORMER_FILES, RECORDS_FILE, TEXT_FILE, array_file

MOST_FREQUENT_EXTENTS = 255
_ASCENDING = ("id_hashes", "passage_bytes", "token_offset_steps", "rare_extent_vectors")


def expected_count(name: str, entry: SegmentEntry) -> int | None:
    """How many values an array must have; None if the manifest does not say."""
    counts = {
        "text_edges": entry.documents + 1,
        "record_edges": entry.documents + 1,
        "document_passages": entry.documents + 1,
        "digests": entry.documents,
        "id_hashes": entry.documents,
        "id_documents": entry.documents,
        "passage_documents": entry.passages,
        "passage_offsets": entry.passages,
        "passage_bytes": entry.passages,
        "passage_lengths": entry.passages,
        "passage_tokens": entry.passages,
        "vector_edges": entry.passages + 1,
        "term_edges": entry.passages + 1,
        "token_offset_lows": entry.vectors,
        "token_extents": entry.vectors,
        "rare_extents": _values("rare_extent_vectors", entry),
        "metadata_digests": _values("metadata_counts", entry, 2),
    }
    return counts.get(name)


def impossible(name: str, values: NDArray[Any], entry: SegmentEntry) -> str:
    """Why an array cannot be right; empty if it can."""
    ends = {
        "text_edges": None,
        "text_blocks": _size(TEXT_FILE, entry),
        "record_edges": _size(RECORDS_FILE, entry),
        "document_passages": entry.passages,
        "vector_edges": entry.vectors,
        "term_edges": _values("terms", entry),
    }
    limits = {
        "id_documents": entry.documents,
        "passage_documents": entry.documents,
        "token_offset_steps": entry.vectors + 1,
        "rare_extent_vectors": entry.vectors,
        "metadata_documents": entry.documents,
    }
    if name in ends:
        return _edges_problem(values, ends[name])
    if name in limits and len(values) and int(values.max()) >= limits[name]:
        return f"it holds {int(values.max())}, and {limits[name]} is too large"
    if name in _ASCENDING and not _ascends(values):
        return "its values do not ascend"
    if name == "id_documents" and len(np.unique(values)) < len(values):
        return "it names a document twice"
    if name == "metadata_counts" and int(values.sum(dtype=np.int64)) != _values("metadata_documents", entry):
        return "its counts are not those of the documents that are listed"
    if name == "frequent_extents" and len(values) > MOST_FREQUENT_EXTENTS:
        return f"it has {len(values)} values, at most {MOST_FREQUENT_EXTENTS} are possible"
    return ""


def _edges_problem(edges: NDArray[np.int64], end: int | None) -> str:
    if len(edges) == 0 or edges[0] != 0 or not _ascends(edges):
        return "its edges do not ascend from 0"
    if end is not None and edges[-1] != end:
        return f"its last edge is {int(edges[-1])}, expected {end}"
    return ""


def _ascends(values: NDArray[Any]) -> bool:
    return bool((values[1:] >= values[:-1]).all())


def _values(name: str, entry: SegmentEntry, for_each: int = 1) -> int | None:
    size = _size(array_file(name), entry)
    return None if size is None else size // np.dtype(ARRAYS[name]).itemsize * for_each


def _size(file: str, entry: SegmentEntry) -> int | None:
    found = entry.files.get(file) or entry.files.get(FORMER_FILES.get(file, file))
    return None if found is None else found.size
