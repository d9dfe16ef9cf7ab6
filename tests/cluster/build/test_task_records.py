"""Records of tasks come back from the disk, and what they skipped is told as if it had been read here."""

import pytest

from densephrases.cluster.build.task_records import TaskRecord, summed
from densephrases.errors import StorageError
from densephrases.index.manifest import Manifest
from densephrases.index.progress import Progress
from densephrases.text.documents import Skipped
from densephrases.text.readers.folders.read_report import ReadReport

from .corpus import plain_index


def test_a_record_comes_back_from_the_disk() -> None:
    manifest = Manifest.load(plain_index())
    skipped = (Skipped("a.txt", "has no text.", "empty"), Skipped("b.raw", "is binary.", "not text"))
    progress = Progress(documents=5, tokens=7, seconds=1.5)
    record = TaskRecord(
        task=3, folder="x", segments=manifest.segments, roots=manifest.roots, progress=progress, skipped=skipped
    )
    assert TaskRecord.from_json(record.to_json(), "x") == record
    report = ReadReport()
    record.tell(report)
    assert (report.documents, report.empty, report.skipped, report.examples) == (5, 1, 1, [skipped[1]])


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"segments": []}'])
def test_a_damaged_record(content: bytes) -> None:
    with pytest.raises(StorageError, match=r"'records/1' is damaged .*; give --restart"):
        TaskRecord.from_json(content, "records/1")


def test_sums() -> None:
    one, other = Progress(documents=1, tokens=5, seconds=2), Progress(documents=2, vectors=3, seconds=1)
    assert summed([one, other]) == Progress(documents=3, tokens=5, vectors=3, seconds=2)
    assert summed([]) == Progress()
