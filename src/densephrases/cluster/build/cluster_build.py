"""A build on Ray from its sources to one commit. Actors write segments themselves and return only what they wrote."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from densephrases.cluster.build.actor_pool import ActorPool, Job
from densephrases.cluster.build.build_area import BuildArea, StoredPlan
from densephrases.cluster.build.encoder_actor import EncoderOptions, FittedCodec
from densephrases.cluster.build.encoder_share import encoder_share
from densephrases.cluster.build.final_segments import PartialSegments, commit, free_names, remove_build
from densephrases.cluster.build.plan import CPU_TASKS, GPU_TASKS, Plan, TaskSize, changed_source
from densephrases.cluster.build.segment_files import scratch_folder
from densephrases.cluster.build.task_records import TaskRecord, summed
from densephrases.cluster.connection import connected, nodes
from densephrases.cluster.storage.fetch import read_manifest
from densephrases.cluster.storage.places import open_store
from densephrases.errors import DataError, PhraseIndexError
from densephrases.index.kinds import PRODUCT_QUANTIZERS, CandidateKind, Quantizer
from densephrases.index.manifest import MANIFEST_FILE, Manifest, SegmentEntry
from densephrases.index.progress import Progress
from densephrases.index.settings import IndexSettings
from densephrases.index.sync.options import SyncOptions
from densephrases.model.folders import resolve
from densephrases.text.readers.folders.found_files import FoundFile, Places
from densephrases.text.readers.folders.read_report import ReadReport
from densephrases.text.readers.read import nothing_found

if TYPE_CHECKING:
    from densephrases.search.phrase_index import Threshold

_FITTED_TASKS = 4  # whose first chunk a codec is fitted to; more if they have no text


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions:
    """How an index is built on Ray.

    Attributes:
        address: Of a running cluster, HOST:PORT or 'auto'; None starts Ray on this machine for the build.
        encoders: How many actors encode; None takes one for each GPU, or one for each four cores.
        gpus_per_encoder: GPUs of an actor, which then encodes on them; 0 encodes on the CPU.
        restart: Whether what an unfinished build has done is dropped.
        task_size: Bytes of a task; None chooses.
    """

    model: str = "small"
    quantizer: Quantizer | None = None
    filter_threshold: "Threshold" = "model"
    candidates: CandidateKind | None = None
    address: str | None = None
    encoders: int | None = None
    gpus_per_encoder: float = 0.0
    restart: bool = False
    task_size: TaskSize | None = None

    def encoder(self, place: str, threads: int | None) -> EncoderOptions:
        own = self.filter_threshold != "model"
        return EncoderOptions(
            place=place,
            model=self.model,
            device="cuda" if self.gpus_per_encoder else "cpu",
            threads=threads,
            quantizer=self.quantizer,
            candidates=self.candidates,
            filter_threshold=None if self.filter_threshold == "model" else self.filter_threshold,
            own_threshold=own,
        )


@dataclass(frozen=True, slots=True)
class BuildState:
    """Of the whole cluster: `weight` counts bytes of files, `total` all of them."""

    step: str
    encoders: int = 0
    tasks: int = 0
    all_tasks: int = 0
    weight: float = 0.0
    total: int = 0
    resumed: int = 0  # tasks that an earlier run has done
    progress: Progress = field(default_factory=Progress)


ShowState = Callable[[BuildState], None]


@dataclass(frozen=True, slots=True)
class Built:
    """A finished index, and what encoding it took."""

    manifest: Manifest
    progress: Progress


def build_index(
    place: str | Path,
    paths: Sequence[Path],
    options: ClusterOptions,
    sources: SyncOptions | None = None,
    report: ReadReport | None = None,
    show: ShowState = lambda state: None,
) -> Built:
    """Index files and folders on Ray. If it was interrupted, the same call goes on with what is done.

    The index is that of `PhraseIndex.create` over `read_documents`: its segments have the same files.

    Args:
        place: A new folder that all nodes see, or a URL such as `s3://bucket/wiki`.
        paths: Files and folders, which all nodes see under the same paths.
        options: Of the build.
        sources: How files are read.
        report: Counts what was read, skipped and left out.
        show: Called about every second.

    Raises:
        ClusterError: The cluster cannot be reached, or its nodes lack what they need.
        StorageError: The store cannot be reached, or refuses access.
        DataError: Two documents have the same id, or a source changed since the build began.
    """
    reading = sources or SyncOptions()
    report = ReadReport() if report is None else report
    if not options.gpus_per_encoder:
        resolve(options.model)  # an unknown name is told before Ray starts
    places = _places(paths, reading)
    files = list(places.files(report))
    area = BuildArea(open_store(str(place) if "://" in str(place) else Path(place).absolute()))
    with area.owned():
        if area.has(MANIFEST_FILE):  # an earlier run was stopped between its commit and its end
            manifest = read_manifest(area.store.place)
            remove_build(area, manifest)
            return Built(manifest, Progress())
        if options.restart:
            area.clear()
        with connected(options.address):
            return _Build(area, options, reading, report, show, places).run(files)


def _places(paths: Sequence[Path], sources: SyncOptions) -> Places:
    """Whole paths, as the working directory of another node is another."""
    return Places.from_paths(
        [path.absolute() for path in paths],
        named={name: folder.absolute() for name, folder in sources.named.items()},
        selection=sources.selection,
        follow_links=sources.follow_links,
    )


class _Build:
    """One run of a build, while it is connected to Ray."""

    def __init__(
        self,
        area: BuildArea,
        options: ClusterOptions,
        sources: SyncOptions,
        report: ReadReport,
        show: ShowState,
        places: Places,
    ) -> None:
        self._area = area
        self._places = places
        self._options = options
        self._sources = sources
        self._report = report
        self._show = show
        self._step = "starting encoders"
        self._share = encoder_share(nodes(), options.encoders, options.gpus_per_encoder)
        encoder = options.encoder(area.store.place, None if self._share.gpus else self._share.cpus)
        self._pool = ActorPool(self._share, encoder, [str(place) for place in places.places])
        self._plan: Plan | None = None
        self._done: dict[int, TaskRecord] = {}
        self._resumed = 0

    def run(self, files: Sequence[FoundFile]) -> Built:
        try:
            settings = self._pool.settings(self._tick)
            plan = self._plan = self._planned(settings, files)
            self._encode(plan, settings)
            records = [self._done[task.number] for task in plan.tasks]
            for record in records:
                record.tell(self._report)
            if not any(record.segments for record in records):
                self._area.clear()
                raise DataError(nothing_found(self._places.places, self._report))
            return Built(self._finish(records, settings), summed([record.progress for record in records]))
        finally:
            self._pool.stop()

    def _planned(self, settings: IndexSettings, files: Sequence[FoundFile]) -> Plan:
        """That of an earlier run, if there is one."""
        reading = asdict(self._sources.reading)
        stored = self._area.stored_plan()
        if stored is not None:
            _refuse_other(stored, StoredPlan(stored.plan, settings, reading), self._area.store.place)
            if change := changed_source(stored.plan.states(), files):
                raise DataError(
                    f"The unfinished index '{self._area.store.place}' is of other documents: {change}; "
                    "give --restart to begin again, or another place."
                )
            return stored.plan
        size = self._options.task_size or (GPU_TASKS if self._share.gpus else CPU_TASKS)
        plan = Plan.from_files(files, self._share.encoders, size)
        self._area.save_plan(StoredPlan(plan, settings, reading))
        return plan

    def _encode(self, plan: Plan, settings: IndexSettings) -> None:
        there = self._area.recorded()
        for task in plan.tasks:
            if task.number in there:
                self._done[task.number] = self._area.record(task.number)
        self._resumed = len(self._done)
        left = [task for task in plan.tasks if task.number not in self._done]
        if not left:
            return
        from_model = settings.quantizer in PRODUCT_QUANTIZERS
        codec = None if from_model else self._area.codec(lambda: self._fitted(plan, settings))
        self._step = "encoding"
        reading = self._sources.reading
        jobs = {Job("encode", (task, settings, reading, codec), f"Encoding {task}"): task for task in left}
        self._pool.run(list(jobs), lambda job, record: self._done.__setitem__(jobs[job].number, record), self._tick)

    def _fitted(self, plan: Plan, settings: IndexSettings) -> bytes:
        """By the first tasks; by more of them if these end before a plain build would have begun to encode."""
        self._step = "fitting the quantizer"
        fitted: list[FittedCodec] = []
        tasks = _FITTED_TASKS
        while not fitted or (fitted[-1].read_all and tasks < 2 * len(plan.tasks)):
            job = Job("fit", (plan.tasks[:tasks], settings, self._sources.reading), "Fitting the quantizer")
            self._pool.run([job], lambda _, result: fitted.append(result), self._tick)
            tasks *= 2
        return fitted[-1].content

    def _finish(self, records: Sequence[TaskRecord], settings: IndexSettings) -> Manifest:
        self._step = "merging"
        with scratch_folder() as scratch:
            segments = PartialSegments(self._area, records, settings, scratch)
            segments.refuse_duplicates()
            merges = segments.plan(free_names(self._area), self._share.encoders, self._share.cpus)
        entries: dict[str, SegmentEntry] = {}
        jobs = {Job("merge", (merge, settings), f"Writing segment {merge.name}"): merge.name for merge in merges}
        self._pool.run(list(jobs), lambda job, entry: entries.__setitem__(jobs[job], entry), self._tick)
        self._area.renew()
        manifest = commit(self._area, settings, [entries[merge.name] for merge in merges], segments.roots)
        remove_build(self._area, manifest)
        return manifest

    def _tick(self) -> None:
        self._area.renew()
        running = self._pool.running() if self._step == "encoding" else []
        weights = {} if self._plan is None else {task.number: task.weight for task in self._plan.tasks}
        done = list(self._done.items())
        self._show(
            BuildState(
                self._step,
                encoders=self._pool.encoders,
                tasks=len(done),
                all_tasks=len(weights),
                weight=sum(weights[number] for number, _ in done) + sum(each.characters for each in running),
                total=sum(weights.values()),
                resumed=self._resumed,
                progress=summed([*(record.progress for _, record in done), *running]),
            )
        )


def _refuse_other(stored: StoredPlan, given: StoredPlan, place: str) -> None:
    if stored.version != given.version:
        raise PhraseIndexError(
            f"'{place}' holds an unfinished index of densephrases {stored.version}, this is {given.version}; finish it "
            "with that version, or give --restart to begin again."
        )
    if name := stored.settings.first_difference(given.settings):
        raise PhraseIndexError(
            f"'{place}' holds an unfinished index with {name}={getattr(stored.settings, name)!r}, not "
            f"{getattr(given.settings, name)!r}; finish it with its own settings, or give --restart to begin again."
        )
    if name := next((name for name, value in given.reading.items() if stored.reading.get(name) != value), ""):
        raise PhraseIndexError(
            f"'{place}' holds an unfinished index with {name}={stored.reading.get(name)!r}, not "
            f"{given.reading[name]!r}; finish it with its own settings, or give --restart to begin again."
        )
