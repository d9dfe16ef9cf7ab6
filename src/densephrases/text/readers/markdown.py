"""Titles of Markdown files."""

import re

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_UNDERLINE = re.compile(r" {0,3}=+[ \t]*")
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(.*?\n)---[ \t]*(?:\r?\n|$)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:[ \t]*([\"']?)(.+?)\1[ \t]*\r?$", re.MULTILINE)
_FENCE = re.compile(r" {0,3}(```+|~~~+)")


def markdown_title(text: str) -> str:
    """The title of the front matter, else the first heading outside code blocks, else nothing."""
    front = _FRONT_MATTER.match(text)
    if front and (named := _FRONT_TITLE.search(front[1])):
        return named[2]
    return _first_heading(text[front.end() :] if front else text)


def _first_heading(text: str) -> str:
    fence = previous = ""
    for line in text.splitlines():
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
