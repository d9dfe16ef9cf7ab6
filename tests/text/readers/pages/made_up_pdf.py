"""PDF files written by hand, so that every line stands where a test wants it."""

from collections.abc import Sequence

Placed = tuple[float, float, float, str]
"""Left, distance from the bottom, font size and text of a line."""


def make_pdf(*pages: str | Sequence[Placed], title: str = "", drawn: str = "") -> bytes:
    """Pages of 300 by 400 points with lines of ASCII; `drawn` is added to each page."""
    objects = ["<</Type/Catalog/Pages 2 0 R>>", "", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
    kids = []
    for page in pages:
        lines = [(10.0, 350.0, 12.0, page)] if isinstance(page, str) else page
        content = drawn + " ".join(
            f"BT /F {size} Tf {left} {bottom} Td ({_escaped(text)}) Tj ET" for left, bottom, size, text in lines if text
        )
        objects.append(f"<</Length {len(content)}>>stream\n{content}\nendstream")
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 400]/Contents {len(objects)} 0 R"
            "/Resources<</Font<</F 3 0 R>>>>>>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<</Type/Pages/Kids[{' '.join(kids)}]/Count {len(kids)}>>"
    objects.append(f"<</Title({_escaped(title)})>>")
    return _file(objects)


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def _file(objects: Sequence[str]) -> bytes:
    written, places = "%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(written))
        written += f"{number} 0 obj{content}endobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    count = len(objects) + 1
    trailer = f"trailer<</Root 1 0 R/Info {count - 1} 0 R/Size {count}>>\nstartxref\n{len(written)}\n%%EOF\n"
    return f"{written}xref\n0 {count}\n0000000000 65535 f \n{table}{trailer}".encode("ascii")
