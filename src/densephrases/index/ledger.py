"""What is true of an index on disk, and how it changes: new files first, then a manifest that names them."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from densephrases.index.disk import HashedFile
from densephrases.index.manifest import DELETED_FOLDER, SEGMENTS_FOLDER, Manifest, SegmentEntry
from densephrases.index.merge import Mask
from densephrases.index.snapshot import Place, Snapshot, marks_of
from densephrases.model.code import VectorCode


class Ledger:
    """The last manifest that was seen or written, opened."""

    def __init__(self, folder: Path, code: VectorCode | None = None, before: Snapshot | None = None) -> None:
        self.folder = folder
        self.code = code
        self.snapshot = Snapshot(folder, Manifest.load(folder), code, before)

    @property
    def manifest(self) -> Manifest:
        return self.snapshot.manifest

    def refresh(self) -> None:
        """See what others have written since."""
        self._see(Manifest.load(self.folder))

    def new_segment_folder(self) -> Path:
        """A place for a segment. Until a manifest names it, it is left-over."""
        name, manifest = self.manifest.numbered()
        self._see(manifest)
        return self.folder / SEGMENTS_FOLDER / name

    def commit(self, added: tuple[SegmentEntry, ...], deleted: list[Place], *, building: bool) -> None:
        """New segments and deletion marks become true together."""
        self.save([*self._marked(deleted), *added], building=building)

    def save(self, entries: Sequence[SegmentEntry], *, building: bool) -> None:
        manifest = self.manifest.with_segments(tuple(entries), building=building)
        manifest.save(self.folder)
        self._see(manifest)

    def _see(self, manifest: Manifest) -> None:
        self.snapshot = Snapshot(self.folder, manifest, self.code, self.snapshot)

    def _marked(self, places: list[Place]) -> list[SegmentEntry]:
        """The segments' entries with some more documents deleted."""
        entries = list(self.manifest.segments)
        for number in sorted({place.segment for place in places}):
            old = self.snapshot.deleted[number]
            mask = np.zeros(entries[number].documents, dtype=bool) if old is None else old.copy()
            mask[[place.document for place in places if place.segment == number]] = True
            entries[number] = self._write_marks(entries[number], mask)
        return entries

    def _write_marks(self, entry: SegmentEntry, mask: Mask) -> SegmentEntry:
        name, manifest = self.manifest.numbered()
        self._see(manifest)
        file = HashedFile(self.folder / DELETED_FOLDER / f"{name}.bin")
        try:
            file.write(marks_of(mask))
            written = file.finish()
        except OSError:
            file.abandon()
            raise
        return replace(entry, deleted=int(mask.sum()), deleted_file=f"{name}.bin", deleted_entry=written)

    def remove_unnamed(self) -> None:
        """What a killed run, or a merge, has left behind."""
        segments = {entry.name: entry for entry in self.manifest.segments}
        for folder in (self.folder / SEGMENTS_FOLDER).iterdir():
            if folder.name not in segments:
                shutil.rmtree(folder)
                continue
            for file in folder.iterdir():
                if file.name not in segments[folder.name].files:
                    file.unlink()
        kept = {entry.deleted_file for entry in segments.values()}
        for file in (self.folder / DELETED_FOLDER).iterdir():
            if file.name not in kept:
                file.unlink()
