"""Ids that documents of several tasks share: found by hashes of all ids, then by the ids themselves."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from densephrases.errors import DataError
from densephrases.index.segment.document_record import DocumentRecord


class Hashed(NamedTuple):
    """A document by its number in a segment."""

    segment: int
    document: int


def refuse_duplicates(hashes: Sequence[NDArray[np.uint64]], record_of: Callable[[Hashed], DocumentRecord]) -> None:
    """Raise DataError if two documents have one id.

    Args:
        hashes: Of the ids of each segment, in the order of its documents; 8 bytes a document are all in memory.
        record_of: Reads a document whose hash occurs twice.
    """
    joined = np.sort(np.concatenate([np.zeros(0, dtype=np.uint64), *hashes]))
    twice = np.unique(joined[1:][joined[1:] == joined[:-1]])
    if len(twice) == 0:
        return
    seen: dict[str, DocumentRecord] = {}
    for number, each in enumerate(hashes):
        for document in np.flatnonzero(np.isin(each, twice)).tolist():
            record = record_of(Hashed(number, document))
            if record.id in seen:
                raise _shared(seen[record.id], record)
            seen[record.id] = record


def _shared(first: DocumentRecord, second: DocumentRecord) -> DataError:
    files = [record.file.path for record in (first, second) if record.file is not None]
    where = ""
    if len(files) == 2:
        where = f" (both in '{files[0]}')" if files[0] == files[1] else f" (in '{files[0]}' and in '{files[1]}')"
    return DataError(f"Two documents have the id {first.id!r}{where}; every document needs an id of its own.")
