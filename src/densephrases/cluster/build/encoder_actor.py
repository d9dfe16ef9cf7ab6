"""What runs on the machines of a cluster: an encoder that turns tasks into partial segments, and merges segments."""

import os
import secrets
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import faiss
import numpy as np

from densephrases.atomic_files import sync_folder
from densephrases.cluster.build.build_area import LEASE, TASKS, BuildArea, segment_name
from densephrases.cluster.build.plan import Task
from densephrases.cluster.build.segment_files import local_segment, scratch_folder, upload_segment, work_folder
from densephrases.cluster.build.task_records import TaskRecord
from densephrases.cluster.storage.base import Store
from densephrases.cluster.storage.places import open_store
from densephrases.errors import ClusterError, DensePhrasesError
from densephrases.index.build.builder import SegmentBuilder, codec_of_first
from densephrases.index.build.merge import Run, Span, add_candidates, copy_runs
from densephrases.index.commits import Commits
from densephrases.index.files.durable import full_disk_explained
from densephrases.index.folder import IndexFolder
from densephrases.index.kinds import CandidateKind, Device, Quantizer
from densephrases.index.manifest import SEGMENTS_FOLDER, SegmentEntry
from densephrases.index.progress import Progress
from densephrases.index.segment.reader import Segment
from densephrases.index.settings import IndexSettings
from densephrases.index.vectors.encoded import CODECS
from densephrases.model.encoder import Encoder
from densephrases.model.load import load
from densephrases.quantize.base import IndexCodec
from densephrases.search.encoders import encoder_of, name_of
from densephrases.text.documents import Document, Skipped
from densephrases.text.readers.folders.found_files import shown
from densephrases.text.readers.folders.read_report import ReadReport
from densephrases.text.readers.read import ReadOptions, read_files
from densephrases.version import __version__


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderOptions:
    """What every actor is told when it starts; threads are those of one forward pass."""

    place: str
    model: str
    device: Device = "cpu"
    threads: int | None = None
    quantizer: Quantizer | None = None
    candidates: CandidateKind | None = None
    filter_threshold: float | None = None
    own_threshold: bool = False  # whether `filter_threshold` counts, and not the model's

    def settings(self, encoder: Encoder) -> IndexSettings:
        settings = IndexSettings.from_encoder(encoder, name_of(self.model, encoder), self.quantizer)
        settings = settings.with_candidates(self.candidates)
        return settings.with_threshold(self.filter_threshold) if self.own_threshold else settings


@dataclass(frozen=True, slots=True)
class SourceSegment:
    """A partial segment of a task, and which attempt made it."""

    attempt: str
    entry: SegmentEntry


@dataclass(frozen=True, slots=True)
class MergeJob:
    """A segment of the finished index: which documents of which partial segments it has."""

    name: str
    sources: tuple[SourceSegment, ...]
    spans: tuple[Span, ...]  # of these sources
    threads: int


@dataclass(frozen=True, slots=True)
class FittedCodec:
    """A codec as an index stores it, and whether all that was given has been read before it was fitted."""

    content: bytes
    read_all: bool


class EncoderActor:
    """One per GPU or group of cores. Errors of users are returned, as Ray would wrap them."""

    def __init__(self, options: EncoderOptions) -> None:
        self.options = options
        if options.threads is not None:  # before tokenizers start theirs
            os.environ.setdefault("RAYON_NUM_THREADS", str(options.threads))
        self._opened: Encoder | None = None
        self._now = Progress()

    @property
    def _store(self) -> Store:
        return open_store(self.options.place)

    @property
    def _encoder(self) -> Encoder:
        if self._opened is None:
            options = self.options
            on_cpu = options.device == "cpu"
            self._opened = load(options.model, threads=options.threads) if on_cpu else encoder_of(options.model, "cuda")
        return self._opened

    def check(self, version: str, sources: Sequence[str]) -> IndexSettings | DensePhrasesError:
        """The settings of the index by the model, if this machine has what the work needs."""
        try:
            self._refuse_other_version(version)
            self._refuse_invisible(sources)
            return self.options.settings(self._encoder)
        except DensePhrasesError as error:
            return error

    def _refuse_other_version(self, version: str) -> None:
        if version != __version__:
            raise ClusterError(
                f"Node {_node()} has densephrases {__version__}, the command is of {version}; install the same version "
                "on all nodes."
            )

    def _refuse_invisible(self, sources: Sequence[str]) -> None:
        if missing := [source for source in sources if not os.path.lexists(source)]:
            raise ClusterError(
                f"Node {_node()} does not see '{shown(Path(missing[0]))}'; documents must be in a folder that all "
                "nodes have under one path."
            )
        store = self._store
        if not BuildArea(store).has(LEASE):
            raise ClusterError(
                f"Node {_node()} does not see '{store.shown(LEASE)}'; the output must be in a folder that all nodes "
                "have under one path, or in an object store."
            )

    def progress(self) -> Progress:
        """Of the task that is being encoded."""
        return self._now

    def fit(
        self, tasks: Sequence[Task], settings: IndexSettings, reading: ReadOptions
    ) -> FittedCodec | DensePhrasesError:
        """The codec of the whole index, fitted as a plain build fits it."""
        read_all = False

        def documents() -> Iterator[Document]:
            nonlocal read_all
            yield from read_files([file.file for task in tasks for file in task.files], reading, ReadReport())
            read_all = True

        try:
            return FittedCodec(codec_of_first(documents(), self._encoder, settings).to_bytes(), read_all)
        except DensePhrasesError as error:
            return error

    def encode(
        self, task: Task, settings: IndexSettings, reading: ReadOptions, codec: bytes | None
    ) -> TaskRecord | DensePhrasesError:
        """Encode a task, publish its segments, and record it."""
        attempt = f"{task.number:06d}-{secrets.token_hex(4)}"
        store = self._store
        try:
            with full_disk_explained(Path(self.options.place)), work_folder(store, f"{TASKS}/{attempt}") as folder:
                record = self._encoded(task, attempt, folder, settings, reading, codec)
                if store.folder is None:
                    for entry in record.segments:
                        upload_segment(
                            store, folder / SEGMENTS_FOLDER / entry.name, segment_name(attempt, entry.name), entry
                        )
                BuildArea(store).save_record(record)
                return record
        except DensePhrasesError as error:
            return error
        finally:
            self._now = Progress()

    def _encoded(
        self, task: Task, attempt: str, folder: Path, settings: IndexSettings, reading: ReadOptions, codec: bytes | None
    ) -> TaskRecord:
        report, skipped = ReadReport(), list[Skipped]()
        report.on_skip = skipped.append
        pq = self._encoder.product_quantizer
        IndexFolder.create(folder, settings, pq)
        commits = Commits(folder, pq)
        commits.begin()
        shared = None if codec is None else self._codec(codec, settings)
        builder = SegmentBuilder(commits, self._encoder, self._reported, replacing=False, codec=shared)
        builder.run(_unchanged(task, reading, report))
        manifest = commits.manifest
        return TaskRecord(
            task=task.number,
            folder=attempt,
            segments=manifest.segments,
            roots=manifest.roots,
            progress=builder.finished(),
            skipped=tuple(skipped),
        )

    def _codec(self, content: bytes, settings: IndexSettings) -> IndexCodec:
        pq = settings.resolve_pq(self._encoder.product_quantizer)
        return CODECS[settings.quantizer].from_bytes(np.frombuffer(content, dtype=np.uint8), settings.dim, pq)

    def _reported(self, progress: Progress) -> None:
        self._now = progress

    def merge(self, job: MergeJob, settings: IndexSettings) -> SegmentEntry | DensePhrasesError:
        """Write a segment of the finished index; until a manifest names it, it is none."""
        faiss.omp_set_num_threads(job.threads)
        store = self._store
        target = f"{SEGMENTS_FOLDER}/{job.name}"
        try:
            place = Path(self.options.place)
            with full_disk_explained(place), work_folder(store, target) as folder, scratch_folder() as scratch:
                pq = self._encoder.product_quantizer
                sources = [self._source(store, each, scratch, settings) for each in job.sources]
                runs = [Run(sources[span.segment], span.first, span.last) for span in job.spans]
                merged = Segment(folder, copy_runs(runs, folder), settings, pq)
                entry = add_candidates(merged, settings.candidates)
                if store.folder is None:
                    upload_segment(store, folder, target, entry)
                else:
                    sync_folder(folder)
                    sync_folder(folder.parent)
                return entry
        except DensePhrasesError as error:
            return error

    def _source(self, store: Store, source: SourceSegment, scratch: Path, settings: IndexSettings) -> Segment:
        folder = local_segment(store, segment_name(source.attempt, source.entry.name), source.entry, scratch)
        return Segment(folder, source.entry, settings, self._encoder.product_quantizer)


def _unchanged(task: Task, reading: ReadOptions, report: ReadReport) -> Iterator[Document]:
    """The documents of a task, whose files are as they were planned, before they are read and after."""
    for planned in task.files:
        planned.refuse_changed()
        yield from read_files([planned.file], reading, report)
        planned.refuse_changed()


def _node() -> str:
    return f"'{socket.gethostname()}'"
