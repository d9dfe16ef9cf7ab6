"""Work is shared among threads, none of which uses more than its share of the cores."""

from threading import get_ident

import faiss
import pytest

from densephrases.cores import cores, limited_to, side_by_side


def test_a_limit_ends_with_its_block() -> None:
    before = cores()
    with limited_to(1):
        assert faiss.omp_get_max_threads() == cores() == 1
    assert cores() == before


@pytest.mark.parametrize(("threads", "share"), [(16, 4), (4, 1), (6, 2), (2, 1)])
def test_each_of_four_items_has_its_share(threads: int, share: int) -> None:
    before = cores()
    try:
        faiss.omp_set_num_threads(threads)
        found = side_by_side(lambda item: (item, cores(), get_ident()), range(4))
    finally:
        faiss.omp_set_num_threads(before)
    assert [(item, shared) for item, shared, _ in found] == [(item, share) for item in range(4)]
    assert get_ident() not in {thread for _, _, thread in found}


def test_one_core_needs_no_thread() -> None:
    with limited_to(1):
        assert side_by_side(lambda _: get_ident(), range(3)) == [get_ident()] * 3
    assert side_by_side(lambda item: item, []) == []


def test_what_a_thread_raises_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        side_by_side(lambda item: 1 // item, [1, 0])
