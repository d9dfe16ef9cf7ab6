"""Work that the processor's cores share, in threads of our own: each has faiss for itself.

With sixteen threads of its own faiss 1.15 compares with a sixteenth of 20,000 lists only.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import faiss

Item = TypeVar("Item")
Result = TypeVar("Result")


def cores() -> int:
    """That the calling thread may use."""
    return int(faiss.omp_get_max_threads())


@contextmanager
def limited_to(count: int) -> Iterator[None]:
    """What the calling thread starts uses as many cores."""
    before = cores()
    faiss.omp_set_num_threads(count)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def side_by_side(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Each item in a thread of its own, if there are cores for several; each has an equal share of these."""
    threads = min(len(items), cores())
    if threads <= 1:
        return list(map(work, items))
    share = -(-cores() // len(items))

    def shared(item: Item) -> Result:
        with limited_to(share):
            return work(item)

    with ThreadPoolExecutor(threads, "search") as executor:
        return list(executor.map(shared, items))
