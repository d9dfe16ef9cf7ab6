"""Windows of any passages, sorted and cut into batches, and every token found again."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from densephrases.model.packing import PackedPassages, Packing
from densephrases.model.tokenizer import TokenizedPassage
from densephrases.text.passages import Passage
from tests.model.test_encoder import PASSAGES, FakeEncoder

ENCODER = FakeEncoder()


def tokenized(passages: list[Passage]) -> list[TokenizedPassage]:
    return ENCODER.tokens.passages(passages)


def own_ids(passage: TokenizedPassage) -> list[int]:
    return [number for window in passage.windows for number in window.ids[window.own_columns].tolist()]


@given(PASSAGES, st.integers(1, 60))
def test_every_token_is_computed_once_and_found_again(passages: list[Passage], tokens_per_batch: int) -> None:
    given_passages = tokenized(passages)
    packed = PackedPassages.from_tokenized(given_passages)
    packing = Packing.from_passages(packed, tokens_per_batch)
    assert packing.ids_N[packing.positions_T].tolist() == [n for passage in given_passages for n in own_ids(passage)]
    assert packed.tokens_P.tolist() == [len(passage.offsets) for passage in given_passages]
    assert sorted(packing.ids_N.tolist()) == sorted(packed.ids_C.tolist())


@given(PASSAGES, st.integers(1, 60))
def test_batches_are_whole_windows_in_groups_of_equal_length(passages: list[Passage], tokens_per_batch: int) -> None:
    windows = [window for passage in tokenized(passages) for window in passage.windows]
    packing = Packing.from_passages(PackedPassages.from_tokenized(tokenized(passages)), tokens_per_batch)
    expected = sorted(windows, key=lambda window: -len(window.ids))
    found = []
    for batch in packing.batches:
        ids, columns = packing.ids_N[batch.columns], packing.columns_N[batch.columns]
        assert sum(group.windows for group in batch.groups) == batch.windows.stop - batch.windows.start
        assert len({group.length for group in batch.groups}) == len(batch.groups)
        for first, count, length in batch.groups:
            part = slice(first, first + count * length)
            assert (columns[part].reshape(count, length) == np.arange(length)).all()
            found += ids[part].reshape(count, length).tolist()
    assert found == [window.ids.tolist() for window in expected]
    assert packing.types_N.tolist() == [t for window in expected for t in window.types.tolist()]
    assert packing.edges_W.tolist() == np.cumsum([0, *(len(window.ids) for window in expected)]).tolist()


@given(PASSAGES, st.integers(0, 20))
def test_parts_join_to_the_whole(passages: list[Passage], cut: int) -> None:
    parts = [PackedPassages.from_tokenized(tokenized(part)) for part in (passages[:cut], passages[cut:])]
    whole = PackedPassages.from_tokenized(tokenized(passages))
    for name in PackedPassages.__slots__:
        joined, expected = getattr(PackedPassages.join(parts), name), getattr(whole, name)
        np.testing.assert_array_equal(joined, expected)
        assert joined.dtype == expected.dtype


def test_batches_are_about_equal() -> None:
    passages = [Passage(" ".join(["w1"] * (5 + number % 7))) for number in range(200)]
    packing = Packing.from_passages(PackedPassages.from_tokenized(tokenized(passages)), 500)
    sizes = [batch.columns.stop - batch.columns.start for batch in packing.batches]
    assert len(sizes) == -(-sum(sizes) // 500)
    assert max(sizes) - min(sizes) <= 20
