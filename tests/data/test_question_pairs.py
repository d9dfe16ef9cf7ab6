"""A user's own questions."""

from pathlib import Path

import pytest

from densephrases.data.question_pairs import read_pairs
from densephrases.errors import DataError

PAIRS = [("When does it end?", ("31 March",)), ("Who is Zorro?", ())]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pairs.csv", "Question,Answer,note\nWhen does it end?,31 March,x\nWho is Zorro?,,\n"),
        ("pairs.csv", "\ufeffanswer,question\r\n31 March,When does it end?\r\n,Who is Zorro?\r\n"),
        ("pairs.tsv", "question\tanswer\nWhen does it end?\t31 March\nWho is Zorro?\n"),
        (
            "pairs.jsonl",
            '{"question": "When does it end?", "answer": "31 March"}\n{"question": "Who is Zorro?", "answer": ""}\n',
        ),
        (
            "pairs.json",
            '[{"question": "When does it end?", "answers": ["31 March"]}, {"question": "Who is Zorro?", "answers":[]}]',
        ),
    ],
)
def test_formats(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    assert [(each.text, each.answers) for each in read_pairs(tmp_path / name)] == PAIRS


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("pairs.csv", "question,reply\nWho?,Ada\n", "columns question, reply; expected 'question' and 'answer'"),
        ("pairs.csv", "question,answer\n,Ada\n", "row 1 has no question"),
        ("pairs.csv", "question,answer\n", "has no question; expected pairs"),
        ("pairs.jsonl", "Who?\n", "none of the known formats"),
    ],
)
def test_mistakes(tmp_path: Path, name: str, content: str, sentence: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=sentence):
        read_pairs(tmp_path / name)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"is not a file; expected questions in one of the formats csv, tsv, lines,"):
        read_pairs(tmp_path / "none.csv")
