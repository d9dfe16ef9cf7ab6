"""How the search for candidates grows with the number of token vectors, and what it finds.

python benchmarks/scaling.py INDEX [--sizes 100000 --sizes 1000000 ...] [--candidates KIND] [--questions FILE]
    [--work FOLDER] [--json FILE] [--plot FILE]

The first vectors are those of INDEX; when they are used up, reflected copies follow: each copy of the collection is
mirrored along a random half of its principal axes, but for the first ones (--kept), which tell kinds of words rather
than topics. A copy has the passages, distances and spread of the original and other topics, so it competes as other
text does; copies that are only moved a little compete with their originals for every question. The share of copies
among the ten best rows is shown beside their share of all rows. Each size has a store and candidates of its own, as
segments of an index have them, on disk and mapped; rows are coded as those of INDEX are. Search is that of one
question, its start and its end together, and of 64, with as many candidates as a question of ten answers begins with.
Recall is of the ten best rows of exhaustive search.

10^7 pq vectors of 384 components take 0.7 GB. With --work stores are kept.
"""

import json
import os
import platform
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from densephrases.arrays import Floats, Ints
from densephrases.data.squad import questions_of, read_squad, sample_path
from densephrases.errors import ConfigError, DensePhrasesError, MissingExtraError
from densephrases.index.candidates.base import CandidateIndex
from densephrases.index.candidates.by_kind import choose_kind, open_candidates, write_candidates
from densephrases.index.candidates.exact import ExactCandidates
from densephrases.index.candidates.ivf_file import INVERTED_FILES
from densephrases.index.files.checked import CheckedArray
from densephrases.index.files.durable import replace_json
from densephrases.index.files.mapped import map_file, release_pages
from densephrases.index.kinds import CANDIDATE_KINDS, DEFAULT_EFFORT, CandidateKind
from densephrases.index.segment.files import CENTROIDS_FILE, VECTORS_FILE
from densephrases.index.vectors.encoded import EncodedVectors
from densephrases.index.vectors.store import VectorStore
from densephrases.sample import SAMPLE_QUESTIONS
from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.scoring.pairs import FEWEST_CANDIDATES

SIZES = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
EXPONENT_BAR = 0.35
BLOCK_PASSAGES = 256
EDGES_FILE = "vector_edges.npy"
RECALLED = 10
WARM_UP = 5
BATCH = 64
KEPT_AXES = 96  # of 384: 56% of the best rows are copies where 64% of all rows are, by questions on other topics
SAMPLED_ROWS = 1 << 15  # for the principal axes

# Shape suffixes: B query vectors, K rows of each, N rows, D vector size.


@dataclass(frozen=True, slots=True)
class Point:
    """Of one number of vectors; milliseconds are those of a question."""

    rows: int
    real_rows: int
    kind: str
    build_seconds: float
    open_seconds: float
    store_bytes: int
    candidate_bytes: int
    p50_ms: float
    p99_ms: float
    batch_ms: float
    first_ms: float
    recall: float
    copies_found: float

    @property
    def copies(self) -> float:
        """Their share of all rows."""
        return 1 - self.real_rows / self.rows


def main(
    index: Annotated[Path, typer.Argument(help="An index, whose vectors come first.")],
    sizes: Annotated[list[int] | None, typer.Option(help="Numbers of vectors [default: 10^5 to 10^7].")] = None,
    questions: Annotated[Path | None, typer.Option(help="A SQuAD file to ask the questions of.")] = None,
    limit: Annotated[int, typer.Option(help="Questions that are timed.")] = 300,
    judged: Annotated[int, typer.Option(help="Questions whose recall is measured: every vector is looked at.")] = 50,
    effort: Annotated[float, typer.Option(help="From 0, fast, to 1, exhaustive.")] = DEFAULT_EFFORT,
    candidates: Annotated[str | None, typer.Option(help="Their kind [default: as an index has them].")] = None,
    kept: Annotated[int, typer.Option(help="Principal axes along which copies are not mirrored.")] = KEPT_AXES,
    work: Annotated[Path | None, typer.Option(help="Where stores and candidate indexes are kept.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures here as well.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw them, as PNG, SVG or PDF.")] = None,
) -> None:
    """Prints build time, bytes, search time and recall for each size, and the exponent of growth."""
    try:
        wanted = chosen_kind(candidates)
        opened = PhraseIndex.open(index)
        queries = [encoded(opened, text) for text in read_questions(questions)[:limit]]
        points = []
        with TemporaryDirectory() as temporary:
            source = Source(opened, kept)
            for size in sorted(sizes or SIZES):
                place = (work or Path(temporary)) / f"{source.key}-{size}"
                points.append(measured(source, size, place, wanted, queries, judged, effort))
                print(f"{size:,} vectors: {points[-1].p50_ms:.2f} ms, recall {points[-1].recall:.4f}", flush=True)
                if json_file is not None:
                    write_figures(json_file, points, effort, kept)
        print_points(points)
        if plot is not None:
            draw(points, plot)
    except DensePhrasesError as error:
        raise SystemExit(f"Error: {error}") from error


def read_questions(path: Path | None) -> list[str]:
    """Spread over the whole file: neighbours in it ask about the same passage."""
    texts = [question.text.strip() for _, question in questions_of(read_squad(path or sample_path()))]
    texts += [] if path else [sample.question for sample in SAMPLE_QUESTIONS]
    texts = list(dict.fromkeys(text for text in texts if text))
    return [texts[i] for i in np.random.default_rng(0).permutation(len(texts))]


def encoded(index: PhraseIndex, question: str) -> Floats:
    """The start and the end vector of a question, as they are looked up together."""
    vectors = index.encoder.encode_questions([question])
    return np.concatenate([vectors.start_BD, vectors.end_BD])


class Source:
    """Vectors without end: those of an index, passage by passage, then reflected copies of them."""

    def __init__(self, index: PhraseIndex, kept: int) -> None:
        self._segments = [segment for segment in index.folder.segments if segment.vectors]
        if not self._segments:
            raise ConfigError("The index has no vectors; expected one with documents.")
        self.rows = sum(segment.vectors for segment in self._segments)
        self.codec = self._segments[0].store.codec
        self.kept = kept
        self.mean_D, self.axes_DD = self._principal_axes()
        self.key = f"{index.encoder.fingerprint[:12]}-{index.info().settings.quantizer}-{self.rows}-{kept}"

    def blocks(self, rows: int) -> Iterator[tuple[Floats, Ints]]:
        """The first `rows` vectors, some at a time, the same ones every time, and how many each passage has."""
        made = 0
        for copy in range(-(-rows // self.rows)):
            mirror_DD = self.mirror(copy)
            for block_ND, rows_P in self._real():
                taken_ND = block_ND[: rows - made]
                if not len(taken_ND):
                    return
                made += len(taken_ND)
                if copy:
                    taken_ND = np.asarray((taken_ND - self.mean_D) @ mirror_DD + self.mean_D, dtype=np.float32)
                yield taken_ND, cut(rows_P, len(taken_ND))

    def mirror(self, copy: int) -> Floats:
        """The reflection of a copy (D, D), the same every time."""
        signs_D = np.random.default_rng(copy).choice(np.array([-1, 1], dtype=np.float32), len(self.mean_D))
        signs_D[: self.kept] = 1
        return np.asarray((self.axes_DD * signs_D) @ self.axes_DD.T)

    def _principal_axes(self) -> tuple[Floats, Floats]:
        """The mean, and as columns the directions of largest variance first."""
        sampled, count = [], 0
        for block_ND, _ in self._real():
            sampled.append(block_ND)
            count += len(block_ND)
            if count >= SAMPLED_ROWS:
                break
        vectors_ND = np.concatenate(sampled)
        _, axes_DD = np.linalg.eigh(np.cov(vectors_ND.T))
        return vectors_ND.mean(axis=0), np.ascontiguousarray(axes_DD[:, ::-1], dtype=np.float32)

    def _real(self) -> Iterator[tuple[Floats, Ints]]:
        for segment in self._segments:
            for first in range(0, segment.passages, BLOCK_PASSAGES):
                edges_P = segment.vector_edges[first : first + BLOCK_PASSAGES + 1]
                yield segment.store.decode(slice(int(edges_P[0]), int(edges_P[-1]))), np.diff(edges_P)
                release_pages(segment.store.records_N.values)


def cut(rows_P: Ints, rows: int) -> Ints:
    """The passages of the first rows."""
    ends_P = np.minimum(np.cumsum(rows_P), rows)
    return np.diff(ends_P[: int(np.searchsorted(ends_P, rows)) + 1], prepend=0)


def chosen_kind(name: str | None) -> CandidateKind | None:
    for kind in CANDIDATE_KINDS:
        if name == kind:
            return kind
    if name is not None:
        raise ConfigError(f"--candidates {name} is unknown; expected one of {', '.join(CANDIDATE_KINDS)}.")
    return None


def measured(
    source: Source,
    rows: int,
    place: Path,
    wanted: CandidateKind | None,
    queries: Sequence[Floats],
    judged: int,
    effort: float,
) -> Point:
    store = stored(source, rows, place)
    kind = choose_kind(store, wanted)
    own = place / kind
    seconds = build_seconds(store, kind, own)
    begin = time.perf_counter()
    candidates = open_candidates(lambda file: map_file(own / file), kind, store)
    opening = time.perf_counter() - begin
    first, *_ = search_milliseconds(candidates, queries[:1], effort)
    search_milliseconds(candidates, queries[:WARM_UP], effort)
    times = search_milliseconds(candidates, queries, effort)
    p50, p99 = (float(np.percentile(times, percent)) for percent in (50, 99))
    found, copies = recall(candidates, queries[:judged], effort, source.rows)
    return Point(
        rows=rows,
        real_rows=min(rows, source.rows),
        kind=kind,
        build_seconds=seconds,
        open_seconds=opening,
        store_bytes=sum((place / name).stat().st_size for name in (VECTORS_FILE, CENTROIDS_FILE)),
        candidate_bytes=sum(path.stat().st_size for name in INVERTED_FILES if (path := own / name).exists()),
        p50_ms=p50,
        p99_ms=p99,
        batch_ms=batch_milliseconds(candidates, queries, effort),
        first_ms=first,
        recall=found,
        copies_found=copies,
    )


def stored(source: Source, rows: int, place: Path) -> VectorStore:
    """Begun again if it was not finished."""
    if not (place / EDGES_FILE).exists():
        place.mkdir(parents=True, exist_ok=True)
        sizes = [np.zeros(1, dtype=np.int64)]
        with (place / VECTORS_FILE).open("wb") as vectors, (place / CENTROIDS_FILE).open("wb") as centroids:
            for block_ND, rows_P in source.blocks(rows):
                encoded = EncodedVectors.by_codec(block_ND, rows_P, source.codec)
                vectors.writelines(records.tobytes() for records in encoded.records_N)
                centroids.write(encoded.centroids_P.tobytes())
                sizes.append(rows_P)
        np.save(place / EDGES_FILE, np.cumsum(np.concatenate(sizes)))
    records_N = CheckedArray(map_file(place / VECTORS_FILE).view(source.codec.row_type))
    if source.codec.centroid_codec is None:
        return VectorStore(records_N, source.codec)
    centroids_P = CheckedArray(map_file(place / CENTROIDS_FILE).view(source.codec.centroid_codec.row_type))
    return VectorStore.with_centroids(records_N, source.codec, centroids_P, np.load(place / EDGES_FILE))


def build_seconds(store: VectorStore, kind: CandidateKind, place: Path) -> float:
    """Of what candidates need beside the store, measured when it is built and kept with it."""
    note = place / "build.json"
    if not note.exists():
        place.mkdir(exist_ok=True)
        begin = time.perf_counter()
        write_candidates(store, kind, place)
        replace_json(note, {"seconds": time.perf_counter() - begin})
    return float(json.loads(note.read_text())["seconds"])


def search_milliseconds(candidates: CandidateIndex, queries: Sequence[Floats], effort: float) -> list[float]:
    """Of each question, asked by itself."""
    times = []
    for query_BD in queries:
        begin = time.perf_counter()
        candidates.search(query_BD, FEWEST_CANDIDATES, None, effort)
        times.append(1000 * (time.perf_counter() - begin))
    return times


def batch_milliseconds(candidates: CandidateIndex, queries: Sequence[Floats], effort: float) -> float:
    """Of a question, asked with others: the median of the batches; the last one may be smaller."""
    times = []
    for first in range(0, len(queries), BATCH):
        some = queries[first : first + BATCH]
        begin = time.perf_counter()
        candidates.search(np.concatenate(list(some)), FEWEST_CANDIDATES, None, effort)
        times.append(1000 * (time.perf_counter() - begin) / len(some))
    return float(np.median(times))


def recall(candidates: CandidateIndex, queries: Sequence[Floats], effort: float, real_rows: int) -> tuple[float, float]:
    """Of the ten best rows, and the share of copies among them; one scan compares all questions with all rows."""
    queries_BD = np.concatenate(list(queries))
    _, expected_BK = ExactCandidates(candidates.store).search(queries_BD, RECALLED)
    found = [candidates.search(query_BD, FEWEST_CANDIDATES, None, effort)[1][:, :RECALLED] for query_BD in queries]
    return overlap(expected_BK, np.concatenate(found)), float((expected_BK >= real_rows).mean())


def overlap(expected_BK: NDArray[np.int64], found_BK: NDArray[np.int64]) -> float:
    """The share of expected rows that were found."""
    hits = sum(len(np.intersect1d(e, f)) for e, f in zip(expected_BK, found_BK, strict=True))
    return hits / expected_BK.size


def exponent(rows: Sequence[int], values: Sequence[float]) -> float:
    """The slope of a straight line through the points on two logarithmic axes."""
    if len(rows) < 2:
        return float("nan")
    return float(np.polyfit(np.log(rows), np.log(values), 1)[0])


def growth(points: Sequence[Point]) -> float:
    """Of the median; points that are scanned whole follow another law and do not count."""
    approximate = [point for point in points if point.kind != "exact"]
    return exponent([point.rows for point in approximate], [point.p50_ms for point in approximate])


def print_points(points: Sequence[Point]) -> None:
    heads = ("built s", "open s", "first ms", "MB", "p50 ms", "p99 ms", "64: ms each", "recall@10")
    table = Table("vectors", "real", "kind", *heads, "copies %", "of best %")
    for p in points:
        size = f"{(p.store_bytes + p.candidate_bytes) / 1e6:.0f}"
        times = (f"{value:.2f}" for value in (p.p50_ms, p.p99_ms, p.batch_ms))
        shares = (f"{100 * value:.0f}" for value in (p.copies, p.copies_found))
        begun = (f"{p.build_seconds:.0f}", f"{p.open_seconds:.2f}", f"{p.first_ms:.1f}")
        table.add_row(f"{p.rows:,}", f"{p.real_rows:,}", p.kind, *begun, size, *times, f"{p.recall:.4f}", *shares)
    console = Console(width=150)
    console.print(table)
    value = growth(points)
    if value == value:
        verdict = "reached" if value <= EXPONENT_BAR else "missed"
        console.print(
            f"p50 grows with the number of vectors to the power of {value:.2f} (bar {EXPONENT_BAR}: {verdict})"
        )


def write_figures(path: Path, points: Sequence[Point], effort: float, kept: int) -> None:
    value = growth(points)
    values: dict[str, Any] = {
        "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()},
        "effort": effort,
        "axes_kept_by_copies": kept,
        "exponent": None if value != value else value,
        "bar": EXPONENT_BAR,
        "points": [asdict(point) for point in points],
    }
    path.write_text(json.dumps(values, indent=1))


def draw(points: Sequence[Point], path: Path) -> None:
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise MissingExtraError("--plot needs matplotlib: pip install 'densephrases[plot]'") from error
    rows = [point.rows for point in points]
    figure = Figure(figsize=(11, 3.5), layout="constrained")
    time_axes, recall_axes, size_axes = figure.subplots(1, 3)
    time_axes.loglog(rows, [p.p50_ms for p in points], "o-", label="p50")
    root = [points[0].p50_ms * (count / rows[0]) ** EXPONENT_BAR for count in rows]
    time_axes.loglog(rows, root, "--", color="grey", label="square root")
    time_axes.set(ylabel="ms a question", title="Search")
    time_axes.legend()
    recall_axes.semilogx(rows, [p.recall for p in points], "o-")
    recall_axes.set(
        ylabel="recall@10 of exhaustive search", title="Recall", ylim=(min(0.9, *(p.recall for p in points)), 1.0)
    )
    built = [point for point in points if point.kind != "exact"]
    sizes = [(p.store_bytes + p.candidate_bytes) / 1e6 for p in built]
    size_axes.loglog([p.rows for p in built], sizes, "o-", label="vectors and candidates, MB")
    size_axes.loglog(
        [p.rows for p in built], [p.build_seconds + p.open_seconds for p in built], "s-", label="made in, s"
    )
    size_axes.set(title="Size, and time to make candidates")
    size_axes.legend()
    for axes in (time_axes, recall_axes, size_axes):
        axes.set_xlabel("token vectors")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    typer.run(main)
