"""The documents of an index one after the other, without their texts until these are asked for."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from densephrases.index.segment.reader import Segment
from densephrases.index.snapshot import Snapshot
from densephrases.search.filtering.filters import Filter
from densephrases.search.scoring.searchable import allowed_documents
from densephrases.text.documents import Document, SourceFile


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document of an index. `text` is read each time that it is asked for."""

    id: str
    title: str
    metadata: dict[str, Any]
    file: SourceFile | None
    _segment: Segment = field(repr=False, compare=False)
    _number: int = field(repr=False, compare=False)

    @property
    def text(self) -> str:
        return self._segment.text(self._number)

    def whole(self) -> Document:
        """With its text, as it can be added to another index."""
        return self._segment.document(self._number)


def stored_documents(index: Snapshot, wanted: Filter) -> Iterator[StoredDocument]:
    """In the order in which they were added; the index may change meanwhile, which is not seen."""
    for segment, deleted in zip(index.segments, index.deleted, strict=True):
        allowed = allowed_documents(segment, wanted, deleted)
        for number in range(segment.documents) if allowed is None else np.flatnonzero(allowed).tolist():
            record = segment.record(number)
            yield StoredDocument(record.id, record.title, record.metadata, record.file, segment, number)
