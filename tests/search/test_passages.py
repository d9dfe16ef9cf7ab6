"""Samples of the text of a collection."""

from dataclasses import dataclass, field
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from densephrases.index.segment.reader import Segment
from densephrases.search.passages import sampled_texts


@dataclass
class HugeSegment:
    """Too many passages to be listed; notes which are read."""

    passages: int
    read: list[int] = field(default_factory=list)

    @property
    def passage_documents(self) -> range:
        return range(self.passages)

    def passage_text(self, passage: int) -> str:
        self.read.append(passage)
        return f"{self.passages}:{passage:020}"[:20]


def sample(segments: list[HugeSegment], characters: int) -> list[str]:
    return list(sampled_texts(cast("list[Segment]", segments), characters))


def test_a_sample_reads_no_more_passages_than_it_needs() -> None:
    huge = [HugeSegment(10**12), HugeSegment(10**15)]
    assert len(sample(huge, 20 * 1000)) == 1000
    assert [*huge[0].read, *huge[1].read] == list(range(0, 64 * 1000, 64))


@given(st.lists(st.integers(0, 150), max_size=4), st.integers(1, 10_000))
def test_a_sample_is_spread_and_has_no_passage_twice(sizes: list[int], characters: int) -> None:
    segments = [HugeSegment(size) for size in sizes]
    listed = [(segment, passage) for segment in segments for passage in range(segment.passages)]
    spread = [place for first in range(64) for place in listed[first::64]][: -(-characters // 20)]
    expected = [segment.passage_text(passage) for segment, passage in spread]
    assert sample(segments, characters) == expected
