"""Answers as notebooks show them: the phrase marked in its sentence, with title, path and confidence.

Styles stand in the elements: notebooks remove style sheets. All text is escaped.
"""

from collections.abc import Sequence
from html import escape

from densephrases.search.answers import Answer

CONTEXT = 300  # characters on either side of a phrase: a "sentence" may be a whole table
_MARK = "background:#ffe7a6;color:#22201c;padding:0 .1em;border-radius:3px"
_QUIET = "opacity:.7;font-size:.9em"
_ITEM = "margin:0 0 .8em"


class AnswerList(list[Answer]):
    """The answers to a question, best first: a list that notebooks show as text with marked phrases."""

    def _repr_html_(self) -> str:
        return answers_html(self)


def answers_html(answers: Sequence[Answer]) -> str:
    if not answers:
        return "<p>No answer.</p>"
    items = "".join(f'<li style="{_ITEM}">{answer_html(answer)}</li>' for answer in answers)
    return f'<ol style="max-width:42em">{items}</ol>'


def answer_html(answer: Answer) -> str:
    before, after = around_phrase(answer)
    phrase = f'<mark style="{_MARK}">{escape(answer.phrase.text)}</mark>'
    sure = [] if answer.confidence is None else [f"{answer.confidence:.0%} sure"]
    source = " · ".join(escape(part) for part in [*source_parts(answer), *sure])
    return f'<div>{escape(before)}{phrase}{escape(after)}<br><span style="{_QUIET}">{source}</span></div>'


def around_phrase(answer: Answer) -> tuple[str, str]:
    """The text before and after the phrase: of its sentence, clipped, or all of its passage if that is the answer."""
    if answer.unit == "passage":
        start, end = answer.phrase.start - answer.passage_start, answer.phrase.end - answer.passage_start
        return answer.passage[:start], answer.passage[end:]
    start, end = answer.phrase.start - answer.sentence_start, answer.phrase.end - answer.sentence_start
    return _last(answer.sentence[:start]), _first(answer.sentence[end:])


def source_parts(answer: Answer) -> list[str]:
    """The title and, if it is not the same, where the document comes from."""
    title, place = answer.document.title, source_path(answer)
    return [title, place] if title and place != title else [place]


def source_path(answer: Answer) -> str:
    """Where the document comes from: `path` or `url` of its metadata, else its id."""
    for key in ("path", "url"):
        if isinstance(value := answer.document.metadata.get(key), str) and value:
            return value
    return answer.document.id


def _last(text: str) -> str:
    return text if len(text) <= CONTEXT else "… " + text[-CONTEXT:].partition(" ")[2]


def _first(text: str) -> str:
    return text if len(text) <= CONTEXT else text[:CONTEXT].rpartition(" ")[0] + " …"
