"""Source passages: of SQuAD files and of documents, with ids and articles of their own."""

import json
from pathlib import Path

import pytest

from densephrases.data.generated.source_passages import read_source
from densephrases.data.squad import read_squad, sample_path
from densephrases.errors import DataError


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    rows = [
        {"id": "a", "title": "A", "paragraphs": ["It was built in 1889. " + "x" * 600, "Later, in 1950. " + "y" * 600]},
        {"id": "b", "title": "B", "text": "The year 1750."},
    ]
    path = tmp_path / "documents.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_passages_of_squad_and_documents(documents: Path) -> None:
    squad = read_squad(sample_path())
    found = list(read_source([sample_path(), documents]))
    assert len({source.id for source in found}) == len(found) == len(squad) + 3
    assert [s.passage for s in found[: len(squad)]] == [p.passage for p in squad]
    assert found[0].questions == tuple(q.text for q in squad[0].questions)
    articles = squad[-1].article + 1
    assert [(s.id, s.passage.title, s.article) for s in found[len(squad) :]] == [
        ("documents#a#0", "A", articles),
        ("documents#a#1", "A", articles),
        ("documents#b#0", "B", articles + 1),
    ]
    assert len(list(read_source([sample_path(), documents], limit=5))) == 5


def test_files_without_passages_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.json").write_text('{"data": []}')
    with pytest.raises(DataError, match=r"No passage found in '.*empty\.json'; expected SQuAD JSON or documents"):
        list(read_source([tmp_path / "empty.json"]))
    with pytest.raises(DataError, match="an empty list of files"):
        list(read_source([]))
