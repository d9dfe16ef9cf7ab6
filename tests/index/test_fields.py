"""Numbers in bytes: all of them are there, the important ones with the most bits, and codes come back."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from densephrases.index.fields import WIDTHS, bits_of_numbers, fields, row_type


@given(st.integers(1, 800))
def test_every_number_has_its_place_and_every_byte_is_full(dim: int) -> None:
    numbers = np.concatenate([field.numbers_FM.ravel() for field in fields(dim)])
    assert sorted(numbers.tolist()) == list(range(len(bits_of_numbers(dim))))
    for field in fields(dim):
        assert (field.bits_FM.sum(axis=1) == 8).all()
    assert row_type(dim).itemsize == sum(bits_of_numbers(dim)) // 8


@given(st.integers(1, 800))
def test_bits_fall_from_the_first_number_to_the_last(dim: int) -> None:
    bits = bits_of_numbers(dim)
    assert list(bits) == sorted(bits, reverse=True)
    assert set(bits) == set(WIDTHS)


@given(st.integers(1, 60), st.integers(0, 20))
def test_codes_come_back_from_bytes(dim: int, rows: int) -> None:
    generator = np.random.default_rng(dim)
    codes_NK = generator.integers(0, 2 ** np.array(bits_of_numbers(dim)), (rows, len(bits_of_numbers(dim))))
    for field in fields(dim):
        bytes_NF = field.packed(codes_NK.astype(np.uint8))
        read = field.codes()[np.arange(bytes_NF.shape[1]), bytes_NF]
        assert read.tolist() == codes_NK[:, field.numbers_FM].tolist()
