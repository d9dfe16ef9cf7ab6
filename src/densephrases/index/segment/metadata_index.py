"""Which documents of a segment have which value of metadata, so that filters need not read every record.

Each pair of a key and a value is known by a digest of 128 bits. No two pairs have the same one, so nothing is compared
with the records. Documents without metadata take no bytes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Ints
from densephrases.index.segment.document_record import DocumentRecord
from densephrases.text.metadata import written_forms

METADATA_ARRAYS = {
    "metadata_digests": "<u8",  # two numbers for each pair of a key and a value, sorted
    "metadata_counts": "<u4",  # documents that have the pair
    "metadata_documents": "<u4",  # these, ascending for each pair
}
_NONE = b",{}]"  # how the record of a document without metadata and without a file ends

# Shape suffixes: E pairs of a key and a value, N pairs of each document in turn.

Digests = NDArray[np.uint64]


@dataclass(frozen=True)
class MetadataIndex:
    """The documents of each pair of a key and a value; arrays may be mapped."""

    digests_E2: Digests
    counts_E: NDArray[np.uint32]
    documents_N: NDArray[np.uint32]

    @classmethod
    def open(cls, array: Callable[[str], NDArray[Any]]) -> Self:
        digests, counts_E, documents_N = map(array, METADATA_ARRAYS)
        return cls(digests.reshape(-1, 2), counts_E, documents_N)

    def documents_with(self, key: str, values: Iterable[str]) -> Ints:
        """Numbers of the documents whose metadata has one of the values, as texts; one may occur several times."""
        found = [self._documents_of(_digest(key, value)) for value in values]
        return np.concatenate([np.zeros(0, dtype=np.int64), *found])

    def _documents_of(self, digest: tuple[int, int]) -> NDArray[np.uint32]:
        high, low = (np.uint64(half) for half in digest)
        first, stop = (int(np.searchsorted(self._high_E, high, side)) for side in ("left", "right"))
        for pair in range(first, stop):
            if self.digests_E2[pair, 1] == low:
                return self.documents_N[self._edges_E[pair] : self._edges_E[pair + 1]]
        return self.documents_N[:0]

    def of_documents(self, first: int, last: int) -> tuple[Digests, Ints]:
        """The pairs of the documents from `first` to `last`, exclusive: digests (N, 2) and document numbers (N)."""
        order_N, document_N = self._by_document
        chosen = slice(*np.searchsorted(document_N, [first, last]).tolist())
        pair_N = np.searchsorted(self._edges_E, order_N[chosen], side="right") - 1
        return self.digests_E2[pair_N], document_N[chosen].astype(np.int64)

    @cached_property
    def _high_E(self) -> Digests:  # noqa: N802
        return np.ascontiguousarray(self.digests_E2[:, 0])

    @cached_property
    def _edges_E(self) -> Ints:  # noqa: N802
        return np.concatenate([[0], np.cumsum(self.counts_E, dtype=np.int64)])

    @cached_property
    def _by_document(self) -> tuple[Ints, NDArray[np.uint32]]:
        order_N = np.argsort(self.documents_N, kind="stable")
        return order_N, self.documents_N[order_N]


class MetadataWriter:
    """Takes documents in order; `append` receives the name of an array and the next values of it."""

    def __init__(self, append: Callable[[str, Any], None]) -> None:
        self._append = append
        self._documents = 0
        self._digests: list[Digests] = []
        self._numbers: list[Ints] = []

    def add(self, records: Sequence[bytes]) -> None:
        """Documents by their records, which are read as filters read them."""
        self._add_metadata(
            [{} if record.endswith(_NONE) else DocumentRecord.from_json(record).metadata for record in records]
        )

    def copy(self, index: MetadataIndex | None, first: int, last: int, metadata: Callable[[int], Any]) -> None:
        """Documents of another segment, by their metadata if it has no index."""
        if index is None:
            self._add_metadata(map(metadata, range(first, last)))
            return
        digests_N2, document_N = index.of_documents(first, last)
        self._digests.append(digests_N2)
        self._numbers.append(document_N + (self._documents - first))
        self._documents += last - first

    def _add_metadata(self, several: Iterable[Mapping[str, Any]]) -> None:
        digests: list[tuple[int, int]] = []
        numbers: list[int] = []
        for metadata in several:
            found = list(_pairs(metadata))
            digests += found
            numbers += [self._documents] * len(found)
            self._documents += 1
        self._digests.append(np.array(digests, dtype=np.uint64).reshape(-1, 2))
        self._numbers.append(np.array(numbers, dtype=np.int64))

    def finish(self) -> None:
        digests_N2 = np.concatenate([np.zeros((0, 2), dtype=np.uint64), *self._digests])
        document_N = np.concatenate([np.zeros(0, dtype=np.int64), *self._numbers])
        order_N = np.lexsort((document_N, digests_N2[:, 1], digests_N2[:, 0]))
        digests_N2 = digests_N2[order_N]
        others_N = (digests_N2[1:] != digests_N2[:-1]).any(axis=1)  # than the one before
        first_E = np.concatenate([np.zeros(min(len(order_N), 1), dtype=np.int64), np.flatnonzero(others_N) + 1])
        self._append("metadata_digests", digests_N2[first_E].ravel())
        self._append("metadata_counts", np.diff(first_E, append=len(order_N)))
        self._append("metadata_documents", document_N[order_N])


def _pairs(metadata: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    for key, value in metadata.items():
        for text in written_forms(value):
            yield _digest(key, text)


def _digest(key: str, text: str) -> tuple[int, int]:
    name = key.encode(errors="surrogatepass")
    data = len(name).to_bytes(8, "little") + name + text.encode(errors="surrogatepass")
    digest = blake2b(data, digest_size=16).digest()
    return int.from_bytes(digest[:8], "big"), int.from_bytes(digest[8:], "big")
