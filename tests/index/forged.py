"""Indexes in which someone has changed a file and all that vouches for it."""

from dataclasses import replace
from pathlib import Path

from densephrases.index.candidates.ivf_file import CANDIDATE_CHECKSUMS_FILE, INVERTED_FILES
from densephrases.index.files.checked import write_block_checksums
from densephrases.index.files.durable import HashedFile
from densephrases.index.manifest import SEGMENTS_FOLDER, Manifest, SegmentEntry
from densephrases.index.segment.files import CHECKSUMS_FILE


def forge(folder: Path, name: str, content: bytes, segment: int = 0) -> None:
    """Replace a file of a segment, its checksums, and the manifest."""
    manifest = Manifest.load(folder)
    entry = manifest.segments[segment]
    path = folder / SEGMENTS_FOLDER / entry.name / name
    path.write_bytes(content)
    segments = list(manifest.segments)
    segments[segment] = vouched(folder, entry)
    replace(manifest, segments=tuple(segments)).save(folder)


def without_block_checksums(folder: Path) -> None:
    """As an earlier version would have written it."""
    manifest = Manifest.load(folder)
    sums = (CHECKSUMS_FILE, CANDIDATE_CHECKSUMS_FILE)
    segments = [
        replace(entry, files={name: file for name, file in entry.files.items() if name not in sums})
        for entry in manifest.segments
    ]
    replace(manifest, segments=tuple(segments)).save(folder)


def vouched(folder: Path, entry: SegmentEntry) -> SegmentEntry:
    """The entry of a segment as its files are now, with new checksums of their blocks."""
    place = folder / SEGMENTS_FOLDER / entry.name
    sums = {CHECKSUMS_FILE: entry.files.keys() - {*INVERTED_FILES}, CANDIDATE_CHECKSUMS_FILE: {*INVERTED_FILES}}
    files = {}
    for own, names in sums.items():
        checksums = {}
        for name in sorted((names & entry.files.keys()) - {own}):
            data = (place / name).read_bytes()
            file = HashedFile(place / name)
            file.write(data)
            files[name], checksums[name] = file.finish(), file.checksums
        if own in entry.files:
            files[own] = write_block_checksums(place / own, checksums)
    return replace(entry, files=files)
