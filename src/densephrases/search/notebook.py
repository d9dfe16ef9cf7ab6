"""Answers as notebooks show them: the phrase marked in its sentence, with title, path and confidence.

Styles stand in the elements: notebooks remove style sheets. All text is escaped.
"""

from collections.abc import Sequence
from html import escape

_MARK = "background:#ffe7a6;color:#22201c;padding:0 .1em;border-radius:3px"
_QUIET = "opacity:.7;font-size:.9em"
_ITEM = "margin:0 0 .8em"


def marked_html(before: str, phrase: str, after: str, source: Sequence[str]) -> str:
    """A phrase in the text around it, and the parts of its source below."""
    mark = f'<mark style="{_MARK}">{escape(phrase)}</mark>'
    below = " · ".join(map(escape, source))
    return f'<div>{escape(before)}{mark}{escape(after)}<br><span style="{_QUIET}">{below}</span></div>'


def list_html(answers: Sequence[str]) -> str:
    """Several answers that are HTML already."""
    if not answers:
        return "<p>No answer.</p>"
    items = "".join(f'<li style="{_ITEM}">{answer}</li>' for answer in answers)
    return f'<ol style="max-width:42em">{items}</ol>'
