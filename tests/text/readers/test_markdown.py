"""Title, text and headings of Markdown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.text.readers.markdown import markdown_page, markdown_title


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# One\n# Two", "One"),
        ("intro\n\n### Third level ###\n", "Third level"),
        ("Under\n=====\n# Later", "Under"),
        ("\r\n# Windows\r\n", "Windows"),
        ("```sh\n# a comment\n```\n# Real", "Real"),
        ("~~~~\n~~~\n# code\n~~~~\n# Real", "Real"),
        ("```\n# never closed", ""),
        ("#hashtag\n    # indented code", ""),
        ('---\ntitle: "Front: matter"\ntags: [a]\n---\n# Heading', "Front: matter"),
        ("---\ntags: [a]\n---\n# Heading", "Heading"),
        ("---\r\ntitle: It's\r\n---\r\n", "It's"),
        ("text only", ""),
        ("# " + "\t" * 60_000 + "x\n# Short", "Short"),
        ("---\ntitle: " + " " * 60_000 + "\n---\n# Heading", "Heading"),
        ("\n" * 100_000 + "# Too far down", ""),
        ("", ""),
    ],
)
def test_markdown_titles(text: str, title: str) -> None:
    assert markdown_title(text) == title


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("# One #\ntext *a* **b** `c_d_e` _f_ snake_case", "One\n\ntext a b c_d_e f snake_case"),
        (
            'a [link](http://x.y/z_(1) "t"), ![picture](p.png) and [text][ref]\n\n[ref]: http://x',
            "a link, picture and text",
        ),
        (
            "- **port**: Where it\n  listens.\n- host\n  - nested\n1. one",
            "port: Where it\nlistens.\n\nhost\n\nnested\n\none",
        ),
        (
            "| Setting | Default |\n|:--|--:|\n| `port` | 5432 |\n| host | a \\| b |\nafter",
            "Setting: port; Default: 5432.\n\nSetting: host; Default: a | b.\n\nafter",
        ),
        ("Name | Size\n--- | ---\nx | 1\n\ny", "Name: x; Size: 1.\n\ny"),
        ("Under\n=====\na\n\nTwo\n---\nb", "Under\n\na\n\nTwo\n\nb"),
        ("```sh\n# no *heading*\n\n  ls\n```\nafter", "# no *heading*\n\n  ls\n\nafter"),
        ("text\n\n    code *x*\n    more\n\nend", "text\n\n    code *x*\n    more\n\nend"),
        ("> quoted **text**\n> more", "quoted text\nmore"),
        ("Term\n: Its definition.", "Term: Its definition."),
        ("a\n\n---\n\nb\n***\nc", "a\n\nb\n\nc"),
        ("---\ntitle: T\n---\ntext", "text"),
        ("<!-- a\nb -->\ntext <b>bold</b> &amp; 2 * 3 * 4 \\*x\\*", "text bold & 2 * 3 * 4 *x*"),
        ("- [x] done\n- [ ] open[^1]", "done\n\nopen"),
        ("```\nnever closed", "never closed"),
        ("|a|b|\n|-|-|", "a; b."),
        ("", ""),
    ],
)
def test_text(source: str, text: str) -> None:
    assert markdown_page(source).text == text


def test_headings() -> None:
    _, text, layout = markdown_page("# One\na\n## Two `x`\nb\n\nThree\n-----\nc")
    assert [text[each.start : each.end] for each in layout.sections] == ["One", "Two x", "Three"]
    assert [layout.path(text.rindex(word)) for word in "abc"] == [["One"], ["One", "Two x"], ["One", "Three"]]


def test_a_title_has_no_markup() -> None:
    assert markdown_page("# The `conf` *file*").title == "The conf file"


LINES = st.lists(st.text(st.sampled_from("#|-=*`>: a1[]()\t~_<!\\&"), max_size=12), max_size=12)


@given(LINES)
def test_sections_are_in_the_text_in_order(lines: list[str]) -> None:
    _, text, layout = markdown_page("\n".join(lines))
    places = [place for section in layout.sections for place in (section.start, section.end)]
    assert places == sorted(places)
    assert all(" ".join(text[each.start : each.end].split()) == each.name for each in layout.sections)


@pytest.mark.parametrize("source", ["[", "*a ", "**a*", "`", "_a", "<a ", "![", "[a](", "> ", "|", "&", "#", "- "])
def test_markup_without_end_is_read(source: str) -> None:
    for repeated in (source * 100_000, (source + "\n") * 20_000):
        assert len(markdown_page(repeated).text) <= 3 * len(repeated)
