"""Conversions of small excerpts in the official formats, worked by hand."""

import gzip
import io
import json
import tarfile
from pathlib import Path

import pytest

from densephrases.data.download.convert import Converted, kilt_articles, mrqa, triviaqa
from densephrases.data.files import read_questions
from densephrases.data.questions import OpenQuestion
from densephrases.data.squad import read_squad
from densephrases.errors import DataError
from densephrases.text.readers.read import read_documents

TEXT = "<P> The tower ( Paris ) was built by Gustave Eiffel , says Gustave Eiffel . </P>"


def span(text: str, part: str, after: int = 0) -> list[int]:
    """MRQA's: the last character belongs to it."""
    first = text.index(part, after)
    return [first, first + len(part) - 1]


def mrqa_question(name: str, text: str, *parts: str) -> dict[str, object]:
    answers = [{"text": part, "char_spans": [span(text, part)], "token_spans": [[0, 0]]} for part in parts]
    return {"qid": name, "question": "who built it", "answers": list(parts), "detected_answers": answers}


def mrqa_file(folder: Path, *entries: object) -> Path:
    header = {"header": {"dataset": "NaturalQuestionsShort", "split": "dev"}}
    path = folder / "mrqa.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(each) + "\n" for each in (header, *entries)).encode()))
    return path


def test_mrqa(tmp_path: Path) -> None:
    twice = mrqa_question("q1", TEXT, "Gustave Eiffel")
    twice["detected_answers"] = [
        {"text": "Gustave Eiffel", "char_spans": [span(TEXT, "Gustave"), span(TEXT, "Gustave", 50)]}
    ]
    several = mrqa_question("q2", TEXT, "Paris", "tower ( Paris )")
    nothing = mrqa_question("q3", TEXT)
    table = {"id": "2", "context": "<Table> <Tr> <Td> 1 </Td> </Tr> </Table>", "qas": []}
    source = mrqa_file(tmp_path, {"id": "1", "context": TEXT, "qas": [twice, several, nothing]}, table)
    # the span of q1 covers one word alone: its text is what stands there
    count = mrqa(source, (tmp_path / "out.json.gz",))
    (passage,) = read_squad(tmp_path / "out.json.gz")
    text = passage.passage.text
    assert text == "The tower ( Paris ) was built by Gustave Eiffel , says Gustave Eiffel ."
    found = {question.id: question.answers for question in passage.questions}
    assert [(a.text, a.ambiguous) for a in found["q1"]] == [("Gustave", True)]
    assert [(a.text, a.ambiguous) for a in found["q2"]] == [("Paris", False), ("tower ( Paris )", False)]
    assert all(text.startswith(a.text, a.start) for answers in found.values() for a in answers)
    left_out = {"questions without an answer in their passage": 1, "passages that are tables or lists": 1}
    assert count == Converted(2, left_out)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"question": "who", "answer": ["b"]}, "has no 'context'"),
        ({"context": "a", "qas": []}, "has no passage in MRQA's format"),
        ([1], "line 2 is list, expected an object"),
    ],
)
def test_no_mrqa(tmp_path: Path, entry: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        mrqa(mrqa_file(tmp_path, entry), (tmp_path / "out.json.gz",))
    assert not (tmp_path / "out.json.gz").exists()


def trivia(*answers: str) -> dict[str, object]:
    entry: dict[str, object] = {"Question": "Which?", "QuestionId": "tc_2", "QuestionSource": "x"}
    entry["SearchResults"] = [{"Description": "long", "Filename": "1.txt", "Rank": 0}]
    if answers:
        entry["Answer"] = {"Value": answers[0], "Aliases": list(answers), "NormalizedAliases": [], "Type": "X"}
    return entry


def archive(path: Path, **files: object) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            data = json.dumps(content, indent=4).encode()
            info = tarfile.TarInfo(f"triviaqa-unfiltered/{name.replace('_', '-')}.json")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


def test_triviaqa(tmp_path: Path) -> None:
    tar = archive(
        tmp_path / "t.tar.gz",
        unfiltered_web_dev={"Data": [trivia("Rome", "Roma"), trivia()], "Domain": "unfiltered-web"},
        unfiltered_web_test_without_answers={"Data": [trivia()]},
        unfiltered_web_train={"Data": [trivia("Sinclair Lewis")]},
    )
    targets = (tmp_path / "triviaqa-train.jsonl", tmp_path / "triviaqa-dev.jsonl")
    assert triviaqa(tar, targets) == Converted(2, {"questions without an answer": 1})
    assert read_questions(targets[0]).questions == [OpenQuestion("tc_2", "Which?", ("Sinclair Lewis",))]
    assert read_questions(targets[1]).questions == [OpenQuestion("tc_2", "Which?", ("Rome", "Roma"))]


def test_no_triviaqa(tmp_path: Path) -> None:
    targets = (tmp_path / "a", tmp_path / "b")
    with pytest.raises(DataError, match=r"lacks unfiltered-web-dev.json and unfiltered-web-train.json"):
        triviaqa(archive(tmp_path / "t.tar.gz", other={}), targets)
    (tmp_path / "t.tar.gz").write_text("<html>")
    with pytest.raises(DataError, match="cannot be read as an archive"):
        triviaqa(tmp_path / "t.tar.gz", targets)


def test_kilt_articles(tmp_path: Path) -> None:
    article = {
        "_id": "290",
        "wikipedia_id": "290",
        "wikipedia_title": "A",
        "text": ["A\n", "A is a letter.\n", "Section::::History.\n", "BULLET::::- It is old.\n"],
        "anchors": [],
    }
    empty = article | {"wikipedia_id": "291", "text": ["A\n"]}
    source = tmp_path / "kilt_knowledgesource.json"
    source.write_text("".join(json.dumps(each) + "\n" for each in (article, empty)))
    target = tmp_path / "articles.jsonl.gz"
    assert kilt_articles(source, (target,)) == Converted(1, {"articles without text": 1})
    (document,) = read_documents([target])
    assert (document.id, document.title, document.text) == ("290", "A", "A is a letter.\n\nIt is old.")


def test_no_kilt_articles(tmp_path: Path) -> None:
    (tmp_path / "k.json").write_text("<html>\n")
    with pytest.raises(DataError, match="line 1 is not JSON"):
        kilt_articles(tmp_path / "k.json", (tmp_path / "out.jsonl.gz",))
    assert not (tmp_path / "out.jsonl.gz").exists()
