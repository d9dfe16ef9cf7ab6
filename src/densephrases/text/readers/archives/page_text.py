"""Title, text and headings of a web page that lies inside another file."""

from pathlib import Path

from densephrases.text.readers.pages.extracted import Extracted
from densephrases.text.readers.pages.html import decode_html, html_page
from densephrases.text.readers.pages.html_limits import refuse_slow_page


def page_text(content: bytes | str, place: Path) -> Extracted:
    """`place` is for messages."""
    source = content if isinstance(content, str) else decode_html(content)
    refuse_slow_page(source, place)
    return html_page(source)
