"""The text of a line of Markdown without its markup."""

import html
import re

_CODE = re.compile(r"(?<!`)(`{1,3})(?!`)(.{1,300}?)(?<!`)\1(?!`)")
_IMAGE_OR_LINK = re.compile(
    r"!?\[([^\[\]]{0,300})\](?:\([^()\s]{0,500}(?:\([^()\s]{0,100}\))?(?: +\"[^\"]{0,200}\")?\)|\[[^\[\]]{0,100}\])"
)
_FOOTNOTE = re.compile(r"\[\^[^\]\s]{1,50}\]")
_AUTOLINK = re.compile(r"<((?:https?|ftp|mailto):[^<>\s]{1,500})>")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,300}>|<!--.{0,500}?-->")
_STARS = re.compile(r"(\*{1,3})(?=[^\s*])(.{1,300}?)(?<=[^\s*])\1")
_UNDERSCORES = re.compile(r"(?<!\w)(_{1,3})(?=[^\s_])(.{1,300}?)(?<=[^\s_])\1(?!\w)")
_STRUCK = re.compile(r"~~(?=\S)([^~]{1,300})(?<=\S)~~")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_HELD = re.compile("\ue000(\\d{1,6})\ue001")


def inline_text(line: str) -> str:
    """Without the marks of emphasis, code, links and images, and without HTML tags."""
    held: list[str] = []

    def hold(text: str) -> str:
        held.append(text)
        return f"\ue000{len(held) - 1}\ue001"

    line = _HELD.sub("", line)
    line = _CODE.sub(lambda found: hold(found[2].strip() or found[2]), line)
    line = _ESCAPED.sub(lambda found: hold(found[1]), line)
    line = _AUTOLINK.sub(r"\1", line)
    line = _FOOTNOTE.sub("", line)
    for _ in range(2):  # a picture may be in a link
        line = _IMAGE_OR_LINK.sub(r"\1", line)
    line = _TAG.sub("", line)
    for _ in range(2):  # emphasis in emphasis
        line = _UNDERSCORES.sub(r"\2", _STARS.sub(r"\2", line))
    line = html.unescape(_STRUCK.sub(r"\1", line)) if "&" in line or "~" in line else line
    return _HELD.sub(lambda found: held[int(found[1])] if int(found[1]) < len(held) else "", line)
