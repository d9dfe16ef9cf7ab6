"""The prose of wikitext articles; importing this needs the extra `wiki`."""

import re
from collections.abc import Collection

import mwparserfromhell
from mwparserfromhell.nodes import ExternalLink, Heading, HTMLEntity, Node, Tag, Template, Text, Wikilink
from mwparserfromhell.parser import ParserError
from mwparserfromhell.wikicode import Wikicode

from densephrases.errors import DataError

_UNSEEN = {"ref", "references", "gallery", "math", "chem", "score", "timeline", "imagemap", "mapframe"}
_UNSEEN |= {"syntaxhighlight", "source", "style", "script", "templatestyles"}
_LISTS = {"ul", "ol", "dl", "li", "dt", "dd"}
_BLOCKS = ("p", "div", "blockquote", "center", "hr", "poem")
_SHOWN = {"lang": 2, "transl": 2, "transliteration": 2, "nowrap": 1, "nobr": 1, "small": 1, "abbr": 1, "sic": 1}
_MEASURES = ("convert", "cvt")
_SIGN = re.compile(  # of what can be nested; a tag that ends itself is none
    r"<[a-z]+[^<>]*/>|(?P<closing>\}\}|\]\]?|\|\}(?!\})|-->|</[a-z]+)"
    r"|(?P<opening>\{\{|\[\[|\{\||<!--|\[(?=(?:[a-z]+:)?//)|<[a-z]+)",
    re.IGNORECASE,
)
_ENDS = {"{{": "}}", "[[": "]]", "{|": "|}", "<!--": "-->", "[": "]"}  # of a tag, its name after '</'
_NEVER_CLOSED = frozenset(f"<{name}" for name in ("br", "hr", "wbr", "li", "dt", "dd", "tr", "td", "th"))
_MOST_DEEP = 30
_FEW_ERRORS = 10
_MOST_WORK = 20_000_000  # errors times characters: a few seconds

_LISTED = "\0"  # marks a line of a list; wikitext cannot contain it

_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_MARKS = re.compile(r"'{2,}|__[A-Z]+__")  # bold, italics, and switches such as __NOTOC__
_CUT_SYNTAX = ("|", "{|", "{{", "}}")  # lines of unclosed templates and tables
_REMAINS = (  # brackets and space that templates leave behind; runs of space first, which would take quadratic time
    (re.compile(r"\s+"), " "),
    (re.compile(r"\([\s,;:]*\)"), ""),
    (re.compile(r"\([\s,;:]+"), "("),
    (re.compile(r"\s+(?=[,.;:)](?:\s|$))"), ""),
    (re.compile(r"\s+"), " "),
)


def prose(source: str, media: Collection[str]) -> str:
    """Paragraphs separated by blank lines. Links to the namespaces `media`, in lower case, show no text."""
    _refuse_tangled(source)
    try:
        rendered = _render(mwparserfromhell.parse(source, skip_style_tags=True), media)
    except (ParserError, RecursionError) as error:
        raise DataError(f"The wikitext cannot be parsed: {type(error).__name__}.") from error
    lines = _MARKS.sub("", rendered).split("\n")
    kept = "\n".join("" if _LISTED in line or line.startswith(_CUT_SYNTAX) else line for line in lines)
    paragraphs = (_tidy(block) for block in _BLANK_LINE.split(kept))
    return "\n\n".join(paragraph for paragraph in paragraphs if any(map(str.isalpha, paragraph)))


def _refuse_tangled(source: str) -> None:
    """For every construct that is not closed, the parser reads the rest of the article again, and again."""
    opened: list[str] = []
    errors, most = 0, max(_FEW_ERRORS, _MOST_WORK // max(len(source), 1))
    for sign in _SIGN.finditer(source):
        if sign["closing"]:
            if opened and _ENDS.get(opened[-1], f"</{opened[-1][1:]}") == sign[0].lower():
                opened.pop()
            else:
                errors += 1
        elif sign["opening"] and sign[0].lower() not in _NEVER_CLOSED:
            opened.append(sign[0].lower())
            errors += len(opened) > _MOST_DEEP
        if errors > most:
            break
    if errors + len(opened) > most:
        raise DataError("The wikitext cannot be parsed: too many of its templates, links, tables or tags do not end.")


def _tidy(text: str) -> str:
    for pattern, replacement in _REMAINS:
        text = pattern.sub(replacement, text)
    return text.strip()


def _render(code: Wikicode, media: Collection[str]) -> str:
    return "".join(_node(node, media) for node in code.nodes)


def _node(node: Node, media: Collection[str]) -> str:
    """The visible text of a node; nothing for comments, arguments and unknown templates."""
    match node:
        case Text():
            return str(node.value)
        case Wikilink():
            return _link(node, media)
        case Tag():
            return _tag(node, media)
        case Template():
            return _template(node, media)
        case ExternalLink():
            return _render(node.title, media) if node.title else ""
        case HTMLEntity():
            return str(node.normalize())
        case Heading():
            return "\n\n"
        case _:
            return ""


def _link(link: Wikilink, media: Collection[str]) -> str:
    target = str(link.title).strip()
    if target.partition(":")[0].strip().lower() in media:
        return ""
    return _render(link.text, media) if link.text else target.lstrip(":")


def _tag(tag: Tag, media: Collection[str]) -> str:
    name = str(tag.tag).strip().lower()
    if name in _UNSEEN:
        return ""
    if name in _LISTS:
        return _LISTED if tag.wiki_markup else "\n\n"
    if name == "table":
        return "\n\n"
    if name == "br":
        return " "
    content = _render(tag.contents, media) if tag.contents else ""
    return f"\n\n{content}\n\n" if name in _BLOCKS else content


def _template(template: Template, media: Collection[str]) -> str:
    name = str(template.name).strip().lower()
    if name in _SHOWN and template.has(str(_SHOWN[name])):
        return _render(template.get(str(_SHOWN[name])).value, media).strip()
    if name in _MEASURES and template.has("1") and template.has("2"):
        return " ".join(_render(template.get(place).value, media).strip() for place in ("1", "2"))
    return ""
