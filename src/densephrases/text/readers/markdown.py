"""Titles of Markdown files."""

import re

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_UNDERLINE = re.compile(r" {0,3}=+[ \t]*")
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(.*?\n)---[ \t]*(?:\r?\n|$)", re.DOTALL)
_FRONT_TITLE = re.compile(r"title:[ \t]*([\"']?)(.+?)\1[ \t]*")
_HEAD = 1 << 16  # characters in which a title is looked for
_LONGEST = 1000  # characters of a line that may be one: the time to match it grows with its square
_FENCE = re.compile(r" {0,3}(```+|~~~+)")


def markdown_title(text: str) -> str:
    """The title of the front matter, else the first heading outside code blocks, else nothing."""
    head = text[:_HEAD]
    front = _FRONT_MATTER.match(head)
    for line in front[1].splitlines() if front else ():
        if len(line) <= _LONGEST and (named := _FRONT_TITLE.fullmatch(line)):
            return named[2]
    return _first_heading(head[front.end() :] if front else head)


def _first_heading(text: str) -> str:
    fence = previous = ""
    for line in text.splitlines():
        if len(line) > _LONGEST:
            previous = ""
            continue
        if opened := _FENCE.match(line):
            fence = _fence_after(fence, opened[1])
        elif not fence:
            if heading := _HEADING.fullmatch(line):
                return heading[1].strip()
            if previous.strip() and _UNDERLINE.fullmatch(line):
                return previous.strip()
        previous = "" if fence or opened else line
    return ""


def _fence_after(fence: str, marker: str) -> str:
    """The code fence that is open after a line with this marker. Only a marker of its kind and length closes it."""
    if not fence:
        return marker
    return "" if marker.startswith(fence) else fence
