"""What an encoder has made of a task: a small file, written last, without which nothing of it counts."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from densephrases.errors import StorageError
from densephrases.index.manifest import SegmentEntry
from densephrases.index.progress import Progress
from densephrases.text.documents import Skipped
from densephrases.text.readers.folders.read_report import EMPTY, ReadReport


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRecord:
    """Of one attempt at a task.

    Attributes:
        folder: Name of the attempt, below which its segments are.
        segments: Partial segments, in the order of their documents.
        roots: Folders of documents, as a manifest keeps them.
        progress: What was encoded.
        skipped: Files and records that cannot be read or have no text.
    """

    task: int
    folder: str
    segments: tuple[SegmentEntry, ...]
    roots: dict[str, dict[str, str]]
    progress: Progress
    skipped: tuple[Skipped, ...] = ()

    def to_json(self) -> bytes:
        return json.dumps(asdict(self), separators=(",", ":")).encode()

    @classmethod
    def from_json(cls, content: bytes, shown: str) -> Self:
        try:
            values: dict[str, Any] = json.loads(content)
            segments = tuple(SegmentEntry.from_values(each) for each in values.pop("segments"))
            progress = Progress(**values.pop("progress"))
            skipped = tuple(Skipped(**each) for each in values.pop("skipped"))
            return cls(segments=segments, progress=progress, skipped=skipped, **values)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise StorageError(f"'{shown}' is damaged ({error}); give --restart to begin the build again.") from error

    def tell(self, report: ReadReport) -> None:
        """As if the task had been read here."""
        report.documents += self.progress.documents
        for each in self.skipped:
            if each.kind == EMPTY:
                report.skip_empty(each.place)
            else:
                report.skip(each)


def summed(several: Sequence[Progress]) -> Progress:
    """Counts of all together; seconds are those of the longest."""
    names = ("documents", "unchanged", "replaced", "passages", "tokens", "vectors", "characters")
    sums = {name: sum(getattr(each, name) for each in several) for name in names}
    return Progress(**sums, seconds=max((each.seconds for each in several), default=0.0))
