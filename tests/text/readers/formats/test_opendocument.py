"""OpenDocument files, written for the test."""

import zipfile
from pathlib import Path

import pytest

from densephrases.errors import DataError
from densephrases.text.documents import Document
from densephrases.text.passages import RECORD_BREAK
from densephrases.text.readers.formats.opendocument import read_opendocument

NAMES = "office text table draw"
SPACES = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in NAMES.split())
META = (
    f'<office:document-meta {SPACES} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta>{{}}'
    "<dc:creator>A. Berg</dc:creator><dc:date>2024-05-03T14:30:00</dc:date></office:meta></office:document-meta>"
)


def read(folder: Path, body: str, title: str = "") -> Document:
    path = folder / "a.odt"
    with zipfile.ZipFile(path, "w") as archive:
        content = f"<office:document-content {SPACES}><office:body>{body}</office:body></office:document-content>"
        archive.writestr("content.xml", content)
        archive.writestr("meta.xml", META.format(f"<dc:title>{title}</dc:title>"))
    (document,) = read_opendocument(path, "a.odt")
    return document


def table(*rows: str, head: bool = False) -> str:
    cells = [
        "<table:table-row>"
        + "".join(f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in row.split("|"))
        + "</table:table-row>"
        for row in rows
    ]
    first = f"<table:table-header-rows>{cells[0]}</table:table-header-rows>" if head else cells[0]
    return f"<table:table>{first}{''.join(cells[1:])}</table:table>"


def test_a_text(tmp_path: Path) -> None:
    body = (
        "<office:text><text:tracked-changes><text:p>gone</text:p></text:tracked-changes><text:h>The lease</text:h>"
        "<text:p>It ends on<text:s text:c='2'/><text:span>31 March</text:span><text:line-break/>2027.</text:p>"
        "<text:list><text:list-item><text:p>heating</text:p></text:list-item>"
        "<text:list-item><text:p>water</text:p></text:list-item></text:list>"
        + table("Name|Born", "Ada|1815")
        + table("Tenant|Street", "Anna|Main Street", head=True)
        + table("Tenant|Anna", "Landlord|The city")
        + "<text:section><text:p>Signed.</text:p></text:section></office:text>"
    )
    assert read(tmp_path, body) == Document(
        "a.odt",
        RECORD_BREAK.join(
            [
                "The lease\n\nIt ends on  31 March\n2027.\n\n- heating\n- water",
                "Name: Ada, Born: 1815.",
                "Tenant: Anna, Street: Main Street.",
                "Tenant: Anna, Landlord: The city.",
                "Signed.",
            ]
        ),
        "The lease",
        {"author": "A. Berg", "modified": "2024-05-03"},
    )
    assert read(tmp_path, body, "Given").title == "Given"


def test_a_spreadsheet(tmp_path: Path) -> None:
    body = (
        "<office:spreadsheet><table:table><table:table-row><table:table-cell><text:p>Day</text:p></table:table-cell>"
        "<table:table-cell><text:p>Rain</text:p></table:table-cell>"
        "<table:table-cell table:number-columns-repeated='16382'/></table:table-row><table:table-row>"
        "<table:table-cell office:date-value='2024-05-03'><text:p>03.05.24</text:p></table:table-cell>"
        "<table:table-cell><text:p>4 mm</text:p></table:table-cell></table:table-row>"
        "<table:table-row table:number-rows-repeated='1048574'><table:table-cell/></table:table-row>"
        "</table:table></office:spreadsheet>"
    )
    assert read(tmp_path, body).text == "Day: 2024-05-03, Rain: 4 mm."


def test_a_presentation(tmp_path: Path) -> None:
    body = (
        "<office:presentation><draw:page><draw:frame><draw:text-box><text:p>One</text:p></draw:text-box></draw:frame>"
        "</draw:page><draw:page><draw:frame><draw:text-box><text:p>Two</text:p></draw:text-box></draw:frame>"
        "</draw:page></office:presentation>"
    )
    assert read(tmp_path, body).text == "One\n\nTwo"


@pytest.mark.parametrize("files", [{"content.xml": "<no"}, {"other.xml": "<a/>"}])
def test_bad_files(tmp_path: Path, files: dict[str, str]) -> None:
    path = tmp_path / "a.odt"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    with pytest.raises(DataError, match="cannot be read as OpenDocument"):
        list(read_opendocument(path, "a"))


def test_levels_without_end(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nested too deeply"):
        read(tmp_path, "<text:section>" * 20_000 + "</text:section>" * 20_000)


def test_a_password(tmp_path: Path) -> None:
    path = tmp_path / "a.ods"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("content.xml", b"\x8a\x01 encrypted")
        archive.writestr("META-INF/manifest.xml", "<manifest><file-entry><encryption-data/></file-entry></manifest>")
    with pytest.raises(DataError, match=r"a.ods' is encrypted; save it without a password."):
        list(read_opendocument(path, "a.ods"))
