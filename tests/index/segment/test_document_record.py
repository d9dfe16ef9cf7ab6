"""Records of documents with and without files."""

import pytest

from densephrases.index.segment.document_keys import PreparedDocument
from densephrases.index.segment.document_record import DocumentRecord
from densephrases.text.documents import Document, SourceFile

FILE = SourceFile("docs", "a/b.md", 1_767_225_599_123_456_789, 12, "/home/docs", "docs/")


def test_what_is_stored_is_read() -> None:
    document = Document("i", "text", "title", {**FILE.metadata(), "lang": "en", "size": "XL"}, file=FILE)
    prepared = PreparedDocument.from_document(document)
    record = DocumentRecord.from_json(prepared.record)
    assert (record.id, record.title, record.metadata, record.file) == ("i", "title", document.metadata, FILE)
    assert b"modified" not in prepared.record
    assert b"/home" not in prepared.record


def test_without_a_file() -> None:
    record = PreparedDocument.from_document(Document("i", "text", "", {"lang": "en"})).record
    assert record == b'["i","",{"lang":"en"}]'
    assert DocumentRecord.from_json(record) == DocumentRecord("i", "", {"lang": "en"})


def test_a_touched_file_is_the_same_content() -> None:
    later = SourceFile("docs", "a/b.md", FILE.modified_ns + 10**9, 12)
    one, other = (
        PreparedDocument.from_document(Document("i", "text", "", {**file.metadata(), "n": 1}, file=file))
        for file in (FILE, later)
    )
    assert one.digest == other.digest == PreparedDocument.from_document(Document("i", "text", "", {"n": 1})).digest
    assert one.record != other.record


@pytest.mark.parametrize("record", [b'["i","",{},null,[1,2,3,4]]', b'["i","",{},null,["r"]]', b'["i"]', b"{"])
def test_what_no_writer_writes(record: bytes) -> None:
    with pytest.raises((ValueError, TypeError)):
        DocumentRecord.from_json(record)
