"""What a segment stores of a document beside its text and its passages."""

import json
from dataclasses import dataclass
from typing import Any, Self

from densephrases.text.documents import SourceFile
from densephrases.text.layout import NO_LAYOUT, Layout


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document without its text; `metadata` has the entries of its file, where it has none of its own."""

    id: str
    title: str
    metadata: dict[str, Any]
    layout: Layout = NO_LAYOUT
    file: SourceFile | None = None

    @classmethod
    def from_json(cls, record: bytes) -> Self:
        """A list of id, title, metadata, layout and file; the last two are null or left out if there are none.

        Raises:
            ValueError, TypeError: No writer has written it.
        """
        identifier, title, metadata, *more = json.loads(record)
        layout = Layout.from_json(more[0]) if more and more[0] is not None else NO_LAYOUT
        file = SourceFile.from_list(more[1]) if len(more) > 1 else None
        return cls(identifier, title, metadata if file is None else {**file.metadata(), **metadata}, layout, file)
