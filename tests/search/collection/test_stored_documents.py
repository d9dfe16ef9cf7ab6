"""Documents of an index one after the other."""

from pathlib import Path
from typing import Any

import pytest

from densephrases.errors import ConfigError
from densephrases.index.segment.reader import Segment
from densephrases.search.phrase_index import PhraseIndex
from densephrases.text.documents import Document
from tests.index.made_up import HashEncoder

DOCUMENTS = [Document(f"d{n}", f"the city {n}", f"title {n}", {"year": 1900 + n, "even": n % 2 == 0}) for n in range(6)]


@pytest.fixture
def index(tmp_path: Path) -> PhraseIndex:
    made = PhraseIndex.create(tmp_path / "index", DOCUMENTS[:4], model=HashEncoder())
    made.add(DOCUMENTS[4:])
    made.delete(["d2"])
    return made


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (None, "d0 d1 d3 d4 d5"),
        ({"even": True}, "d0 d4"),
        ({"year": {">=": 1903}}, "d3 d4 d5"),
        ({"year": {">": 1900, "<": 1904}, "even": False}, "d1 d3"),
        ({"year": 1902}, ""),
    ],
)
def test_which(index: PhraseIndex, where: Any, expected: str) -> None:
    found = list(index.documents(where))
    assert [document.id for document in found] == expected.split()
    assert [document.whole() for document in found] == [d for d in DOCUMENTS if d.id in expected.split()]


def test_by_id(index: PhraseIndex) -> None:
    assert [document.title for document in index.documents(ids=["d5", "d2", "none"])] == ["title 5"]


def test_no_text_is_read_unasked(index: PhraseIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Segment, "text", lambda *_: pytest.fail("read"))
    assert len(list(index.documents())) == 5


def test_types_that_do_not_go_together(index: PhraseIndex) -> None:
    with pytest.raises(ConfigError, match="'year' with '1900', but document 'd0' has 1900"):
        list(index.documents({"year": {">": "1900"}}))
    assert list(index.documents({"year": {">": "1900"}}, ids=[])) == []


def test_a_copy_is_the_same_content(index: PhraseIndex, tmp_path: Path) -> None:
    copy = PhraseIndex.create(tmp_path / "copy", (each.whole() for each in index.documents()), model=index.encoder)
    assert copy.add(DOCUMENTS[3:]).unchanged == 3
