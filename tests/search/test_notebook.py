"""Answers as notebooks show them."""

from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from densephrases.search.answers import Answer, AnswerList, PhraseSpan, SourceDocument, source_parts

SENTENCE = "It was <b>Ada</b> & Co., who came."
ANSWER = Answer(
    text="<b>Ada</b>",
    score=1.0,
    confidence=0.666,
    start=7,
    end=17,
    document=SourceDocument("<id>", "A <title>", {}),
    passage=SENTENCE,
    sentence=SENTENCE,
    phrase=PhraseSpan("<b>Ada</b>", 7, 17),
    passage_start=0,
    sentence_start=0,
    unit="phrase",
)


class Parsed(HTMLParser):
    """The elements of a text of HTML, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_phrase_is_marked_in_its_sentence_with_its_source() -> None:
    html = ANSWER._repr_html_()
    assert unescape(html.partition("<mark")[2].partition(">")[2].partition("</mark>")[0]) == "<b>Ada</b>"
    assert Parsed(html).text == f"{SENTENCE}A <title> · <id> · 67% sure"


def test_several_are_a_list() -> None:
    assert Parsed(AnswerList([ANSWER, ANSWER])._repr_html_()).tags.count("li") == 2
    assert AnswerList()._repr_html_() == "<p>No answer.</p>"
    assert AnswerList([ANSWER]) == [ANSWER]


def test_where_a_document_comes_from() -> None:
    def parts(identifier: str, title: str, **metadata: Any) -> list[str]:
        return source_parts(replace(ANSWER, document=SourceDocument(identifier, title, metadata)))

    assert parts("a.txt", "") == parts("a.txt", "a.txt") == ["a.txt"]
    assert parts("a.txt", "A") == ["A", "a.txt"]
    assert parts("7", "A", path="notes/a.txt", url="https://example.org") == ["A", "notes/a.txt"]
    assert parts("7", "A", path="", url="https://example.org") == ["A", "https://example.org"]
    assert parts("7", "A", path=5) == ["A", "7"]


@given(st.text(min_size=1), st.text(), st.text())
def test_no_text_becomes_markup(phrase: str, title: str, identifier: str) -> None:
    sentence = f"{title}{phrase}{identifier}"
    place = PhraseSpan(phrase, len(title), len(title) + len(phrase))
    shown = replace(ANSWER, sentence=sentence, phrase=place, document=SourceDocument(identifier, title, {}))
    assert set(Parsed(shown._repr_html_()).tags) == {"div", "mark", "br", "span"}
