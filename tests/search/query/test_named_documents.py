"""Documents named by their title or their file name."""

import numpy as np
import pytest

from densephrases.search.query import named_documents
from densephrases.search.query.named_documents import DocumentNames, NamedDocuments, titles_of
from tests.search.made_up import MemoryIndex, SegmentMaker

DOCUMENTS = {
    "git/git-rebase.html": "git-rebase(1)",
    "git/git-clone.html": "git-clone(1)",
    "pg/runtime-config-wal.html": "20.5. Write Ahead Log",
    "project-a/README.md": "Tools",
    "project-b/README.md": "",
    "notes/todo.txt": "To do",
}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("git-rebase manual", ["git/git-rebase.html"]),
        ("git rebase", ["git/git-rebase.html"]),
        ("README of project A", ["project-a/README.md"]),
        ("readme", ["project-a/README.md", "project-b/README.md"]),
        ("write ahead log", ["pg/runtime-config-wal.html"]),
        ("the write ahead log documentation", ["pg/runtime-config-wal.html"]),
        ("git/git-clone.html", ["git/git-clone.html"]),
        ("todo.txt", ["notes/todo.txt"]),
        ("rebase", []),
        ("git", []),
        ("git rebase onto", []),
        ("manual", []),
        ("", []),
    ],
)
def test_named(query: str, expected: list[str]) -> None:
    named = NamedDocuments(DocumentNames.from_document(*each) for each in DOCUMENTS.items())
    assert named(query) == expected


def test_names_of_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    maker = SegmentMaker(np.random.default_rng(0))
    maker.add("ada", [["Ada"]], {})
    maker.add("mary", [["Mary"]], {})
    index = MemoryIndex([maker.made()], [np.array([False, True])])
    assert NamedDocuments.from_titles(titles_of(index))("title of ada") == ["ada"]
    assert NamedDocuments.from_titles(titles_of(index))("mary") == [], "it is deleted"
    monkeypatch.setattr(named_documents, "MOST_DOCUMENTS", 1)
    assert NamedDocuments.from_titles(titles_of(index))("ada") == []
