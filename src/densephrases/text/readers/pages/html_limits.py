"""Pages that would take a parser minutes: refused by what their tags cost at most, before any parser sees them.

A parser compares each start tag with the open elements and each attribute with those before it, so its time grows with
the square of either. What is counted here is never less than what a parser finds: every '<' before a letter counts as
a start tag, also in scripts and comments, an end tag counts only if it ends the innermost open element, and attributes
are counted from every start tag on, also inside of another.
"""

import re
from pathlib import Path

from densephrases.errors import DataError
from densephrases.text.readers.limits import MOST_VALUES

MOST_WORK = 100_000_000  # open elements, summed over all start tags: a second or two
MOST_ATTRIBUTES = 1_000  # of a tag
_MOST_LOOKED_AT = 50  # characters, for each one of the page: attributes that contain tags are looked at again
_SLOWER = 10  # Python than the parser
_QUICK = 20_000  # characters with which no page gets slow

_SPACE = r"\t\n\f\r "
_VALUE = rf"""(?:"[^"]*+"?|'[^']*+'?|[^{_SPACE}>"'][^{_SPACE}>]*+)"""
_ATTRIBUTE = rf"[{_SPACE}/]*+[^{_SPACE}/>][^{_SPACE}/>=]*+(?:[{_SPACE}]*+=[{_SPACE}]*+{_VALUE}?+)?+"
_TAG = re.compile(rf"<(/?)([a-zA-Z][^{_SPACE}/><]{{0,40}})")
_ATTRIBUTES = re.compile(rf"[^{_SPACE}/>]*+(?:{_ATTRIBUTE}){{0,{MOST_ATTRIBUTES}}}+")
_ONE_MORE = re.compile(_ATTRIBUTE)

_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
# Their end tags are often left out; the start of the next, or the end of what they are in, ends them.
_ENDED_BY_OTHERS = frozenset(
    ["p", "li", "dt", "dd", "tr", "td", "th", "tbody", "thead", "tfoot", "option", "optgroup", "rp", "rt"]
)


def refuse_slow_page(source: str, path: Path) -> None:
    """Raises DataError; `path` is for its message."""
    if len(source) <= _QUICK:
        return
    if source.count("<") > MOST_VALUES:
        raise DataError(f"'{path}' has more than {MOST_VALUES:,} tags.")
    opened: list[str] = []
    work = looked_at = 0
    for tag in _TAG.finditer(source):
        name = tag[2].lower()
        if tag[1]:
            work += _SLOWER * _close(opened, name)
        else:
            attributes = _ATTRIBUTES.match(source, tag.end())
            assert attributes is not None
            if _ONE_MORE.match(source, attributes.end()):
                raise DataError(f"'{path}' has a tag with more than {MOST_ATTRIBUTES:,} attributes.")
            looked_at += attributes.end() - tag.start()
            if name not in _VOID and not (name in _ENDED_BY_OTHERS and opened and opened[-1] == name):
                opened.append(name)
            work += len(opened)
        if work > MOST_WORK or looked_at > _MOST_LOOKED_AT * len(source):
            raise DataError(f"'{path}' has tags nested too deeply.")


def _close(opened: list[str], name: str) -> int:
    """Take away the innermost element of that name if only elements that others end are inside of it.

    Returns how many elements were looked at.
    """
    for steps, other in enumerate(reversed(opened), start=1):
        if other == name:
            del opened[-steps:]
            return steps
        if other not in _ENDED_BY_OTHERS:
            return steps
    return len(opened)
