"""Inverted lists on disk, without the 64-bit id that faiss keeps for each row.

Rows of a list ascend. So it is enough to store the list of each row, in ten bits for a million rows in a thousand
lists. These bits are stored in planes: the lowest bit of all rows, then the next.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Bytes
from densephrases.errors import PhraseIndexError, first_line
from densephrases.index.files.checked import write_block_checksums
from densephrases.index.files.durable import FileEntry, HashedFile
from densephrases.index.files.mapped import release_pages

EMPTY_FILE = "candidates.faiss"  # centroids and codebooks of an index of faiss
LIST_CENTROIDS_FILE = "candidate_centroids.bin"  # of clusters, where the codebooks are the model's
CODES_FILE = "candidate_codes.bin"  # of all lists in turn, in the layout of faiss
LISTS_FILE = "candidate_lists.bin"
CANDIDATE_CHECKSUMS_FILE = "candidate_checksums.bin"  # of the blocks of these
INVERTED_FILES = (EMPTY_FILE, LIST_CENTROIDS_FILE, CODES_FILE, LISTS_FILE, CANDIDATE_CHECKSUMS_FILE)

Lists = NDArray[np.uint16]

_MOST_LISTS = 1 << 16

# Shape suffixes: N rows, L lists, K components.


def write_inverted(index: Any, folder: Path) -> dict[str, FileEntry]:
    """Write an index of faiss, which this empties."""
    lists = faiss.downcast_InvertedLists(index.invlists)
    list_N = np.zeros(index.ntotal, dtype=np.uint16)
    for number in range(index.nlist):
        list_N[_rows(lists, number)] = number
    written = _write_lists(folder, list_N, index.nlist, (_codes(lists, number) for number in range(index.nlist)))
    index.reset()
    return _with_checksums(folder, written | {EMPTY_FILE: _write(folder / EMPTY_FILE, [faiss.serialize_index(index)])})


def write_clusters(
    folder: Path, centroids_LK: NDArray[np.float16], list_N: Lists, codes: Iterable[Bytes]
) -> dict[str, FileEntry]:
    """Write lists whose codebooks are the model's: centroids, the list of each row, and the codes of all lists."""
    head = _write(folder / LIST_CENTROIDS_FILE, [centroids_LK.astype("<f2")])
    return _with_checksums(folder, _write_lists(folder, list_N, len(centroids_LK), codes) | {LIST_CENTROIDS_FILE: head})


def read_centroids(files: Callable[[str], Bytes], components: int) -> NDArray[np.float32]:
    """The centroids of clusters (L, components)."""
    stored = files(LIST_CENTROIDS_FILE)
    if not len(stored) or len(stored) % (2 * components) or len(stored) // (2 * components) > _MOST_LISTS:
        raise _damaged(LIST_CENTROIDS_FILE, f"it has no centroids of {components} numbers")
    centroids_LK = stored.view("<f2").reshape(-1, components).astype(np.float32)
    if not np.isfinite(centroids_LK).all():
        raise _damaged(LIST_CENTROIDS_FILE, "its numbers are not finite")
    return centroids_LK


def read_inverted(files: Callable[[str], Bytes], rows: int, dim: int) -> Any:
    """The index that was written, in memory, from the contents of its files by name."""
    try:
        index = faiss.deserialize_index(files(EMPTY_FILE))
    except (RuntimeError, MemoryError) as error:
        raise _damaged(EMPTY_FILE, first_line(error)) from error
    if not _is_empty_ivf(index, dim):
        raise _damaged(EMPTY_FILE, f"it is no empty inverted file of vectors of {dim} numbers")
    fill_lists(index, files, rows)
    return index


def fill_lists(index: Any, files: Callable[[str], Bytes], rows: int) -> None:
    """Give an empty index of faiss its rows and codes."""
    list_N = list_numbers(files(LISTS_FILE), rows, index.nlist)
    if list_N is None:
        raise _damaged(LISTS_FILE, f"it does not assign {rows} rows to {index.nlist} lists")
    codes = files(CODES_FILE)
    lists = faiss.downcast_InvertedLists(index.invlists)
    sizes_L = np.bincount(list_N, minlength=index.nlist)
    if _code_bytes(lists, sizes_L).sum() != len(codes):
        raise _damaged(CODES_FILE, "its size does not match the lists")
    _fill(lists, sizes_L, np.argsort(list_N, kind="stable"), codes)
    release_pages(codes)
    index.ntotal = rows


def _is_empty_ivf(index: Any, dim: int) -> bool:
    """Whether it is of a kind that we write, with a centroid for each list: faiss trusts all of that in a search."""
    if not isinstance(index, faiss.IndexIVFScalarQuantizer | faiss.IndexIVFPQFastScan):
        return False
    lists, centroids = index.invlists, faiss.downcast_index(index.quantizer)
    return bool(
        index.d == dim
        and index.ntotal == 0
        and index.is_trained
        and index.metric_type == faiss.METRIC_INNER_PRODUCT
        and 1 <= index.nlist <= _MOST_LISTS
        and isinstance(centroids, faiss.IndexFlatIP)
        and (centroids.d, centroids.ntotal) == (dim, index.nlist)
        and lists.nlist == index.nlist
        and all(lists.list_size(number) == 0 for number in range(index.nlist))
        and _fits(index, faiss.downcast_InvertedLists(lists), dim)
    )


def _fits(index: Any, lists: Any, dim: int) -> bool:
    """Whether codes and codebooks have the sizes that follow from the vector size."""
    if isinstance(index, faiss.IndexIVFScalarQuantizer):
        return bool(lists.code_size == index.code_size == (dim + 1) // 2 and index.sq.trained.size() == 2 * dim)
    codes = index.pq.M
    return bool(
        isinstance(lists, faiss.BlockInvertedLists)
        and (index.pq.d, index.pq.nbits) == (dim, 4)
        and codes
        and dim % codes == 0
        and index.pq.centroids.size() == dim * 16
        and (lists.n_per_block, lists.block_size) == (index.bbs, index.bbs * index.M2 // 2)
        and codes + codes % 2 == index.M2
    )


def planes(list_N: Lists, lists: int) -> list[Bytes]:
    """The bits of numbers below `lists`, each bit of all rows together."""
    return [np.packbits((list_N >> bit & 1).astype(np.uint8)) for bit in range((lists - 1).bit_length())]


def list_numbers(stored: Bytes, rows: int, lists: int) -> Lists | None:
    """The list numbers from their planes, one after the other; None if their size or a number is wrong."""
    bits, size = (lists - 1).bit_length(), -(-rows // 8)
    list_N = np.zeros(rows, dtype=np.uint16)
    if len(stored) != bits * size:
        return None
    for bit, plane in enumerate(stored.reshape(bits, size)):
        list_N |= np.unpackbits(plane, count=rows).astype(np.uint16) << bit
    return list_N if list_N.max(initial=0) < lists else None


def _fill(lists: Any, sizes_L: NDArray[np.int64], row_N: NDArray[np.int64], codes: Bytes) -> None:
    """Give faiss the rows of all lists and their codes, neither of which it checks."""
    row_edges = np.cumsum([0, *sizes_L]).tolist()
    code_edges = np.cumsum([0, *_code_bytes(lists, sizes_L)]).tolist()
    for number, size in enumerate(sizes_L.tolist()):
        if size:  # in one call, as other threads wait for Python's lock to read other segments
            rows, held = row_N[row_edges[number] :], codes[code_edges[number] :]
            lists.add_entries(number, size, faiss.swig_ptr(rows), faiss.swig_ptr(held))


def _rows(lists: Any, number: int) -> NDArray[np.int64]:
    """A view of the rows of a list."""
    size = lists.list_size(number)
    return faiss.rev_swig_ptr(lists.get_ids(number), size) if size else np.zeros(0, dtype=np.int64)


def _codes(lists: Any, number: int) -> Bytes:
    size = int(_code_bytes(lists, lists.list_size(number)))
    return faiss.rev_swig_ptr(lists.get_codes(number), size) if size else np.zeros(0, dtype=np.uint8)


def _code_bytes(lists: Any, sizes: Any) -> Any:
    """Bytes of `sizes` rows of a list: faiss stores some codes in blocks of 32 rows, the last partly empty."""
    if isinstance(lists, faiss.BlockInvertedLists):
        return -(-sizes // lists.n_per_block) * lists.block_size
    return sizes * lists.code_size


@dataclass(frozen=True, slots=True)
class _Written:
    entry: FileEntry
    checksums: list[int]


def _write_lists(folder: Path, list_N: Lists, lists: int, codes: Iterable[Bytes]) -> dict[str, _Written]:
    assert lists <= _MOST_LISTS
    return {
        CODES_FILE: _write(folder / CODES_FILE, codes),
        LISTS_FILE: _write(folder / LISTS_FILE, planes(list_N, lists)),
    }


def _with_checksums(folder: Path, written: dict[str, _Written]) -> dict[str, FileEntry]:
    checksums = write_block_checksums(
        folder / CANDIDATE_CHECKSUMS_FILE, {name: file.checksums for name, file in written.items()}
    )
    return {**{name: file.entry for name, file in written.items()}, CANDIDATE_CHECKSUMS_FILE: checksums}


def _write(path: Path, blocks: Iterable[Any]) -> _Written:
    file = HashedFile(path)
    try:
        for block in blocks:
            file.write(block)
        return _Written(file.finish(), file.checksums)
    except BaseException:
        file.abandon()
        raise


def _damaged(file: str, why: str) -> PhraseIndexError:
    return PhraseIndexError(
        f"'{file}' cannot be read as part of a candidate index ({why}); it is damaged: "
        "run `densephrases check`, and restore it or build a new index."
    )
