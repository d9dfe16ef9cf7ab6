"""A data set in a folder: each file downloaded if it is not there, verified, counted and converted."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from densephrases.atomic_files import make_folder, replace_file, sync_folder
from densephrases.data.download.catalog import DataSet, RemoteFile
from densephrases.data.download.convert import CONVERSIONS, VERSION, Converted
from densephrases.data.download.fetch import Progress, UnreachableError, fetch, forget_part, part_of, read_small
from densephrases.data.download.verify import Check, check, read_sums, sha256_of
from densephrases.data.files import read_questions
from densephrases.errors import DataError
from densephrases.json_input import read_json_file

CONVERTED_FILE = "converted.json"
_MOST_TO_COUNT = 1 << 27  # bytes; larger files are not read to count their questions
_TO_INDEX = (".xml.bz2", ".tsv.gz")

Watch = Callable[[RemoteFile], Progress]


@dataclass(frozen=True, slots=True)
class PresentFile:
    """A file that is there now.

    Attributes:
        check: What its checksum was compared with; None for files that were made here.
        downloaded: Whether this call downloaded it.
        made_of: Name of the file that it was converted from.
        notes: Sentences about its content.
    """

    path: Path
    bytes: int
    sha256: str
    check: Check | None
    downloaded: bool = False
    made_of: str | None = None
    notes: tuple[str, ...] = field(default=())


def get_data_set(
    data_set: DataSet,
    folder: Path,
    only: Sequence[str] = (),
    *,
    watch: Watch = lambda file: lambda done, total: None,
    accept_changed: bool = False,
) -> Iterator[PresentFile]:
    """Each file as it is there, in `folder/NAME`; a second call downloads and converts nothing again.

    Args:
        data_set: From `find_data_set`.
        folder: For all data sets.
        only: Patterns of names; files that match none are left out.
        watch: Is called for each download, and returns what is told the bytes.
        accept_changed: Record a checksum that differs from the known one instead of refusing it.
    """
    place, files = folder / data_set.name, data_set.selected(only)
    make_folder(place)
    for file in files:
        present = _present(file, place, watch, accept_changed)
        yield present
        if file.convert is not None:
            yield from _converted(file, place, present.sha256)


def _present(file: RemoteFile, place: Path, watch: Watch, accept_changed: bool) -> PresentFile:
    path = place / file.name
    missing = not path.exists()
    if missing:
        try:
            fetch(file.address, path, watch(file))
        except UnreachableError as error:
            raise UnreachableError(f"{error} {by_hand(path)}") from error
    there = part_of(path) if missing else path
    try:
        checked = check(there, file, place, read_small, named=path, accept_changed=accept_changed)
    except DataError:
        if missing:
            forget_part(path)
        raise
    if missing:
        there.replace(path)
        sync_folder(place)
        forget_part(path)
    return PresentFile(
        path, path.stat().st_size, read_sums(place)[file.name], checked, missing, notes=_notes(file, path)
    )


def by_hand(path: Path) -> str:
    """What to do without a network."""
    return (
        f"Without a network, download it elsewhere, put it at '{path}' and give the command again, which then verifies "
        "and converts it."
    )


def _notes(file: RemoteFile, path: Path) -> tuple[str, ...]:
    """How many questions the commands will find in it; a page of errors that was saved in its place has none."""
    if file.convert is not None or path.name.endswith(_TO_INDEX) or path.stat().st_size > _MOST_TO_COUNT:
        return ()
    if "without_answers" in path.name:
        return ("Its answers are not published; `eval slots --kilt` writes predictions for it.",)
    found = read_questions(path)
    return (f"{len(found.questions):,} questions", *found.notes)


def _converted(file: RemoteFile, place: Path, source: str) -> Iterator[PresentFile]:
    assert file.convert is not None
    targets = tuple(place / name for name in file.to)
    made = {"version": VERSION, "source": source}
    about = _read_about(place)
    notes: tuple[str, ...] = ()
    if not all(target.is_file() and about.get(target.name) == made for target in targets):
        notes = _sentences(CONVERSIONS[file.convert](place / file.name, targets))
        about |= dict.fromkeys(file.to, made)
        replace_file(place / CONVERTED_FILE, json.dumps(about, indent=1) + "\n")
    for number, target in enumerate(targets):
        size, sha256 = target.stat().st_size, sha256_of(target)
        yield PresentFile(target, size, sha256, None, made_of=file.name, notes=() if number else notes)


def _read_about(place: Path) -> dict[str, dict[str, object]]:
    """What converted files were made of; made anew if that is unknown."""
    with suppress(OSError, ValueError):
        about = read_json_file(place / CONVERTED_FILE)
        if isinstance(about, dict):
            return about
    return {}


def _sentences(count: Converted) -> tuple[str, ...]:
    left_out = [f"{number:,} {reason} left out" for reason, number in count.left_out.items()]
    return (f"{count.written:,} entries", *left_out)
