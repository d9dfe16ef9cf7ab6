"""How an index changes: new files are written first, then a manifest that names them replaces the last one."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from densephrases.arrays import Mask
from densephrases.index.files.durable import HashedFile
from densephrases.index.manifest import DELETED_FOLDER, SEGMENTS_FOLDER, Manifest, SegmentEntry
from densephrases.index.own_files import remove_unnamed
from densephrases.index.snapshot import DocumentLocation, Snapshot, deletion_marks
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
        """A new folder for a segment. Until a manifest names it, the next writer removes it."""
        return self._new_path(SEGMENTS_FOLDER)

    def _new_path(self, parent: str, suffix: str = "") -> Path:
        """A name that neither the index nor anyone else has used."""
        while True:
            name, manifest = self.manifest.numbered()
            self._see(manifest)
            path = self.folder / parent / f"{name}{suffix}"
            if not os.path.lexists(path):
                return path

    def commit(self, added: tuple[SegmentEntry, ...], deleted: list[DocumentLocation], *, building: bool) -> None:
        """Add segments and mark documents as deleted, in one step."""
        self.save([*self._marked(deleted), *added], building=building)

    def save(self, entries: Sequence[SegmentEntry], *, building: bool) -> None:
        manifest = self.manifest.with_segments(tuple(entries), building=building)
        manifest.save(self.folder)
        self._see(manifest)

    def _see(self, manifest: Manifest) -> None:
        self.snapshot = Snapshot(self.folder, manifest, self.product_quantizer, self.snapshot)

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
        path.parent.mkdir(exist_ok=True)
        file = HashedFile(path)
        try:
            file.write(deletion_marks(mask))
            written = file.finish()
        except OSError:
            file.abandon()
            raise
        return replace(entry, deleted=int(mask.sum()), deleted_file=path.name, deleted_entry=written)

    def remove_unnamed(self) -> None:
        """Remove what a killed run, or a merge, has left behind."""
        remove_unnamed(self.folder, self.manifest)
