"""Documents are values."""

from dataclasses import FrozenInstanceError

import pytest

from densephrases.text.documents import Document, Skipped, SourceFile


def test_documents_are_equal_by_content_and_do_not_change() -> None:
    document = Document("a", "text", metadata={"lang": "en"})
    assert document == Document("a", "text", "", {"lang": "en"})
    with pytest.raises(FrozenInstanceError):
        document.text = "other"  # type: ignore[misc]


def test_metadata_is_not_shared() -> None:
    assert Document("a", "").metadata is not Document("b", "").metadata


def test_a_skipped_item_reads_as_a_sentence() -> None:
    assert str(Skipped("a.txt, line 3", "is not JSON.")) == "'a.txt, line 3' is not JSON."


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a/b.MD", "md"),
        ("a.b/c", ""),
        ("x.txt.gz", "txt"),
        ("x.GZ", ""),
        (".env", ""),
        (".env.gz", ""),
        ("x.tar.bz2", "tar"),
        ("end.", ""),
    ],
)
def test_types_of_files(path: str, expected: str) -> None:
    assert SourceFile("r", path, 0, 0).type == expected


@pytest.mark.parametrize(
    ("nanoseconds", "expected"),
    [
        (-(10**18), "1970-01-01T00:00:00Z"),
        (999_999_999, "1970-01-01T00:00:00Z"),
        (1_767_225_599_999_999_999, "2025-12-31T23:59:59Z"),
        (10**30, "9999-12-31T23:59:59Z"),
    ],
)
def test_when_files_were_modified(nanoseconds: int, expected: str) -> None:
    assert SourceFile("r", "x", nanoseconds, 0).modified == expected
