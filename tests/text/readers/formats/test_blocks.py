"""Blocks as text."""

from densephrases.text.passages import RECORD_BREAK
from densephrases.text.readers.formats.blocks import Block, blocks_text, table_block


def test_gaps() -> None:
    rows = table_block([["Name", "Age", "City"], ["Ann", "7", "Bern"], ["Bob", "8", "Rome"]])
    blocks = [
        Block("Heading"),
        Block("A sentence."),
        Block("one", "item"),
        Block(""),
        Block("two", "item"),
        Block("After."),
        rows,
        Block("Ages"),
        rows,
        Block(" "),
        Block("End."),
    ]
    first, second = "Name: Ann, Age: 7, City: Bern.", "Name: Bob, Age: 8, City: Rome."
    assert blocks_text(blocks) == RECORD_BREAK.join(
        ["Heading\n\nA sentence.\n\n- one\n- two\n\nAfter.", first, second, f"Ages\n\n{first}", second, "End."]
    )


def test_a_header_that_is_marked() -> None:
    assert table_block([["Ada", "1815"], ["Alan", "1912"]], has_header=True).text == "Ada: Alan, 1815: 1912."


def test_nothing() -> None:
    assert blocks_text([]) == blocks_text([Block(""), table_block([])]) == ""
