"""The part of an output that belongs to an unfinished build: its plan, records of tasks, and partial segments."""

import json
import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from densephrases.atomic_files import make_folder
from densephrases.cluster.build.plan import Plan
from densephrases.cluster.build.task_records import TaskRecord
from densephrases.cluster.storage.base import Store
from densephrases.errors import IndexBusyError, PhraseIndexError, StorageError
from densephrases.index.files.lock import only_writer
from densephrases.index.manifest import MANIFEST_FILE, SEGMENTS_FOLDER
from densephrases.index.own_files import refuse_foreign
from densephrases.index.settings import IndexSettings
from densephrases.version import __version__

AREA = "building"
PLAN = f"{AREA}/plan.json"
CODEC = f"{AREA}/codec.bin"
LEASE = f"{AREA}/lease.json"
TASKS = f"{AREA}/tasks"
RECORDS = f"{AREA}/records"

_LEASE_SECONDS = 120.0  # after which a build that has not renewed it is dead
_RENEW_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class StoredPlan:
    """A plan with what must be the same to go on with it."""

    plan: Plan
    settings: IndexSettings
    reading: dict[str, Any] = field(default_factory=dict)
    version: str = __version__

    def to_json(self) -> bytes:
        values = {"version": self.version, "settings": asdict(self.settings), "reading": self.reading}
        return json.dumps(values | {"plan": json.loads(self.plan.to_json())}, separators=(",", ":")).encode()

    @classmethod
    def from_json(cls, content: bytes, shown: str) -> "StoredPlan":
        try:
            values = json.loads(content)
            plan = Plan.from_json(json.dumps(values["plan"]).encode())
            return cls(plan, IndexSettings(**values["settings"]), values["reading"], values["version"])
        except (ValueError, TypeError, KeyError) as error:
            raise StorageError(f"'{shown}' is damaged ({error}); give --restart to begin the build again.") from error


class BuildArea:
    """Of the output of a build, in a folder or an object store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._run = secrets.token_hex(8)
        self._renewed = 0.0

    @contextmanager
    def owned(self) -> Iterator[None]:
        """Keep other builds out: by a lock where there is a file system, else by a lease that is renewed."""
        folder = self.store.folder
        self._refuse_others()
        if folder is None:
            self._refuse_other_run()
            with self._leased():
                yield
            return
        make_folder(folder)
        with only_writer(folder), self._leased():
            yield

    @contextmanager
    def _leased(self) -> Iterator[None]:
        """A lease of a build that has ended keeps nobody waiting; without a plan nothing of the area stays."""
        self._write_lease()
        try:
            yield
        finally:
            with suppress(StorageError, FileNotFoundError, ValueError, KeyError):  # another error matters more
                if json.loads(self.store.read(LEASE))["run"] == self._run:
                    self.store.remove([LEASE])
                    if not self.has(PLAN):
                        self.store.remove_below(AREA)

    def renew(self) -> None:
        """Called often while the build runs."""
        if time.monotonic() - self._renewed > _RENEW_SECONDS:
            self._refuse_other_run()
            self._write_lease()

    def _refuse_other_run(self) -> None:
        with suppress(FileNotFoundError, ValueError, KeyError):
            lease = json.loads(self.store.read(LEASE))
            if lease["run"] != self._run and time.time() - float(lease["time"]) < _LEASE_SECONDS:
                raise IndexBusyError(
                    f"'{self.store.place}' is being built by process {lease['process']} of {lease['host']}; wait until "
                    f"it has ended. If it was killed, try again in {_LEASE_SECONDS:.0f} s."
                )

    def _write_lease(self) -> None:
        values = {"run": self._run, "host": socket.gethostname(), "process": os.getpid(), "time": time.time()}
        self.store.write(LEASE, json.dumps(values).encode())
        self._renewed = time.monotonic()

    def _refuse_others(self) -> None:
        """Refuse a place that holds an index, or files of others."""
        if self.has(PLAN):
            return
        if self.has(MANIFEST_FILE):
            raise PhraseIndexError(f"'{self.store.place}' already holds an index; give another place for the new one.")
        if self.store.folder is not None:
            if not (self.store.folder / AREA).is_dir():
                refuse_foreign(self.store.folder)
        elif others := [name for name in self.store.names() if not name.startswith(f"{AREA}/")]:
            raise PhraseIndexError(
                f"'{self.store.place}' is no index and is not empty: it holds '{others[0]}'; give another place."
            )

    def has(self, name: str) -> bool:
        if self.store.folder is not None:
            return (self.store.folder / name).is_file()
        return name in self.store.names(name)

    def stored_plan(self) -> StoredPlan | None:
        with suppress(FileNotFoundError):
            return StoredPlan.from_json(self.store.read(PLAN), self.store.shown(PLAN))
        return None

    def save_plan(self, stored: StoredPlan) -> None:
        self.store.write(PLAN, stored.to_json())

    def codec(self, fit: Callable[[], bytes]) -> bytes:
        """What all tasks encode vectors by; fitted once."""
        with suppress(FileNotFoundError):
            return self.store.read(CODEC)
        content = fit()
        self.store.write(CODEC, content)
        return content

    def save_record(self, record: TaskRecord) -> None:
        self.store.write(_record_name(record.task), record.to_json())

    def record(self, task: int) -> TaskRecord:
        name = _record_name(task)
        return TaskRecord.from_json(self.store.read(name), self.store.shown(name))

    def recorded(self) -> set[int]:
        """The numbers of the tasks that are done."""
        names = (name.removeprefix(f"{RECORDS}/").removesuffix(".json") for name in self.store.names(RECORDS))
        return {int(name) for name in names if name.isdigit()}

    def clear(self) -> None:
        """Remove all of an unfinished build, the plan last."""
        self.store.remove(self.store.names(SEGMENTS_FOLDER))
        self.remove()

    def remove(self) -> None:
        """Remove the area, after the index is finished; the plan last, so that what is left is recognised."""
        self.store.remove([name for name in self.store.names(AREA) if name not in (PLAN, LEASE)])
        self.store.remove([PLAN])


def segment_name(attempt: str, segment: str, file: str = "") -> str:
    """The name in the store of a file of a partial segment."""
    return f"{TASKS}/{attempt}/{SEGMENTS_FOLDER}/{segment}/{file}".rstrip("/")


def _record_name(task: int) -> str:
    return f"{RECORDS}/{task:06d}.json"
