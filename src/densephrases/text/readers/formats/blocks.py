"""Paragraphs, list items and tables of a document, put together as text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from densephrases.text.passages import RECORD_BREAK
from densephrases.text.readers.formats.row_sentences import table_text
from densephrases.text.sentences import ends_as_sentence

_LONGEST_HEADING = 100  # characters

Kind = Literal["paragraph", "item", "rows"]


@dataclass(frozen=True, slots=True)
class Block:
    text: str
    kind: Kind = "paragraph"


def table_block(rows: Sequence[Sequence[str]], *, has_header: bool = False) -> Block:
    return Block(table_text(rows, has_header=has_header), "rows")


def blocks_text(blocks: Iterable[Block]) -> str:
    """A blank line between paragraphs, a line break between items of a list, a record break around tables.

    A heading stays with the first row below it.
    """
    filled = [Block(f"- {block.text}", "item") if block.kind == "item" else block for block in _filled(blocks)]
    gaps = [_gap(before, after) for before, after in pairwise(filled)]
    return "".join(block.text + gap for block, gap in zip(filled, [*gaps, ""], strict=False))


def _filled(blocks: Iterable[Block]) -> Iterator[Block]:
    return (block for block in blocks if block.text.strip())


def _gap(before: Block, after: Block) -> str:
    if before.kind == "rows" or (after.kind == "rows" and not _is_heading(before)):
        return RECORD_BREAK
    return "\n" if before.kind == after.kind == "item" else "\n\n"


def _is_heading(block: Block) -> bool:
    return block.kind == "paragraph" and len(block.text) <= _LONGEST_HEADING and not ends_as_sentence(block.text)
