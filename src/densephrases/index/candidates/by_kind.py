"""The kinds of candidates: which one fits a segment, how it is written and opened."""

from collections.abc import Callable
from pathlib import Path

from densephrases.arrays import Bytes
from densephrases.index.candidates.base import CandidateIndex
from densephrases.index.candidates.clusters import ClusterCandidates, write_cluster_candidates
from densephrases.index.candidates.exact import ExactCandidates, is_small
from densephrases.index.candidates.ivf import IvfCandidates
from densephrases.index.candidates.ivf_file import write_inverted
from densephrases.index.candidates.ivf_training import FEWEST_CLUSTERED, build_ivf
from densephrases.index.candidates.passages import PassageCandidates
from densephrases.index.files.durable import FileEntry
from densephrases.index.kinds import CandidateKind
from densephrases.index.vectors.store import VectorStore

MOST_IN_PASSAGE_LISTS = 3_000_000  # of more vectors, clusters find as much in little more than half the time


def choose_kind(store: VectorStore, wanted: CandidateKind | None = None) -> CandidateKind:
    """The kind that was asked for if there are vectors enough to train it, else the one that fits."""
    if len(store) < FEWEST_CLUSTERED:
        return "exact"
    if wanted is not None:
        return wanted
    if is_small(len(store)):
        return "exact"
    if store.centroids is None:
        return "ivf-pq"
    return "passages" if len(store) <= MOST_IN_PASSAGE_LISTS else "clusters"


def open_candidates(files: Callable[[str], Bytes], kind: CandidateKind, store: VectorStore) -> CandidateIndex:
    """`files` gives the content of a file by its name."""
    if kind == "exact":
        return ExactCandidates(store)
    if kind == "passages":
        return PassageCandidates(store)
    return (ClusterCandidates if kind == "clusters" else IvfCandidates).from_files(files, store)


def write_candidates(store: VectorStore, kind: CandidateKind, folder: Path) -> dict[str, FileEntry]:
    """Build and save what the kind needs beside the store, the same for the same vectors."""
    if kind in ("exact", "passages"):
        return {}
    if kind == "clusters":
        return write_cluster_candidates(store, folder)
    return write_inverted(build_ivf(store, kind), folder)
