"""Title and text of a web page that lies inside another file."""

from pathlib import Path

from densephrases.text.readers.html import decode_html, html_text
from densephrases.text.readers.html_limits import refuse_slow_page


def page_text(content: bytes | str, place: Path) -> tuple[str, str]:
    """`place` is for messages."""
    source = content if isinstance(content, str) else decode_html(content)
    refuse_slow_page(source, place)
    return html_text(source)
