"""`densephrases watch`: an index that follows its folders."""

import signal
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from densephrases.cli.indexes.changes import refuse_nothing
from densephrases.cli.indexes.sources import (
    Folders,
    with_source_options,
)
from densephrases.cli.lines import counted, listed
from densephrases.cli.options import IndexArgument, IndexModel
from densephrases.errors import DensePhrasesError, IndexBusyError

if TYPE_CHECKING:
    from densephrases.index.sync.options import SyncOptions
    from densephrases.search.phrase_index import PhraseIndex

_RETRY_SECONDS = 5.0  # after a problem


@with_source_options
def watch(
    folder: IndexArgument,
    folders: Folders = None,
    *,
    settle: Annotated[
        float, typer.Option(min=0.0, help="Seconds for which a file must stay unmodified before it is read.")
    ] = 1.0,
    options: "SyncOptions",
    model: IndexModel = None,
) -> None:
    """Keep an index in step with folders until Ctrl-C: as `sync`, at once and whenever a file changes."""
    from densephrases.cli.show.building import refuse_inside
    from densephrases.search.phrase_index import PhraseIndex

    given = refuse_nothing(folders, options)
    refuse_inside(folder, [*given, *options.named.values()])
    opened = PhraseIndex.open(folder, model)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        _Watcher(opened, given, replace(options, settle_seconds=settle)).run()
    except KeyboardInterrupt:
        _say("Stopped watching; the index is as the last line says.")


class _Watcher:
    """Syncs when something has changed, and again while files are deferred or something is in the way."""

    def __init__(self, opened: "PhraseIndex", paths: Sequence[Path], options: "SyncOptions") -> None:
        self._opened, self._paths, self._options = opened, paths, options
        self._problem = ""
        self._pending = False
        self._retry_at = 0.0

    def run(self) -> None:
        from densephrases.index.sync.watch import change_signals

        watched = [*self._paths, *self._options.named.values()]
        self._sync()  # what cannot work is refused at once
        _say(f"Watching {listed([str(path) for path in watched])}; Ctrl-C stops.")
        for changed in change_signals(watched, threading.Event()):
            if changed or (self._pending and time.monotonic() >= self._retry_at):
                self._try()

    def _try(self) -> None:
        """A problem is told once, and tried again until it is gone."""
        try:
            self._sync()
            self._problem, self._retry_at = "", 0.0
        except DensePhrasesError as error:
            self._pending = True
            self._retry_at = time.monotonic() + _RETRY_SECONDS
            problem = "The index is being written by another process." if isinstance(error, IndexBusyError) else error
            if str(problem) != self._problem:
                self._problem = str(problem)
                _say(f"Waiting: {problem}")

    def _sync(self) -> None:
        from densephrases.text.readers.folders.read_report import ReadReport

        report = ReadReport()
        self._opened.refresh()
        changes = self._opened.sync(*self._paths, report=report, **_fields(self._options))
        self._pending = bool(changes.deferred)
        parts = {"added": changes.added, "replaced": changes.replaced, "deleted": changes.deleted}
        told = [f"{len(ids):,} {name} ({listed(ids, 3)})" for name, ids in parts.items() if ids]
        if told:
            _say(f"{datetime.now():%H:%M:%S} {', '.join(told)}; {counted(len(self._opened), 'document')}")


def _fields(options: "SyncOptions") -> dict[str, Any]:
    return {name: getattr(options, name) for name in options.__dataclass_fields__}


def _say(sentence: str) -> None:
    typer.echo(sentence)
