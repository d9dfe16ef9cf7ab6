"""Which names in an index folder are ours. Only these are ever removed, and no symbolic link is followed."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from densephrases.atomic_files import new_path
from densephrases.errors import PhraseIndexError
from densephrases.index.candidates.ivf_file import INVERTED_FILES
from densephrases.index.files.lock import LOCK_FILE
from densephrases.index.fitted_confidence import CONFIDENCE_FILE
from densephrases.index.manifest import DELETED_FOLDER, MANIFEST_FILE, SEGMENTS_FOLDER, Manifest
from densephrases.index.segment.files import FORMER_FILES, SEGMENT_FILES

_SEGMENT = re.compile(r"\d{6,}")
_DELETED = re.compile(r"\d{6,}\.bin")
_LOCK = re.compile(rb"\d*\n?")
_MANIFEST = b'{\n "settings": {'


def refuse_foreign(folder: Path) -> None:
    """Refuse to create an index among files of others."""
    if folder.exists() and not folder.is_dir():
        raise PhraseIndexError(f"'{folder}' is a file; give a new or empty folder for the index.")
    if folder.is_dir() and (others := [path.name for path in folder.iterdir() if not _is_unfinished(path)]):
        raise PhraseIndexError(
            f"'{folder}' is no index and is not empty: it holds '{min(others)}'; give a new or empty folder."
        )


def _is_unfinished(path: Path) -> bool:
    """Whether an interrupted creation of an index left it behind, recognised by its name and content."""
    is_ours = _UNFINISHED.get(path.name)
    if is_ours is None or path.is_symlink() or not path.is_file():
        return False
    return is_ours(path.read_bytes().rstrip(b"\0"))  # a power loss leaves zeros in place of what was not synced


def _is_lock(content: bytes) -> bool:
    return bool(_LOCK.fullmatch(content))


def _is_manifest(content: bytes) -> bool:
    return content.startswith(_MANIFEST[: len(content)])


_UNFINISHED = {
    LOCK_FILE: _is_lock,
    new_path(Path(MANIFEST_FILE)).name: _is_manifest,
    "manifest.new": _is_manifest,  # of version 0.1
}


def refuse_links(folder: Path, manifest: Manifest) -> None:
    """A link would let a write change, and a read show, files outside the index."""
    entries = [*manifest.segments, *(part.segment for part in manifest.unfinished)]
    segments = [f"{SEGMENTS_FOLDER}/{entry.name}" for entry in entries]
    places = [MANIFEST_FILE, CONFIDENCE_FILE, SEGMENTS_FOLDER, DELETED_FOLDER, *segments]
    if link := next((name for name in [*places, *manifest.files()] if (folder / name).is_symlink()), None):
        raise PhraseIndexError(
            f"'{folder / link}' is a symbolic link, and an index follows none; "
            "put what it points to in its place, or move the index folder as a whole."
        )


def remove_unnamed(folder: Path, *kept: Manifest) -> None:
    """Remove what none of these manifests names; files with other names than ours stay.

    What cannot be removed, such as a file that a reader has open on Windows, is left to the next writer.
    """
    named = {name for manifest in kept for name in manifest.files()}
    for segment in _entries(folder / SEGMENTS_FOLDER, _SEGMENT):
        for name in (*SEGMENT_FILES, *FORMER_FILES.values(), *INVERTED_FILES):
            if f"{SEGMENTS_FOLDER}/{segment.name}/{name}" not in named:
                with suppress(OSError):
                    (segment / name).unlink()
        with suppress(OSError):  # it stays unless it is empty
            segment.rmdir()
    for marks in _entries(folder / DELETED_FOLDER, _DELETED):
        if f"{DELETED_FOLDER}/{marks.name}" not in named:
            with suppress(OSError):
                marks.unlink()


def _entries(folder: Path, pattern: re.Pattern[str]) -> Iterator[Path]:
    """Those with names of ours, listed before any is removed."""
    paths: list[Path] = []
    with suppress(OSError):
        paths = sorted(folder.iterdir())
    for path in paths:
        is_ours = path.is_dir() if pattern is _SEGMENT else path.is_file()
        if pattern.fullmatch(path.name) and is_ours and not path.is_symlink():
            yield path
