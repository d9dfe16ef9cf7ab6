"""Published formats of question files, in a few lines each; also covers the JSON entries of data/questions.py."""

import json
from pathlib import Path
from typing import Any

import pytest

from densephrases.data.files import read_questions
from densephrases.data.questions import Format, OpenQuestion
from densephrases.errors import DataError


def lines(*entries: Any) -> str:
    return "".join(json.dumps(entry) + "\n" for entry in entries)


def written(tmp_path: Path, content: str, name: str = "file.txt") -> Path:
    path = tmp_path / name
    path.write_text(content)
    return path


WEB = {
    "url": "http://example.org",
    "targetValue": '(list (description "Jazmyn \\"Jaz\\" Bieber") (description Jaxon))',
    "utterance": "who is it?",
}
TRIVIA = {
    "Data": [{"QuestionId": "tc_1", "Question": "Which?", "Answer": {"Value": "A", "Aliases": ["A", "The A"]}}],
    "Domain": "unfiltered-web",
}
KILT = {
    "id": 7,
    "input": "Ada [SEP] occupation",
    "output": [
        {"answer": "writer", "aliases": ["author"], "provenance": [{"wikipedia_id": "12", "title": "Ada"}]},
        {"answer": "countess", "provenance": [{"document": "en-3", "title": "Ada"}]},
    ],
}
SQUAD = {
    "data": [
        {
            "title": "T",
            "paragraphs": [
                {
                    "context": "It is A.",
                    "qas": [{"id": "x", "question": "What?", "answers": [{"text": "A", "answer_start": 6}]}],
                }
            ],
        }
    ]
}

CASES: list[tuple[Format, str, OpenQuestion]] = [
    ("lines", lines({"id": "a", "question": "Who?", "answers": ["B"]}), OpenQuestion("a", "Who?", ("B",))),
    (
        "lines",
        lines({"id": 3, "question": " Who?", "answers": ["b+"], "regex": True}),
        OpenQuestion("3", "Who?", ("b+",), regex=True),
    ),
    ("nq-open", lines({"question": "who", "answer": ["B", "C"]}), OpenQuestion("1", "who", ("B", "C"))),
    (
        "webquestions",
        json.dumps([WEB]),
        OpenQuestion("1", "who is it?", ('Jazmyn "Jaz" Bieber', "Jaxon")),
    ),
    ("trec", "12\tfactoid\tWho?\tB(ob)?\n", OpenQuestion("12", "Who?", ("B(ob)?",), regex=True)),
    ("trec", "12\tWho?\tB(ob)?\r\n", OpenQuestion("12", "Who?", ("B(ob)?",), regex=True)),
    ("triviaqa", json.dumps(TRIVIA, indent=1), OpenQuestion("tc_1", "Which?", ("A", "The A"))),
    ("triviaqa", json.dumps(TRIVIA), OpenQuestion("tc_1", "Which?", ("A", "The A"))),
    ("squad", json.dumps(SQUAD), OpenQuestion("x", "What?", ("A",))),
    ("squad", json.dumps(SQUAD, indent=1), OpenQuestion("x", "What?", ("A",))),
    (
        "entityquestions",
        json.dumps([{"question": "Where?", "answers": ["B"]}], indent=1),
        OpenQuestion("1", "Where?", ("B",)),
    ),
    ("dpr", "who?\t['B', \"C's\"]\n", OpenQuestion("1", "who?", ("B", "C's"))),
    ("dpr", 'who?\t"[""C\'s""]"\n', OpenQuestion("1", "who?", ("C's",))),
    (
        "dpr",
        json.dumps([{"question": "Who?", "answers": ["B"], "positive_ctxs": []}]),
        OpenQuestion("1", "Who?", ("B",)),
    ),
    (
        "kilt",
        lines(KILT),
        OpenQuestion("7", "Ada [SEP] occupation", ("writer", "author", "countess"), documents={"12": 1, "en-3": 1}),
    ),
]


@pytest.mark.parametrize(("form", "content", "expected"), CASES)
def test_formats_are_recognised_and_may_be_named(
    tmp_path: Path, form: Format, content: str, expected: OpenQuestion
) -> None:
    path = written(tmp_path, content)
    for given in (None, form):
        file = read_questions(path, given)
        assert file.format == form
        assert file.questions == [expected]
        assert file.notes == []


def beir(folder: Path) -> Path:
    (folder / "qrels").mkdir()
    (folder / "queries.jsonl").write_text(lines({"_id": "q1", "text": "one"}, {"_id": "q2", "text": "two"}))
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq2\td1\t2\nq2\td2\t0\n")
    return folder


def test_beir(tmp_path: Path) -> None:
    folder = beir(tmp_path)
    expected = [OpenQuestion("q2", "two", (), documents={"d1": 2, "d2": 0})]
    assert read_questions(folder).questions == expected
    assert read_questions(folder / "queries.jsonl").questions == expected


def test_beir_without_judgements(tmp_path: Path) -> None:
    (beir(tmp_path) / "qrels" / "test.tsv").unlink()
    with pytest.raises(DataError, match=r"no qrels/test\.tsv"):
        read_questions(tmp_path)


@pytest.mark.parametrize(
    ("content", "form", "message"),
    [
        ("", None, "none of the known formats"),
        ("hello\n", None, "begins with 'hello'"),
        ('{"question": "who"', None, "line 1 is not JSON"),
        (lines({"questions": "who"}), None, r"the keys \['questions'\]"),
        ("[1]", None, "begins with a int"),
        (lines({"id": "1", "question": "who", "answers": ["B"]}) + "{", None, "line 2 is not JSON"),
        (lines({"id": "1", "question": "who", "answers": ["B"]}, [1]), None, "line 2 is no question: it is list"),
        (lines({"id": "1", "question": "who", "answers": "B"}, {"question": " "}), None, "line 2.*'question' is ' '"),
        (lines({"id": "1", "question": "who", "answers": [1]}), None, "line 1.*'answers' are .*expected a list"),
        (lines({"id": [], "question": "who", "answers": ["B"]}), None, "its id is"),
        (lines({"id": 1, "question": "who", "answers": ["B"], "regex": 1}), None, "expected true or false"),
        (lines({"id": "1", "question": "\ud800", "answers": ["B"]}), None, "line 1 is no question"),
        (lines({"id": "1", "question": "who", "answers": []}), None, "no question with an answer"),
        (lines(*[{"id": "1", "question": "who", "answers": ["B"]}] * 2), None, "2 questions with the id '1'"),
        ("who?\t['B'\n", None, "line 1 is no question: its answers"),
        ("1\tWho?\tB\n2\tWho?\n", None, "line 2 has 2 columns"),
        (json.dumps([{"question": "who", "answers": ["B"]}, {}]), None, "entry 2 is no question"),
        (json.dumps({"Data": 1}), "triviaqa", "no list under 'Data'"),
        (json.dumps({"Data": [{"Question": "a", "Answer": 1}]}), "triviaqa", "'Answer' is int"),
        (lines({"id": "1", "input": "x", "output": [{"answer": 1}]}), "kilt", "line 1 is no KILT record"),
        (lines({"id": "1", "input": "x", "output": [{"provenance": [{}]}]}), "kilt", "expected 'wikipedia_id'"),
    ],
)
def test_malformed_files_are_named_with_the_place(
    tmp_path: Path, content: str, form: Format | None, message: str
) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read_questions(written(tmp_path, content), form)
    assert "file.txt" in str(caught.value)


@pytest.mark.parametrize(
    ("form", "content", "reason"),
    [
        (
            "triviaqa",
            json.dumps({"Data": [{"Question": "A?", "Answer": {"Aliases": 7}}]}),
            "entry 1 is no question",
        ),
        ("dpr", "Which?\t" + "[" * 5000 + "]" * 5000, "line 1 is no question"),
        ("lines", '{"question": "Who?", "answers": ["a"]}\n' + "[" * 5000, "line 2 is not JSON: it is nested"),
        ("squad", "[" * 5000, "cannot be read as JSON: it is nested"),
        ("kilt", '{"id": NaN, "input": "x"}', "line 1 is not JSON: NaN"),
    ],
)
def test_malicious_files(tmp_path: Path, form: Format, content: str, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        read_questions(written(tmp_path, content), form)
