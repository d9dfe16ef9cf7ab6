"""How an index changes: new files are written first, then a manifest that names them replaces the last one."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import TypeVar

import numpy as np

from densephrases.arrays import Mask
from densephrases.atomic_files import sync_folder
from densephrases.errors import PhraseIndexError
from densephrases.index.files.durable import HashedFile
from densephrases.index.manifest import DELETED_FOLDER, SEGMENTS_FOLDER, DocumentPart, Manifest, SegmentEntry
from densephrases.index.own_files import refuse_links, remove_unnamed
from densephrases.index.snapshot import DocumentLocation, Snapshot, deletion_marks
from densephrases.quantize.codebooks import ProductQuantizer

_ATTEMPTS = 100
T = TypeVar("T")


def with_newest(folder: Path, use: Callable[[Manifest], T]) -> T:
    """What `use` makes of the manifest.

    A writer may replace the manifest and remove files of the former one while it is used: then the new one is used.
    Only what fails with a manifest that is still in place is damaged.
    """
    manifest = Manifest.load(folder)
    for _ in range(_ATTEMPTS):
        try:
            return use(manifest)
        except PhraseIndexError:
            newer = Manifest.load(folder)
            if newer == manifest:
                raise
            manifest = newer
    return use(manifest)


class Commits:
    """The last manifest that was seen or written, opened. One thread may write while others read and refresh."""

    def __init__(self, folder: Path, pq: ProductQuantizer | None = None, before: Snapshot | None = None) -> None:
        self.folder = folder
        self.product_quantizer = pq
        self._next_number = 1
        self.new_roots: dict[str, dict[str, str]] = {}
        """Of the documents that are being added; the next commit records them."""
        self._lock = Lock()  # a state that was read before a commit must not replace it
        self.snapshot = self._newest(before)

    @property
    def manifest(self) -> Manifest:
        return self.snapshot.manifest

    def refresh(self) -> None:
        """See what others have written since."""
        with self._lock:
            self.snapshot = self._newest(self.snapshot)

    def _newest(self, before: Snapshot | None) -> Snapshot:
        return with_newest(self.folder, lambda manifest: self._opened(manifest, before))

    def _opened(self, manifest: Manifest, before: Snapshot | None) -> Snapshot:
        refuse_links(self.folder, manifest)
        if before is not None and before.manifest == manifest:
            return before
        return Snapshot(self.folder, manifest, self.product_quantizer, before)

    def begin(self) -> None:
        """Before a write: see what others have written, and remove what writers that were killed have left behind.

        One of them may have been killed before its manifest was lasting; what this one no longer names is removed only
        when no power loss can bring the former manifest back.
        """
        self.refresh()
        self.new_roots = {}
        for place in (SEGMENTS_FOLDER, DELETED_FOLDER):
            (self.folder / place).mkdir(exist_ok=True)
        sync_folder(self.folder)
        remove_unnamed(self.folder, self.manifest)

    def remove_uncommitted(self, before: Manifest) -> None:
        """After a write that failed. Its last commit may have been made or not, so what either manifest names stays."""
        with suppress(OSError, PhraseIndexError):
            remove_unnamed(self.folder, before, self.manifest, Manifest.load(self.folder))

    def remove_merged(self, *kept: Manifest) -> None:
        """After a write, remove what is no longer named, now or by manifests that others may be opening just now."""
        remove_unnamed(self.folder, self.manifest, *kept)

    def new_segment_folder(self) -> Path:
        """A new folder for a segment. Until a manifest names it, the next writer removes it."""
        return self._new_path(SEGMENTS_FOLDER)

    def _new_path(self, parent: str, suffix: str = "") -> Path:
        """A name that neither the index nor anyone else has used."""
        while True:
            number = max(self._next_number, self.manifest.next_number)
            self._next_number = number + 1
            path = self.folder / parent / f"{number:06d}{suffix}"
            if not os.path.lexists(path):
                return path

    def commit(
        self,
        added: tuple[SegmentEntry, ...],
        deleted: list[DocumentLocation],
        *,
        building: bool,
        unfinished: tuple[DocumentPart, ...] | None = None,
    ) -> None:
        """Add segments and mark documents as deleted, in one step."""
        self.save([*self._marked(deleted), *added], building=building, unfinished=unfinished)

    def save(
        self,
        entries: Sequence[SegmentEntry],
        *,
        building: bool,
        unfinished: tuple[DocumentPart, ...] | None = None,
    ) -> None:
        """Replace the manifest when all that the new one names is open and lasting.

        `unfinished` are the parts of documents that are not complete; None keeps those that there are.
        """
        with self._lock:
            parts = self.manifest.unfinished if unfinished is None else unfinished
            manifest = self.manifest.with_segments(
                tuple(entries), self._next_number, building=building, unfinished=parts
            )
            manifest = replace(manifest, roots=manifest.roots | self.new_roots)
            snapshot = self._opened(manifest, self.snapshot)
            for folder in self._changed_folders(manifest):
                sync_folder(folder)
            manifest.save(self.folder)
            self.snapshot = snapshot

    def _changed_folders(self, manifest: Manifest) -> list[Path]:
        """Those with files that only the new manifest names, and those that these are in."""
        new = manifest.files().keys() - self.manifest.files().keys()
        inside = {folder for name in new for folder in PurePosixPath(name).parents[:-1]}
        return [self.folder / folder for folder in sorted(inside, reverse=True)]

    def _marked(self, locations: list[DocumentLocation]) -> list[SegmentEntry]:
        """The segments' entries with some more documents deleted."""
        entries = list(self.manifest.segments)
        for number in sorted({location.segment for location in locations}):
            old = self.snapshot.deleted[number]
            mask = np.zeros(entries[number].documents, dtype=bool) if old is None else old.copy()
            mask[[location.document for location in locations if location.segment == number]] = True
            entries[number] = self._write_marks(entries[number], mask)
        return entries

    def _write_marks(self, entry: SegmentEntry, mask: Mask) -> SegmentEntry:
        path = self._new_path(DELETED_FOLDER, ".bin")
        file = HashedFile(path)
        try:
            file.write(deletion_marks(mask))
            written = file.finish()
        except BaseException:
            file.abandon()
            raise
        return replace(entry, deleted=int(mask.sum()), deleted_file=path.name, deleted_entry=written)
