"""What a reader sees of wikitext."""

import pytest

pytest.importorskip("mwparserfromhell")

from densephrases.errors import DataError
from densephrases.text.readers.wikitext import prose

MEDIA = {"file", "image", "category", "datei"}


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("'''Ann''' met ''Bob''.", "Ann met Bob."),
        ("One\nline.\n\nTwo.", "One line.\n\nTwo."),
        ("[[Paris]] and [[Rome|the ''city'']]s.", "Paris and the citys."),
        ("a [http://x.org site] b http://y.org c", "a site b c"),
        ("a<ref name=x>note</ref> b<ref name=x /> c.<!-- no -->", "a b c."),
        ("5&nbsp;km &ndash; é", "5 km \u2013 é"),
        ("{{Infobox|name={{x}}\n|text=[[y]]}}\nText.", "Text."),
        ("before\n* one\n** two<ref>a\nb</ref>\n# three\n: four\n; five : six\nafter", "before\n\nafter"),
        ("before <ul><li>x</li></ul> after", "before\n\nafter"),
        ("a\n{| class=x\n| b || c\n|-\n| d\n|}\ne", "a\n\ne"),
        ("== Head ==\na\n=== Sub ===\nb", "a\n\nb"),
        ("[[File:x.jpg|thumb|A [[caption]]]] [[Datei:y.png]] a [[Category:Z]]", "a"),
        ("See [[:Category:Z]].", "See Category:Z."),
        (
            "'''X''' ({{IPA|x}}; born 1900; {{lang|fr|mot}}) is {{convert|5|km|mi}} long.",
            "X (born 1900; mot) is 5 km long.",
        ),
        ("X ({{unknown}}) is , well .", "X is, well."),
        ("a <br> b <span>c</span><div>d</div>e", "a b c\n\nd\n\ne"),
        ("<nowiki>[[a]]</nowiki> <math>x^2</math>b", "[[a]] b"),
        ("__NOTOC__\na", "a"),
        ("{{never closed\n| x\na", "a"),
        ("----\n!!!\n\n123", ""),
        ("", ""),
    ],
)
def test_prose(source: str, text: str) -> None:
    assert prose(source, MEDIA) == text


@pytest.mark.parametrize("unit", ["<b>", "<b ", "{{a|", "[[a|", "{|\n", "<b>{{a|</b>}}", "{{a|<b>}}</b>", "[http://a "])
def test_wikitext_that_takes_too_long_is_refused(unit: str) -> None:
    with pytest.raises(DataError, match="too many of its templates, links, tables or tags do not end"):
        prose(unit * 20_000, MEDIA)
    assert "text" in prose(f"text {unit}", MEDIA)


def test_long_runs_of_space() -> None:
    assert prose("a" + " " * 300_000 + "b", MEDIA) == "a b"
