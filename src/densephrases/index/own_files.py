"""Which names in an index folder are ours. Only these are ever removed, and no symbolic link is followed."""

import re
from collections.abc import Iterator
from pathlib import Path

from densephrases.atomic_files import new_path
from densephrases.errors import PhraseIndexError
from densephrases.index.candidates.ivf_file import INVERTED_FILES
from densephrases.index.files.lock import LOCK_FILE
from densephrases.index.manifest import DELETED_FOLDER, MANIFEST_FILE, SEGMENTS_FOLDER, Manifest
from densephrases.index.segment.files import FORMER_FILES, SEGMENT_FILES

_SEGMENT = re.compile(r"\d{6,}")
_DELETED = re.compile(r"\d{6,}\.bin")
_NEW_MANIFEST = re.compile(rb'(\{(\n "settings": \{.*)?)?', re.DOTALL)
_UNFINISHED = {  # what a killed creation of an index leaves behind, and the content by which it is recognised
    LOCK_FILE: re.compile(rb"\d*\n?"),
    new_path(Path(MANIFEST_FILE)).name: _NEW_MANIFEST,
    "manifest.new": _NEW_MANIFEST,  # of version 0.1
}


def refuse_foreign(folder: Path) -> None:
    """Refuse to create an index among files of others."""
    if folder.exists() and not folder.is_dir():
        raise PhraseIndexError(f"'{folder}' is a file; give a new or empty folder for the index.")
    if folder.is_dir() and (others := [path.name for path in folder.iterdir() if not _is_unfinished(path)]):
        raise PhraseIndexError(
            f"'{folder}' is no index and is not empty: it holds '{min(others)}'; give a new or empty folder."
        )


def _is_unfinished(path: Path) -> bool:
    begins = _UNFINISHED.get(path.name)
    return begins is not None and path.is_file() and not path.is_symlink() and bool(begins.fullmatch(path.read_bytes()))


def refuse_links(folder: Path, manifest: Manifest) -> None:
    """A link would let a write change, and a read show, files outside the index."""
    places = [SEGMENTS_FOLDER, DELETED_FOLDER, *(f"{SEGMENTS_FOLDER}/{entry.name}" for entry in manifest.segments)]
    files = [name for entry in manifest.segments for name, _ in entry.paths()]
    if link := next((name for name in [*places, *files] if (folder / name).is_symlink()), None):
        raise PhraseIndexError(
            f"'{folder / link}' is a symbolic link, and an index follows none; "
            "put what it points to in its place, or move the index folder as a whole."
        )


def remove_unnamed(folder: Path, manifest: Manifest) -> None:
    """Remove what a killed run, or a merge, has left behind; files with other names than ours stay."""
    named = {name for entry in manifest.segments for name, _ in entry.paths()}
    for segment in _entries(folder / SEGMENTS_FOLDER, _SEGMENT):
        for name in (*SEGMENT_FILES, *FORMER_FILES.values(), *INVERTED_FILES):
            if f"{SEGMENTS_FOLDER}/{segment.name}/{name}" not in named:
                (segment / name).unlink(missing_ok=True)
        if not any(segment.iterdir()):
            segment.rmdir()
    for marks in _entries(folder / DELETED_FOLDER, _DELETED):
        if f"{DELETED_FOLDER}/{marks.name}" not in named:
            marks.unlink()


def _entries(folder: Path, pattern: re.Pattern[str]) -> Iterator[Path]:
    """Those with names of ours, listed before any is removed."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        is_ours = path.is_dir() if pattern is _SEGMENT else path.is_file()
        if pattern.fullmatch(path.name) and is_ours and not path.is_symlink():
            yield path
