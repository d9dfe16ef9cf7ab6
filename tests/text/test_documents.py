"""Documents are values."""

from dataclasses import FrozenInstanceError

import pytest

from densephrases.text.documents import Document, Skipped


def test_documents_are_equal_by_content_and_do_not_change() -> None:
    document = Document("a", "text", metadata={"lang": "en"})
    assert document == Document("a", "text", "", {"lang": "en"})
    with pytest.raises(FrozenInstanceError):
        document.text = "other"  # type: ignore[misc]


def test_metadata_is_not_shared() -> None:
    assert Document("a", "").metadata is not Document("b", "").metadata


def test_a_skipped_item_reads_as_a_sentence() -> None:
    assert str(Skipped("a.txt, line 3", "is not JSON.")) == "'a.txt, line 3' is not JSON."
