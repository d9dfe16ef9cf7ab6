"""KILT's records, read from JSON lines."""

import json
from pathlib import Path

import pytest

from densephrases.data.kilt import EvidenceDocument, read_kilt
from densephrases.errors import DataError


def test_records(tmp_path: Path) -> None:
    path = tmp_path / "facts.jsonl"
    outputs = [
        {"answer": "writer", "aliases": ["author"], "provenance": [{"document": "d", "title": "Ada", "paragraph": 0}]},
        {"answer": "writer"},
        {"provenance": [{"wikipedia_id": 12, "title": "Byron"}]},
    ]
    path.write_text(json.dumps({"id": "1", "input": "Ada [SEP] occupation", "output": outputs}) + "\n")
    (record,) = read_kilt(path)
    assert record.answers == ("writer", "author")
    assert record.evidence == ((EvidenceDocument("d", "Ada"),), (EvidenceDocument("12", "Byron"),))


def test_test_files_have_no_output(tmp_path: Path) -> None:
    (tmp_path / "test.jsonl").write_text('{"id": "1", "input": "Ada [SEP] occupation"}\n')
    assert read_kilt(tmp_path / "test.jsonl")[0].answers == ()


@pytest.mark.parametrize("line", ["[]", '{"id": "1"}', '{"id": "1", "input": "x", "output": 1}', "x"])
def test_malformed_lines_are_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "facts.jsonl").write_text('{"id": "0", "input": "x"}\n' + line)
    with pytest.raises(DataError, match=r"facts\.jsonl', line 2 is no"):
        read_kilt(tmp_path / "facts.jsonl")


def test_records_without_output_have_no_answers(tmp_path: Path) -> None:
    """As in test files; an output without provenance has no evidence."""
    path = tmp_path / "kilt.jsonl"
    entries = [{"id": "1", "input": "a"}, {"id": "2", "input": "b", "output": [{"answer": " x "}]}]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    first, second = read_kilt(path)
    assert (first.answers, first.evidence) == ((), ())
    assert (second.answers, second.evidence) == (("x",), ())


def test_the_documents_of_one_output_stay_together(tmp_path: Path) -> None:
    provenance = [{"wikipedia_id": 1, "title": "A"}, {"wikipedia_title": "B"}]
    path = tmp_path / "kilt.jsonl"
    path.write_text(json.dumps({"id": 3, "input": "a", "output": [{"answer": "x", "provenance": provenance}]}))
    (record,) = read_kilt(path)
    assert record.id == "3"
    assert record.evidence == ((EvidenceDocument("1", "A"), EvidenceDocument("", "B")),)
