"""What is true of an index on disk, and how it changes: new files first, then a manifest that names them."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from densephrases.arrays import Mask
from densephrases.index.durable_files import HashedFile
from densephrases.index.manifest import DELETED_FOLDER, SEGMENTS_FOLDER, Manifest, SegmentEntry
from densephrases.index.own_files import remove_unnamed
from densephrases.index.snapshot import Place, Snapshot, marks_of
from densephrases.quantize.codebooks import ProductQuantizer


class Commits:
    """The last manifest that was seen or written, opened."""

    def __init__(self, folder: Path, pq: ProductQuantizer | None = None, before: Snapshot | None = None) -> None:
        self.folder = folder
        self.product_quantizer = pq
        self.snapshot = Snapshot(folder, Manifest.load(folder), pq, before)

    @property
    def manifest(self) -> Manifest:
        return self.snapshot.manifest

    def refresh(self) -> None:
        """See what others have written since."""
        self._see(Manifest.load(self.folder))

    def new_segment_folder(self) -> Path:
        """A place for a segment. Until a manifest names it, it is left-over."""
        return self._new_path(SEGMENTS_FOLDER)

    def _new_path(self, place: str, suffix: str = "") -> Path:
        """A name that neither we nor anyone else has used there."""
        while True:
            name, manifest = self.manifest.numbered()
            self._see(manifest)
            path = self.folder / place / f"{name}{suffix}"
            if not os.path.lexists(path):
                return path

    def commit(self, added: tuple[SegmentEntry, ...], deleted: list[Place], *, building: bool) -> None:
        """New segments and deletion marks become true together."""
        self.save([*self._marked(deleted), *added], building=building)

    def save(self, entries: Sequence[SegmentEntry], *, building: bool) -> None:
        manifest = self.manifest.with_segments(tuple(entries), building=building)
        manifest.save(self.folder)
        self._see(manifest)

    def _see(self, manifest: Manifest) -> None:
        self.snapshot = Snapshot(self.folder, manifest, self.product_quantizer, self.snapshot)

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
        path = self._new_path(DELETED_FOLDER, ".bin")
        path.parent.mkdir(exist_ok=True)
        file = HashedFile(path)
        try:
            file.write(marks_of(mask))
            written = file.finish()
        except OSError:
            file.abandon()
            raise
        return replace(entry, deleted=int(mask.sum()), deleted_file=path.name, deleted_entry=written)

    def remove_unnamed(self) -> None:
        """What a killed run, or a merge, has left behind."""
        remove_unnamed(self.folder, self.manifest)
