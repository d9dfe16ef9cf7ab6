"""What `add`, `update` and `sync` share: files are compared with an index, read, counted and written into it."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from densephrases.cli.lines import counted, listed
from densephrases.errors import DataError

if TYPE_CHECKING:
    from densephrases.index.folder import IndexFolder
    from densephrases.index.kinds import Device
    from densephrases.index.sync.folder_sync import Changes
    from densephrases.index.sync.options import SyncOptions
    from densephrases.search.phrase_index import PhraseIndex
    from densephrases.text.readers.folders.read_report import ReadReport

Change = Literal["add", "update", "sync"]


def change_index(
    change: Change,
    folder: Path,
    paths: Sequence[Path] | None,
    options: "SyncOptions",
    *,
    model: str | None,
    device: "Device",
    moved: bool = False,
    report_file: Path | None = None,
    dry_run: bool = False,
) -> None:
    from densephrases.cli.show.building import console, refuse_inside
    from densephrases.search.phrase_index import PhraseIndex
    from densephrases.text.readers.files import refuse_missing_folder
    from densephrases.text.readers.folders.read_report import ReadReport, reporting

    given = refuse_nothing(paths, options)
    refuse_missing_folder(report_file)
    opened = PhraseIndex.open(folder, model, device=device)
    refuse_inside(folder, [*given, *options.named.values()])
    if moved:
        _move_roots(opened.folder, given, options)
    report = ReadReport()
    with reporting(report, report_file):
        if dry_run:
            _preview(opened, given, options, report)
            return
        changes, summary = _changed(change, opened, given, options, report)
    for name, ids in {"Replaced": changes.replaced, "Deleted": changes.deleted}.items():
        if ids:
            console.print(f"{name}: {listed(ids)}", markup=False, soft_wrap=True)
    typer.echo(summary)


def refuse_nothing(paths: Sequence[Path] | None, options: "SyncOptions") -> list[Path]:
    if not paths and not options.named:
        raise DataError("No files or folders are given; name some, or give --root NAME=FOLDER.")
    return list(paths or ())


def _changed(
    change: Change, opened: "PhraseIndex", paths: list[Path], options: "SyncOptions", report: "ReadReport"
) -> tuple["Changes", str]:
    from densephrases.cli.show.building import Building
    from densephrases.index.sync.folder_sync import FolderSync
    from densephrases.text.readers.read import nothing_found

    run = FolderSync(opened.folder, paths, options, report)
    replacing = partial(opened.update, replace_others=options.replace_others)
    write = opened.add if change == "add" else replacing
    with Building(opened.folder.folder, run.documents(), run.files, report) as building:
        building.reported(write(building.documents(), building.reported))
    if change != "sync" and not report.documents and not run.changes.unchanged:
        raise DataError(nothing_found(run.places.places, report))
    run.delete()
    return run.changes, building.summarise(opened.info(), run.changes)


def _preview(opened: "PhraseIndex", paths: list[Path], options: "SyncOptions", report: "ReadReport") -> None:
    """A line for each document that would change: what would be done, and its id."""
    from densephrases.cli.show.building import console
    from densephrases.cli.show.skipped import tell_skipped
    from densephrases.index.sync.folder_sync import FolderSync

    changes = FolderSync(opened.folder, paths, options, report).preview()
    for name, ids in {"add": changes.added, "replace": changes.replaced, "delete": changes.deleted}.items():
        for each in ids:
            typer.echo(f"{name}\t{each}")
    tell_skipped(report, console)
    console.print(
        f"Would add {counted(len(changes.added), 'document')}, replace {len(changes.replaced):,} and delete "
        f"{len(changes.deleted):,}; {changes.unchanged:,} unchanged. Nothing was changed.",
        soft_wrap=True,
    )


def _move_roots(folder: "IndexFolder", paths: list[Path], options: "SyncOptions") -> None:
    from densephrases.text.readers.folders.roots import whole_path

    named = {place.resolve().name: place for place in paths if place.is_dir()} | dict(options.named)
    for name, place in named.items():
        root = folder.roots.named(name)
        if root is not None and root.folder != whole_path(place):
            folder.move_root(name, place)
