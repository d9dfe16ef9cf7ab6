"""Messages."""

from email.message import EmailMessage
from pathlib import Path

import pytest

from densephrases.errors import DataError
from densephrases.text.documents import Document
from densephrases.text.readers.archives.mail import read_eml

FIRST = "Ada Lövelace (ada@example.org) wrote to Charles (cb@example.org), x@example.org on 2024-05-03 14:30."


def message(**headers: str) -> EmailMessage:
    made = EmailMessage()
    given = {
        "From": "Ada Lövelace <ada@example.org>",
        "To": "Charles <cb@example.org>, x@example.org",
        "Subject": "Café \u2013 a meeting",
        "Date": "Fri, 03 May 2024 14:30:00 +0200",
        "Message-ID": "<1@example.org>",
    }
    for name, value in (given | headers).items():
        made[name] = value
    return made


def read(folder: Path, content: bytes) -> Document:
    path = folder / "a.eml"
    path.write_bytes(content)
    (document,) = read_eml(path, "a.eml")
    return document


def test_a_message(tmp_path: Path) -> None:
    made = message()
    made.set_content("On Tuesday.\n\n> When does it come?\n")
    made.add_alternative("<p>On <b>Tuesday</b>.</p>", subtype="html")
    made.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="Rechnung für Mai.pdf")
    assert read(tmp_path, made.as_bytes()) == Document(
        "a.eml",
        f"{FIRST}\n\nOn Tuesday.\n\n> When does it come?\n\nAttachments: Rechnung für Mai.pdf.",
        "Café \u2013 a meeting",
        {
            "from": "Ada Lövelace <ada@example.org>",
            "to": "Charles <cb@example.org>, x@example.org",
            "date": "2024-05-03 14:30",
            "message_id": "1@example.org",
        },
    )


def test_html_alone(tmp_path: Path) -> None:
    made = message(Cc="Otto <otto@example.org>")
    made.set_content("<style>p {}</style><p>On <b>Tuesday</b>.<p>Yours", subtype="html")
    text = read(tmp_path, made.as_bytes()).text
    assert text.endswith(
        "x@example.org with a copy to Otto (otto@example.org) on 2024-05-03 14:30.\n\nOn Tuesday.\n\nYours"
    )


@pytest.mark.parametrize("charset", ["windows-1252", "utf-8", "unheard-of", "us-ascii"])
def test_encodings(tmp_path: Path, charset: str) -> None:
    body = "Café \u2013 5 €".encode("utf-8" if charset == "utf-8" else "cp1252")
    head = f"From: a@example.org\r\nContent-Type: text/plain; charset={charset}\r\n\r\n"
    assert read(tmp_path, head.encode() + body).text == "a@example.org wrote.\n\nCafé \u2013 5 €"


def test_an_attached_message_is_named(tmp_path: Path) -> None:
    inner = message(Subject="Inner")
    inner.set_content("secret plan")
    made = message()
    made.set_content("See below.")
    made.add_attachment(inner)
    assert read(tmp_path, made.as_bytes()).text == f"{FIRST}\n\nSee below.\n\nAttachments: a message."


@pytest.mark.parametrize(
    ("header", "title"),
    [
        (b"Subject: =?utf-8?q?Caf=C3=A9?=", "Café"),
        (b"Subject: =?broken?x?=C3?=\nFrom: <<>>@@\nDate: never\nTo: ;;,,", "=?broken?x?=C3?="),
        (b"Subject: Z\xfcrich", "Z\ufffdrich"),
        (b"From: a@example.org", "a.eml"),
    ],
)
def test_odd_headers(tmp_path: Path, header: bytes, title: str) -> None:
    document = read(tmp_path, header + b"\nContent-Type: multipart/mixed; boundary=x\n\nHi.")
    document.text.encode()
    assert document.title == title


@pytest.mark.parametrize("content", [b"no header at all\n\ntext", b"\0\1\2", b"X-Only: 1\n\nx"])
def test_what_is_no_message(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(DataError, match="is not an e-mail"):
        read(tmp_path, content)


def test_bounds(tmp_path: Path) -> None:
    path = tmp_path / "a.eml"
    path.write_bytes(b"From: a@example.org\nContent-Type: multipart/mixed; boundary=x\n\n" + b"--x\n\n" * 100_001)
    with pytest.raises(DataError, match="more than 100,000 boundaries"):
        list(read_eml(path, "a"))
    with pytest.raises(DataError, match="has more than 1 KB"):
        list(read_eml(path, "a", 1000))


def test_parts_in_parts_without_end(tmp_path: Path) -> None:
    levels = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(5000))
    with pytest.raises(DataError, match="cannot be read as e-mail"):
        read(tmp_path, b"From: a@example.org\n" + levels)
