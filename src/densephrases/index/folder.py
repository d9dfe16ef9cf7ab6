"""An index as a folder on disk: adding, replacing, deleting and merging documents, each step committed at once."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from densephrases.arrays import Mask
from densephrases.atomic_files import make_folder
from densephrases.errors import ConfigError, DataError, PhraseIndexError
from densephrases.index.build.builder import SegmentBuilder
from densephrases.index.build.merge import (
    Run,
    add_candidates,
    copy_runs,
    even_size,
    is_whole,
    largest_segment,
    plan_merge,
)
from densephrases.index.commits import Commits
from densephrases.index.disk_usage import DiskUsage
from densephrases.index.files.durable import full_disk_explained
from densephrases.index.files.lock import only_writer
from densephrases.index.info import IndexInfo
from densephrases.index.manifest import MANIFEST_FILE, Manifest, SegmentEntry
from densephrases.index.own_files import refuse_foreign
from densephrases.index.progress import Progress, ProgressCallback
from densephrases.index.segment.reader import Segment
from densephrases.index.settings import IndexSettings
from densephrases.index.snapshot import Snapshot, evenly_spread, problems
from densephrases.model.encoder import Encoder
from densephrases.quantize.codebooks import ProductQuantizer
from densephrases.text.documents import Document
from densephrases.text.readers.folders.roots import Roots, whole_path
from densephrases.version import __version__


class IndexFolder:
    """One writer and any number of readers; a reader sees the index as it was when opened or refreshed.

    Args:
        folder: Where the index is.
        pq: The model's product quantizer, if vectors are stored by it; None reads it from the model that the index
            names, when a vector is read.
        before: A snapshot whose open segments are shared.
    """

    def __init__(self, folder: Path, pq: ProductQuantizer | None = None, before: Snapshot | None = None) -> None:
        self.folder = folder
        self.product_quantizer = pq
        self._commits = Commits(folder, pq, before)

    @classmethod
    def create(cls, folder: Path, settings: IndexSettings, pq: ProductQuantizer | None = None) -> Self:
        """A new index, or an unfinished one of the same settings to be resumed."""
        if (folder / MANIFEST_FILE).is_file():
            return cls._resume(folder, settings, pq)
        refuse_foreign(folder)
        with full_disk_explained(folder):
            make_folder(folder)
            with only_writer(folder):
                if not (folder / MANIFEST_FILE).is_file():  # else another process was faster
                    Manifest(settings, __version__, building=True).save(folder)
        return cls._resume(folder, settings, pq)

    @classmethod
    def _resume(cls, folder: Path, settings: IndexSettings, pq: ProductQuantizer | None) -> Self:
        index = cls.open(folder, pq)
        if not index.manifest.building:
            raise PhraseIndexError(
                f"'{folder}' already holds an index of {index.documents} documents; add to it, update it, "
                "or give another folder."
            )
        if name := index.settings.first_difference(settings):
            raise PhraseIndexError(
                f"'{folder}' holds an unfinished index with {name}={getattr(index.settings, name)!r}, not "
                f"{getattr(settings, name)!r}; finish it with its own settings or give another folder."
            )
        return index

    @classmethod
    def open(cls, folder: Path, pq: ProductQuantizer | None = None) -> Self:
        """Open an index for reading and writing.

        Raises:
            PhraseIndexError: It is no index, or a file is missing, of another size than was written, or a link.
        """
        return cls(folder, pq)

    def refresh(self) -> None:
        """See what others have written since."""
        self._commits.refresh()

    def reopened(self) -> Self:
        """The folder as it is now, beside this one, which stays as it is; segments that are still there are shared."""
        return type(self)(self.folder, self.product_quantizer, self.snapshot)

    @property
    def snapshot(self) -> Snapshot:
        """What is seen now; it stays the same when the index changes."""
        return self._commits.snapshot

    @property
    def manifest(self) -> Manifest:
        return self.snapshot.manifest

    @property
    def settings(self) -> IndexSettings:
        return self.manifest.settings

    @property
    def segments(self) -> list[Segment]:
        return self.snapshot.segments

    @property
    def deleted(self) -> list[Mask | None]:
        """For each segment the documents that are deleted, None if none is."""
        return self.snapshot.deleted

    @property
    def documents(self) -> int:
        return sum(entry.documents - entry.deleted for entry in self.manifest.segments)

    @property
    def vectors(self) -> int:
        return sum(entry.vectors for entry in self.manifest.segments)

    def info(self) -> IndexInfo:
        return IndexInfo.from_manifest(self.manifest)

    def disk_usage(self) -> DiskUsage:
        snapshot = self.snapshot
        return DiskUsage.from_segments(snapshot.manifest.segments, snapshot.segments)

    def find(self, identifier: str) -> Document | None:
        """The document with this id."""
        snapshot = self.snapshot  # another thread may replace it
        place = snapshot.locate([identifier]).get(identifier)
        return None if place is None else snapshot.segments[place.segment].document(place.document)

    def sample(self, count: int) -> Iterator[Document]:
        """At most `count` documents at equal distances in the index, without deleted ones."""
        snapshot = self.snapshot
        stored = sum(segment.documents for segment in snapshot.segments)
        return snapshot.documents_at(evenly_spread(stored, count))

    def check(self) -> list[str]:
        """Read every file of the index as it is on disk now; a sentence for each that is not what was written."""
        return problems(self.folder)

    def add(
        self, documents: Iterable[Document], encoder: Encoder, progress: ProgressCallback | None = None
    ) -> Progress:
        """Add documents. Those that are there already are passed over, so that a stopped run can be repeated.

        An id that is there with another content is refused: see `update`.
        """
        return self._build(documents, encoder, progress, replacing=False)

    def update(
        self,
        documents: Iterable[Document],
        encoder: Encoder,
        progress: ProgressCallback | None = None,
        *,
        replace_others: bool = False,
    ) -> Progress:
        """Add documents, replacing those whose content has changed.

        A file that would replace a document of another root, or one that came from no known file, is refused unless
        `replace_others`.
        """
        return self._build(documents, encoder, progress, replacing=True, replace_others=replace_others)

    def delete(self, ids: Iterable[str]) -> int:
        """Delete documents; if one of them is not there, none is deleted."""
        wanted = sorted(set(ids))
        with self._writing():
            found = self.snapshot.locate(wanted)
            if unknown := [identifier for identifier in wanted if identifier not in found]:
                raise DataError(
                    f"The index has no document with id {', '.join(map(repr, unknown[:3]))}"
                    f"{' and others' if len(unknown) > 3 else ''}; nothing was deleted."
                )
            self._commits.commit((), list(found.values()), building=self.manifest.building)
        return len(wanted)

    @property
    def roots(self) -> Roots:
        """The folders that documents came from."""
        return Roots.from_recorded(self.manifest.roots)

    def move_root(self, name: str, folder: Path) -> None:
        """Record that a folder from which the index has documents is now elsewhere."""
        with self._writing():
            root = self.roots.named(name)
            if root is None:
                known = ", ".join(sorted(self.manifest.roots)) or "none"
                raise DataError(f"The index has no root '{name}'; it has {known}.")
            self._commits.new_roots[name] = {"folder": str(whole_path(folder)), "prefix": root.prefix}
            self._commits.save(self.manifest.segments, building=self.manifest.building)

    def optimize(self, segments: int = 1) -> None:
        """Merge all segments and leave out what is deleted, and parts of documents that a stopped build has left.

        Args:
            segments: How many there shall be at least, of about as many vectors, if there are documents enough.
        """
        if segments < 1:
            raise ConfigError(f"segments={segments} is no number of segments; expected at least 1.")
        with self._writing(keep_previous=False):
            self._merge(0, renew=True, least=segments)

    def _build(
        self,
        documents: Iterable[Document],
        encoder: Encoder,
        progress: ProgressCallback | None,
        *,
        replacing: bool,
        replace_others: bool = False,
    ) -> Progress:
        self.settings.refuse_other_model(encoder)
        self.settings.refuse_other_limits(encoder)
        with self._writing():
            report = progress or (lambda _: None)
            builder = SegmentBuilder(self._commits, encoder, report, replacing=replacing, replace_others=replace_others)
            builder.run(documents)
            self._merge(self._first_merged())
            return builder.finished()

    @contextmanager
    def _writing(self, *, keep_previous: bool = True) -> Iterator[None]:
        """What is committed is kept whatever happens, and what is not is removed.

        Files of the former state stay until the next write, so that who is just opening it finds them, except for
        those of an unfinished build.
        """
        with full_disk_explained(self.folder), only_writer(self.folder):
            self._commits.begin()
            before = self.manifest
            try:
                yield
            except BaseException:
                self._commits.remove_uncommitted(before)
                raise
            self._commits.remove_merged(*([before] if keep_previous and not before.building else []))

    def _first_merged(self) -> int:
        """Partial segments are merged, and earlier ones that are not larger than these together.

        So the number of segments stays small.
        """
        entries = self.manifest.segments
        first = next((i for i, entry in enumerate(entries) if entry.partial), len(entries))
        vectors = sum(entry.vectors for entry in entries[first:])
        if vectors == 0 and first == len(entries):
            return first
        while first > 0 and entries[first - 1].vectors <= min(vectors, largest_segment(self.settings.dim) // 2):
            first -= 1
            vectors += entries[first].vectors
        return first

    def _merge(self, first: int, *, renew: bool = False, least: int = 1) -> None:
        """Merge the segments from `first` on and finish the build; `renew` copies those of earlier versions too.

        There are `least` segments at least, if there are documents enough.
        """
        segments, deleted = self.segments[first:], self.deleted[first:]
        most = min(largest_segment(self.settings.dim), even_size(segments, deleted, least))
        outputs = plan_merge(segments, deleted, most)
        merged = [self._merged(runs, renew=renew) for runs in outputs]
        unfinished = () if renew else None
        self._commits.save([*self.manifest.segments[:first], *merged], building=False, unfinished=unfinished)

    def _merged(self, runs: list[Run], *, renew: bool) -> SegmentEntry:
        segment = runs[0].segment
        if not is_whole(runs) or (renew and not segment.has_block_checksums):
            folder = self._commits.new_segment_folder()
            segment = Segment(folder, copy_runs(runs, folder), self.settings, self.product_quantizer)
        elif not segment.entry.partial:
            return segment.entry
        return add_candidates(segment, self.settings.candidates)
