"""SQuAD files: what is read, and that every unusable one is a DataError with its name."""

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from densephrases.data.squad import (
    GoldAnswer,
    Question,
    QuestionedPassage,
    questions_of,
    read_squad,
    sample_path,
    write_squad,
)
from densephrases.errors import DataError
from densephrases.text.passages import Passage


def question(**changes: Any) -> dict[str, Any]:
    entry = {"id": "q1", "question": "Who?", "answers": [{"text": "Ann", "answer_start": 0}]} | changes
    return {name: value for name, value in entry.items() if value is not ...}


def squad(*questions: dict[str, Any], context: Any = "Ann met Bob in Ürümqi.") -> dict[str, Any]:
    return {"version": "1.1", "data": [{"title": "A_b", "paragraphs": [{"context": context, "qas": [*questions]}]}]}


def write(folder: Path, content: Any) -> Path:
    path = folder / "data.json"
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return path


def read_one(folder: Path, content: Any) -> QuestionedPassage:
    (passage,) = read_squad(write(folder, content))
    return passage


def test_version_1(tmp_path: Path) -> None:
    gold_answers = [{"text": "Ann", "answer_start": 0}, {"text": "Bob", "answer_start": 8}]
    passage = read_one(tmp_path, squad(question(answers=gold_answers)))
    assert passage == QuestionedPassage(
        Passage("Ann met Bob in Ürümqi.", "A b"),
        0,
        (Question("q1", "Who?", (GoldAnswer("Ann", 0), GoldAnswer("Bob", 8))),),
    )
    assert passage.questions[0].gold_texts == ["Ann", "Bob"]


@pytest.mark.parametrize(
    "unanswerable",
    [
        question(is_impossible=True, answers=[]),
        question(is_impossible=True, plausible_answers=[{"text": "Bob", "answer_start": 8}], answers=[]),
        question(is_impossible=True),  # even with an answer beside the mark
        question(answers=[]),
        question(answers=...),
    ],
)
def test_version_2_unanswerable(tmp_path: Path, unanswerable: dict[str, Any]) -> None:
    assert read_one(tmp_path, squad(unanswerable)).questions[0].answers == ()


def test_version_2_answerable(tmp_path: Path) -> None:
    assert read_one(tmp_path, squad(question(is_impossible=False))).questions[0].gold_texts == ["Ann"]


def test_ambiguous_start(tmp_path: Path) -> None:
    answers = [{"text": "Ann", "answer_start": 0, "start_ambiguous": True}, {"text": "Ann", "answer_start": 0}]
    passage = read_one(tmp_path, squad(question(answers=answers)))
    assert [answer.ambiguous for answer in passage.questions[0].answers] == [True, False]


def test_ambiguous_question_makes_all_its_answers_ambiguous(tmp_path: Path) -> None:
    answers = [{"text": "Ann", "answer_start": 0}, {"text": "Bob", "answer_start": 8}]
    passage = read_one(tmp_path, squad(question(answers=answers, start_ambiguous=True)))
    assert [answer.ambiguous for answer in passage.questions[0].answers] == [True, True]


def test_aliases_are_accepted_answers_of_an_answerable_question(tmp_path: Path) -> None:
    passage = read_one(tmp_path, squad(question(aliases=["Annie"]), question(answers=[], aliases=["Annie"])))
    assert [q.aliases for q in passage.questions] == [("Annie",), ("Annie",)]
    assert [q.gold_texts for q in passage.questions] == [["Ann", "Annie"], []]
    write_squad(tmp_path / "again.json", [passage])
    assert read_squad(tmp_path / "again.json") == [passage]


@pytest.mark.parametrize("aliases", ["Annie", [1], {"a": 1}, ["\ud800"]])
def test_other_aliases_are_refused(tmp_path: Path, aliases: Any) -> None:
    path = tmp_path / "data.json"
    path.write_text(json.dumps(squad(question(aliases=aliases))))
    with pytest.raises(DataError, match=r"data.json' is not SQuAD JSON"):
        read_squad(path)


@pytest.mark.parametrize("start", [3, 22, 9999])
def test_wrong_positions_are_kept_as_they_are(tmp_path: Path, start: int) -> None:
    """Reading evaluation looks at the text only; training sorts out what it cannot align."""
    passage = read_one(tmp_path, squad(question(answers=[{"text": "Ann", "answer_start": start}])))
    assert passage.questions[0].answers == (GoldAnswer("Ann", start),)


def test_articles_are_numbered_and_questions_counted_off(tmp_path: Path) -> None:
    one = {"paragraphs": [{"context": "x", "qas": [question(id=1), question(id=2)]}, {"context": "y"}]}
    two = {"title": "T", "paragraphs": [{"context": "z", "qas": [question(id=3)]}]}
    passages = read_squad(write(tmp_path, {"data": [one, {"paragraphs": []}, two]}))
    assert [(p.article, p.passage.text, p.passage.title) for p in passages] == [
        (0, "x", ""),
        (0, "y", ""),
        (2, "z", "T"),
    ]
    assert [(number, q.id) for number, q in questions_of(passages)] == [(0, "1"), (0, "2"), (2, "3")]


COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
}


@pytest.mark.parametrize("suffix", COMPRESSORS)
def test_compressed(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"data.json{suffix}"
    path.write_bytes(COMPRESSORS[suffix](json.dumps(squad(question())).encode()))
    assert read_squad(path)[0].questions[0].id == "q1"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_of_json(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "data.json"
    path.write_bytes(json.dumps(squad(question()), ensure_ascii=False).encode(encoding))
    assert read_squad(path)[0].passage.text == "Ann met Bob in Ürümqi."


def refused(path: Path) -> str:
    with pytest.raises(DataError) as caught:
        read_squad(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    assert "does not exist" in refused(tmp_path / "nothing.json")
    assert "is not a file" in refused(tmp_path)


@pytest.mark.parametrize("suffix", COMPRESSORS)
@pytest.mark.parametrize("damage", ["truncated", "flipped", "never compressed", "empty"])
def test_damaged_archives(tmp_path: Path, suffix: str, damage: str) -> None:
    plain = json.dumps(squad(*(question(id=i) for i in range(500)))).encode()
    whole = COMPRESSORS[suffix](plain)
    middle = len(whole) // 2
    flipped = whole[:middle] + bytes(255 - byte for byte in whole[middle : middle + 40]) + whole[middle + 40 :]
    contents = {"truncated": whole[:-20], "flipped": flipped, "never compressed": plain, "empty": b""}
    path = tmp_path / f"data.json{suffix}"
    path.write_bytes(contents[damage])
    assert "cannot be read as JSON" in refused(path)


@pytest.mark.parametrize("content", [b"", b"{", b"data: []", b"\xff\xfe\xfd", b'{"data": [}', b"\x1f\x8b\x08\x00"])
def test_not_json(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "data.json"
    path.write_bytes(content)
    assert "cannot be read as JSON" in refused(path)


@pytest.mark.parametrize("content", [[], "text", 3, None, {}, {"data": {}}, {"data": None}, {"questions": []}])
def test_wrong_shape_at_the_top(tmp_path: Path, content: Any) -> None:
    assert "expected an object with a list under 'data'" in refused(write(tmp_path, content))


@pytest.mark.parametrize(
    "article",
    [
        "text",
        None,
        7,
        {"title": "T"},
        {"paragraphs": None},
        {"paragraphs": "text"},
        {"paragraphs": [None]},
        {"paragraphs": [["context"]]},
        {"paragraphs": {"context": "x"}},
        {"paragraphs": [{"context": "x", "qas": None}]},
        {"paragraphs": [{"context": "x", "qas": ["who?"]}]},
        {"paragraphs": [{"context": "x", "qas": {"id": "1"}}]},
    ],
)
def test_wrong_shape_of_articles(tmp_path: Path, article: Any) -> None:
    assert "is not SQuAD JSON" in refused(write(tmp_path, {"data": [article]}))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (squad(question(), context=None), "a 'context' is NoneType, expected text"),
        (squad(question(), context=["a"]), "a 'context' is list, expected text"),
        ({"data": [{"paragraphs": [{"qas": []}]}]}, "no 'context'"),
        (squad(question(id=...)), "no 'id'"),
        (squad(question(question=...)), "no 'question'"),
        (squad(question(question=None)), "a 'question' is NoneType"),
        (squad(question(answers=[{"answer_start": 0}])), "no 'text'"),
        (squad(question(answers=[{"text": "Ann"}])), "no 'answer_start'"),
        (squad(question(answers=[{"text": 12, "answer_start": 0}])), "a 'text' is int"),
        (squad(question(answers={"text": ["Ann"], "answer_start": [0]})), "not SQuAD JSON"),  # Hugging Face's form
        (squad(question(answers=["Ann"])), "not SQuAD JSON"),
    ],
)
def test_missing_and_wrong_values(tmp_path: Path, content: Any, message: str) -> None:
    assert message in refused(write(tmp_path, content))


@pytest.mark.parametrize("start", [-1, 0.0, 3.5, "0", None, True, [0]])
def test_impossible_positions_name_the_question(tmp_path: Path, start: Any) -> None:
    content = squad(question(id="odd-17", answers=[{"text": "Ann", "answer_start": start}]))
    message = refused(write(tmp_path, content))
    assert "question 'odd-17'" in message
    assert repr(start) in message


@pytest.mark.parametrize("place", ["context", "question", "answer"])
def test_half_a_surrogate_pair_is_no_text(tmp_path: Path, place: str) -> None:
    """JSON can spell it, no tokenizer can read it."""
    half = "\ud83d"
    contents = {
        "context": squad(question(), context=half),
        "question": squad(question(question=half)),
        "answer": squad(question(answers=[{"text": half, "answer_start": 0}])),
    }
    path = tmp_path / "data.json"
    path.write_text(json.dumps(contents[place]), encoding="ascii")
    assert "surrogates not allowed" in refused(path)


def test_the_bundled_sample_is_sound() -> None:
    passages = read_squad(sample_path())
    questions = list(questions_of(passages))
    assert len(passages) >= 12
    assert len({passage.article for passage in passages}) >= 8
    assert len(questions) >= 60
    assert len({question.id for _, question in questions}) == len(questions)
    for number, asked in questions:
        text = passages[number].passage.text
        assert asked.answers
        assert all(text[a.start :].startswith(a.text) and a.text and not a.ambiguous for a in asked.answers)


def test_the_bundled_sample_is_small_and_attributed() -> None:
    assert sample_path().stat().st_size < 60_000
    licence = (sample_path().parent / "LICENSE.md").read_text(encoding="utf-8")
    titles = {passage.passage.title for passage in read_squad(sample_path())}
    words = " ".join(licence.split())
    assert all(title in words for title in titles | {"Rajpurkar", "ShareAlike 4.0", "Wikipedia"})


@pytest.mark.parametrize("name", ["made.json", "made.json.gz", "made.json.xz"])
def test_what_is_written_is_read_again(tmp_path: Path, name: str) -> None:
    made = Question("g", "Who?", (GoldAnswer("Émile", 3),), generated=True, answer_type="PERSON")
    asked = Question("a", "When?", (GoldAnswer("1889", 0, ambiguous=True),))
    passages = [
        QuestionedPassage(Passage("abcÉmile", "One"), 0, (made, asked)),
        QuestionedPassage(Passage("1889", "One"), 0, ()),
        QuestionedPassage(Passage("1889", "One"), 1, (asked,)),
    ]
    path = tmp_path / name
    write_squad(path, passages, {"made": "by hand"})
    assert read_squad(path) == passages
    before = path.read_bytes()
    write_squad(path, passages, {"made": "by hand"})
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [name]
