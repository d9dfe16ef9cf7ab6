"""Limits on what one document may cost: a small file can unfold into any amount of text, tags, columns or values."""

import re

from densephrases.errors import ConfigError

MAX_DOCUMENT = 50_000_000  # bytes, decompressed: ten times the longest novel
MOST_VALUES = 1_000_000  # JSON values of a record, delimiters of a row of a table, tags of a page
MOST_COLUMNS = 10_000
MOST_BLANK = 100_000  # lines one after another
MOST_EXPANSION = 200  # times the compressed size; text takes a third to a thirtieth
FREE_EXPANSION = 1 << 26  # bytes to which any file may expand

TOO_LARGE = "too large"  # kind of a file or record that is skipped

_SIZE = re.compile(r"(\d{1,15})([KMG]?)B?", re.IGNORECASE | re.ASCII)
_UNITS = {"G": 10**9, "M": 10**6, "K": 10**3, "": 1}


def parse_size(written: str) -> int:
    """Bytes of a size such as 500000, 200K, 50M or 1G."""
    found = _SIZE.fullmatch(written.strip())
    size = int(found[1]) * _UNITS[found[2].upper()] if found else 0
    if size < 1:
        raise ConfigError(
            f"max_document='{written}' is no size; expected a number of bytes of at least 1, such as 500K, 50M or 1G."
        )
    return size


def shown_size(size: int) -> str:
    """In the largest unit of which it is a whole number."""
    return next(f"{size // scale:,} {unit}B" for unit, scale in _UNITS.items() if size % scale == 0)


def too_large(size: int) -> str:
    """The end of a sentence about a document that is left out."""
    return f"has more than {shown_size(size)}, the most that a document may have; raise it with --max-document"
