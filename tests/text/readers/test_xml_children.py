"""XML that is read child by child, and what is refused of it."""

from io import BytesIO
from pathlib import Path

import pytest

from densephrases.errors import DataError
from densephrases.text.readers.xml_children import XmlChildren

LIMIT = 1_000_000


def children(content: str, limit: int = LIMIT) -> list[str]:
    return [
        f"{element.tag}:{''.join(element.itertext())}"
        for element in XmlChildren(BytesIO(content.encode()), Path("a.xml"), limit)
    ]


def test_children() -> None:
    assert children("<r xmlns='n'>x<a>1<b>2</b></a> <c/>y</r>") == ["a:12", "c:"]
    assert children("<r/>") == []
    page = f"<p>{'x' * 60_000}</p>"
    assert len(children(f"<r>{page * 50}</r>", limit=200_000)) == 50


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (f"<r><a>{'x' * 1_200_000}</a></r>", "has more than 1 MB"),
        (
            f"<r><a {' '.join(f'x{n}=' + chr(34) + '>' + chr(34) for n in range(200_000))}/></r>",
            "more than 1,048,576 bytes",
        ),
        (f"<r>{'<a>' * 200}", "more than 100 levels"),
        ("<!DOCTYPE r [<!ENTITY a 'b'>]><r><c>&a;</c></r>", "declares a document type"),
        ("<r><a>&b;</a></r>", "is not XML: undefined entity"),
        ("<r><a></r>", "is not XML: mismatched tag"),
        ("", "is not XML: no element found"),
    ],
)
def test_what_is_refused(content: str, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        children(content, 100_000_000 if "bytes" in reason else LIMIT)


def test_too_many_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("densephrases.text.readers.xml_children.MOST_VALUES", 1000)
    assert len(children("<r>" + "<a><b/></a>" * 2000 + "</r>")) == 2000
    with pytest.raises(DataError, match="or 1,000 in one of them"):
        children("<r><a>" + "<b/>" * 1001 + "</a></r>")


def test_children_before_a_mistake_are_given() -> None:
    read = iter(XmlChildren(BytesIO(b"<r><a>1</a><b>"), Path("a.xml"), LIMIT))
    assert next(read).text == "1"
    with pytest.raises(DataError, match="is not XML"):
        next(read)
