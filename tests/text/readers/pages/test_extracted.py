"""Pages joined to one text."""

from densephrases.text.layout import Layout, Section
from densephrases.text.readers.pages.extracted import Extracted, joined


def test_headings_move_with_their_pages() -> None:
    first = Extracted("", "One\n\ntext", Layout((Section(0, 3, 1, "One"),)))
    second = Extracted("", "Two", Layout((Section(0, 3, 2, "Two"),)))
    text, layout = joined([first, Extracted("", ""), second])
    assert text == "One\n\ntext\n\nTwo"
    assert [text[each.start : each.end] for each in layout.sections] == ["One", "Two"]
    assert layout.path(len(text)) == ["One", "Two"]


def test_nothing() -> None:
    assert joined([]) == ("", Layout())
