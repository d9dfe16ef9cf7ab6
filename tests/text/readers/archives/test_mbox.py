"""Mailboxes."""

import mailbox
from pathlib import Path

import pytest

from densephrases.errors import DataError
from densephrases.text.documents import Document, Skipped
from densephrases.text.readers.archives.mbox import read_mbox
from densephrases.text.readers.read import read_documents
from tests.text.readers.archives.test_mail import message


def box(path: Path, bodies: list[str]) -> Path:
    written = mailbox.mbox(path)
    for number, body in enumerate(bodies):
        made = message(Subject=f"Mail {number}")
        made.set_content(body)
        written.add(made)
    written.close()
    return path


def test_messages(tmp_path: Path) -> None:
    path = box(tmp_path / "a.mbox", ["One.", "Two.\n\nFrom here on it gets odd.\nFrom there, too.", "Three."])
    found = list(read_mbox(path, "a.mbox"))
    assert [item.id for item in found if isinstance(item, Document)] == ["a.mbox#1", "a.mbox#2", "a.mbox#3"]
    second = found[1]
    assert isinstance(second, Document)
    assert second.title == "Mail 1"
    assert second.text.endswith("Two.\n\nFrom here on it gets odd.\nFrom there, too.")


def test_a_file_that_is_called_mbox(tmp_path: Path) -> None:
    box(tmp_path / "mbox", ["One.", "Two."])
    assert [document.title for document in read_documents([tmp_path])] == ["Mail 0", "Mail 1"]


def test_a_bad_message_is_skipped_alone(tmp_path: Path) -> None:
    path = box(tmp_path / "a.mbox", ["One.", "x" * 2000, "Three."])
    content = path.read_bytes() + b"\nFrom - Sat May 3 10:00:00 2024\nno header\n\n"
    path.write_bytes(content)
    first, large, third, no_message = read_mbox(path, "a", limit=1000)
    assert isinstance(first, Document)
    assert isinstance(third, Document)
    assert large == Skipped(
        f"{path}, message 2", "has more than 1 KB, the most that a document may have; raise it with --max-document."
    )
    assert isinstance(no_message, Skipped)
    assert no_message.reason.startswith("is not an e-mail")


def test_what_is_no_mailbox(tmp_path: Path) -> None:
    path = tmp_path / "a.mbox"
    path.write_text("Dear Ann,\n")
    with pytest.raises(DataError, match="is not a mailbox: it does not begin with a line 'From '"):
        list(read_mbox(path, "a"))
