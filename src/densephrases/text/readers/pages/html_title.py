"""Titles of pages without the name of the site."""

import re

from densephrases.text.passages import without_number

_BORDER = r"\s*(?:\s[\u2014\u2013|\u00b7\u00bb\u00ab\u2022/-]+\s|::|:\s|\|)\s*"
_AFTER = re.compile(_BORDER)
_BEFORE = re.compile(_BORDER + r"\Z")
_LONGEST = 1000


def page_title(title: str, heading: str, site: str) -> str:
    """The title of a page.

    Of a title that begins or ends with the page's first heading, only the heading; else the title without the site's
    name, if the page declares one, at either end. Without a title, the heading.
    """
    title, heading, site = (" ".join(each.split())[:_LONGEST] for each in (title, heading, site))
    if not title:
        return heading
    for name, whole in ((heading, True), (without_number(heading), True), (site, False)):
        if not name or name.casefold() == title.casefold():
            continue
        if title[: len(name)].casefold() == name.casefold() and (border := _AFTER.match(title, len(name))):
            return title[: len(name)] if whole else title[border.end() :]
        if title[-len(name) :].casefold() == name.casefold() and (border := _BEFORE.search(title[: -len(name)])):
            return title[-len(name) :] if whole else title[: border.start()]
    return title
