"""Documents that are as before, of files that are not: a file was touched, or a record is in another file now."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from densephrases.index.build.merge import Run, copy_runs
from densephrases.index.commits import Commits
from densephrases.index.segment.document_keys import PreparedDocument
from densephrases.index.segment.reader import Segment
from densephrases.index.snapshot import DocumentLocation


class TouchedDocuments:
    """Of one write. Their texts and vectors are copied with a new record of their file; nothing is encoded."""

    def __init__(self, commits: Commits) -> None:
        self._commits = commits
        self._records: dict[DocumentLocation, bytes] = {}

    def note(self, prepared: PreparedDocument, location: DocumentLocation) -> None:
        """Of a document of the same content. One of another root, or of no known file, stays what it is."""
        file = prepared.document.file
        if file is None:
            return
        stored = self._commits.snapshot.segments[location.segment].record(location.document).file
        if stored is not None and stored.root == file.root and stored != file:
            self._records[location] = prepared.record

    def commit(self) -> None:
        """The documents with their new records, in place of the former ones."""
        records, self._records = self._records, {}
        if not records:
            return
        runs = list(_runs(records, self._commits.snapshot.segments))
        entry = copy_runs(runs, self._commits.new_segment_folder(), partial=True)
        self._commits.commit((entry,), list(records), building=True)


def _runs(records: Mapping[DocumentLocation, bytes], segments: Sequence[Segment]) -> Iterator[Run]:
    """Consecutive documents together: copying many at once takes hardly longer than one."""
    places = enumerate(sorted(records))
    for _, group in groupby(places, lambda each: (each[1].segment, each[1].document - each[0])):
        run = [at for _, at in group]
        new = tuple(records[at] for at in run)
        yield Run(segments[run[0].segment], run[0].document, run[-1].document + 1, new)
