"""What a reading did: counts, and everything that was skipped or left out, with reasons."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from densephrases.atomic_files import replacing
from densephrases.text.documents import Skipped

EMPTY = "empty"
_EXAMPLES = 100


@dataclass(slots=True)
class ReadReport:
    """Counts of what was read and skipped; the first hundred skipped items are kept with their reasons.

    Attributes:
        kinds: How often each kind of reason occurred, of files and records that were skipped or are empty.
        left_out: The same of files and folders below folders that are no documents.
        on_skip: Called with everything that is skipped, empty or left out.
    """

    documents: int = 0
    empty: int = 0  # files and records without any text
    skipped: int = 0  # files and records that cannot be read
    examples: list[Skipped] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    on_skip: Callable[[Skipped], None] | None = field(default=None, repr=False, compare=False)
    _finished: int = field(default=0, repr=False)  # bytes of the files that have been read
    _whole: int = field(default=0, repr=False)  # bytes of the one being read, if it is read at once
    _file: BinaryIO | None = field(default=None, repr=False, compare=False)  # the one being read

    @property
    def bytes(self) -> int:
        """How many bytes of the files have been read, see `text_bytes`."""
        if self._file is None:
            return self._finished + self._whole
        return self._finished + (0 if self._file.closed else self._file.tell())

    def begin(self, size: int) -> None:
        """Unless the file is opened to be read bit by bit, all of it is read with its first document."""
        self._whole = size

    def open(self, file: BinaryIO) -> None:
        self._file = file

    def finish(self, size: int) -> None:
        """All bytes of a file are read."""
        self._file, self._whole = None, 0
        self._finished += size

    def skip(self, skipped: Skipped) -> None:
        self.skipped += 1
        self.kinds[skipped.kind] += 1
        if len(self.examples) < _EXAMPLES:
            self.examples.append(skipped)
        self._tell(skipped)

    def skip_empty(self, place: str) -> None:
        self.empty += 1
        self.kinds[EMPTY] += 1
        self._tell(Skipped(place, "has no text.", EMPTY))

    def leave_out(self, place: str, kind: str) -> None:
        self.left_out[kind] += 1
        self._tell(Skipped(place, f"is left out: {kind}.", kind))

    def _tell(self, skipped: Skipped) -> None:
        if self.on_skip is not None:
            self.on_skip(skipped)


@contextmanager
def reporting(report: ReadReport, path: Path | None) -> Iterator[None]:
    """Write what is skipped to a file, also when reading fails: JSON lines if it is so called, else text with tabs."""
    if path is None:
        yield
        return
    failure: BaseException | None = None
    as_json = path.suffix.lower() in (".jsonl", ".ndjson", ".json")
    with replacing(path) as new, new.open("w", encoding="utf-8") as file:
        report.on_skip = lambda skipped: print_line(file.write, skipped, as_json=as_json)
        try:
            yield
        except BaseException as error:  # the file is kept, as `replacing` removes it if the body fails
            failure = error
        report.on_skip = None
    if failure is not None:
        raise failure


def print_line(write: Callable[[str], object], skipped: Skipped, *, as_json: bool) -> None:
    if as_json:
        write(json.dumps({"path": skipped.place, "kind": skipped.kind, "reason": skipped.reason}) + "\n")
    else:
        write("\t".join(" ".join(part.split()) for part in (skipped.place, skipped.kind, skipped.reason)) + "\n")
