"""Segments are divided into shards of consecutive ones."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.cluster.sharding.assignment import assigned
from densephrases.errors import ConfigError


@given(
    st.lists(st.integers(0, 1000), min_size=1, max_size=12).flatmap(
        lambda v: st.tuples(st.just(v), st.integers(1, len(v)))
    )
)
def test_every_segment_belongs_to_one_shard(given_: tuple[list[int], int]) -> None:
    vectors, shards = given_
    found = assigned(vectors, shards)
    assert len(found) == shards
    assert found[0].start == 0
    assert found[-1].stop == len(vectors)
    assert all(before.stop == after.start for before, after in pairwise(found))
    assert all(each.stop > each.start for each in found)


def test_shards_have_about_as_many_vectors() -> None:
    assert assigned([10, 10, 10, 30, 30, 30], 2) == [slice(0, 4), slice(4, 6)]
    assert assigned([90, 1, 1, 1], 3) == [slice(0, 1), slice(1, 2), slice(2, 4)]


@pytest.mark.parametrize("shards", [0, 3])
def test_other_numbers_are_refused(shards: int) -> None:
    with pytest.raises(ConfigError, match=rf"shards={shards} .*2 segments.*optimize INDEX --segments N"):
        assigned([5, 5], shards)
