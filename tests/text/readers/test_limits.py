"""Sizes as people write them."""

import pytest

from densephrases.cli.indexes.sources import LARGEST_DOCUMENT
from densephrases.errors import ConfigError
from densephrases.text.readers.limits import MAX_DOCUMENT, parse_size, shown_size, too_large


@pytest.mark.parametrize(
    ("written", "size"),
    [("1", 1), ("500000", 500_000), ("200K", 200_000), ("50m", 50_000_000), (" 1GB ", 10**9), ("7b", 7)],
)
def test_sizes(written: str, size: int) -> None:
    assert parse_size(written) == size


@pytest.mark.parametrize(
    "written", ["", "0", "0M", "-1", "1.5M", "much", "50X", "9" * 30, "١٢", "1 M M", "\udcff", "nan"]
)
def test_what_is_no_size(written: str) -> None:
    with pytest.raises(ConfigError, match="is no size; expected a number of bytes of at least 1"):
        parse_size(written)


def test_shown() -> None:
    sizes = (1, 1_500, 2_000, 50_000_000, 3 * 10**9)
    assert [shown_size(size) for size in sizes] == ["1 B", "1,500 B", "2 KB", "50 MB", "3 GB"]
    assert "has more than 50 MB" in too_large(MAX_DOCUMENT)


def test_the_command_and_the_library_have_the_same_limit() -> None:
    assert parse_size(LARGEST_DOCUMENT) == MAX_DOCUMENT
