"""Questions without passages: whole again with their passages, counted without them, refused when damaged."""

import hashlib
import json
import lzma
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.data.generated.without_passages import QuestionCounts, join_passages, read_stripped, strip_passages
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
from densephrases.train.phrases.examples import read_training_data

PUBLISHED = Path(__file__).parents[3] / "recipes" / "questions"
VERSION_0_1 = Path(__file__).parents[2] / "fixtures" / "v0_1"

TEXT = "The tower was built in 1889."
WHEN = Question("when", "When?", (GoldAnswer("1889", 23),), generated=True, answer_type="DATE")


def generated(question: Question, number: int) -> Question:
    return replace(question, generated=True, answer_type=("PERSON", "DATE", "")[number % 3])


def without_ids(passages: Sequence[QuestionedPassage]) -> list[QuestionedPassage]:
    return [replace(p, questions=tuple(replace(q, id="") for q in p.questions)) for p in passages]


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lzma.open(path, "rt", encoding="utf-8")]


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """The sample as if a model had asked its questions."""
    passages = [
        replace(p, questions=tuple(generated(q, number) for number, q in enumerate(p.questions)))
        for p in read_squad(sample_path())
    ]
    write_squad(tmp_path / "made.json.gz", passages)
    return tmp_path / "made.json.gz"


@pytest.fixture
def stripped(made: Path, tmp_path: Path) -> Path:
    strip_passages(made, tmp_path / "sample.jsonl.xz")
    return tmp_path / "sample.jsonl.xz"


def test_every_line_leads_to_its_passage(stripped: Path) -> None:
    head, *lines = records(stripped)
    passages = read_squad(sample_path())
    assert head["passages"] == len(lines) == len(passages)
    assert head["questions"] == sum(len(passage.questions) for passage in passages)
    for line in lines:
        (found,) = (p for p in passages if hashlib.sha256(p.passage.text.encode()).hexdigest()[:16] == line["hash"])
        assert line["title"] == found.passage.title
        for asked, original in zip(line["questions"], found.questions, strict=True):
            answer = found.passage.text[asked["start"] : asked["start"] + asked["length"]]
            assert (asked["text"], [answer]) == (original.text, original.gold_texts)


def test_stripped_and_joined_it_is_as_it_was(made: Path, stripped: Path, tmp_path: Path) -> None:
    out, original = tmp_path / "again.json.gz", read_squad(made)
    counts = QuestionCounts(len(original), sum(len(passage.questions) for passage in original))
    steps: list[int] = []
    report = join_passages(stripped, [sample_path()], out, steps.append)
    assert (report.joined, report.missing) == (counts, QuestionCounts(0, 0))
    assert sum(steps) == counts.passages
    assert without_ids(read_squad(out)) == without_ids(original)
    trained = read_training_data([sample_path(), out])
    assert [len(p.questions) for p in trained] == [2 * len(p.questions) for p in original]


def test_passages_of_documents(tmp_path: Path) -> None:
    long, other = f"{TEXT} {'x' * 600}", f"It fell in 1950. {'y' * 600}"
    fell = Question("fell", "When did it fall?", (GoldAnswer("1950", 11),), generated=True)
    passages = [QuestionedPassage(Passage(long, "A"), 0, (WHEN,)), QuestionedPassage(Passage(other, "A"), 0, (fell,))]
    write_squad(tmp_path / "made.json", passages)
    strip_passages(tmp_path / "made.json", tmp_path / "q.jsonl")
    (tmp_path / "documents.jsonl").write_text(json.dumps({"id": "a", "title": "A", "paragraphs": [long, other]}))
    join_passages(tmp_path / "q.jsonl", [tmp_path / "documents.jsonl"], tmp_path / "again.json")
    assert without_ids(read_squad(tmp_path / "again.json")) == without_ids(passages)


def test_the_same_text_under_two_titles(tmp_path: Path) -> None:
    passages = [QuestionedPassage(Passage(TEXT, title), number, (WHEN,)) for number, title in enumerate("ab")]
    write_squad(tmp_path / "made.json", passages)
    strip_passages(tmp_path / "made.json", tmp_path / "q.jsonl")
    join_passages(tmp_path / "q.jsonl", [tmp_path / "made.json"], tmp_path / "again.json")
    again = read_squad(tmp_path / "again.json")
    assert without_ids(again) == without_ids(passages)
    assert [q.id for _, q in questions_of(again)] == ["q#0-0", "q#1-0"]


@st.composite
def articles(draw: st.DrawFn) -> list[QuestionedPassage]:
    """Passages of any characters, each with one or more questions about any of its phrases."""
    passages = []
    for article in range(draw(st.integers(1, 3))):
        title = draw(st.text(max_size=5))
        for text in draw(st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=3)):
            questions = []
            for _ in range(draw(st.integers(1, 3))):
                start = draw(st.integers(0, len(text) - 1))
                answer = GoldAnswer(text[start : draw(st.integers(start + 1, len(text)))], start)
                questions.append(Question("x", draw(st.text(max_size=9)), (answer,), True, draw(st.text(max_size=4))))
            passages.append(QuestionedPassage(Passage(text, title), article, tuple(questions)))
    return passages


@given(articles())
def test_any_characters(passages: list[QuestionedPassage]) -> None:
    with TemporaryDirectory() as name:
        made, stripped, again = (Path(name) / file for file in ("made.json", "q.jsonl.xz", "again.json"))
        write_squad(made, passages)
        strip_passages(made, stripped)
        join_passages(stripped, [made], again)
        found = read_squad(again)
        assert without_ids(found) == without_ids(read_squad(made))
        ids = [question.id for _, question in questions_of(found)]
        assert len(set(ids)) == len(ids)


def test_what_is_not_found_is_counted(made: Path, stripped: Path, tmp_path: Path) -> None:
    original = read_squad(made)
    write_squad(tmp_path / "some.json", original[3:5])
    report = join_passages(stripped, [tmp_path / "some.json"], tmp_path / "some-again.json")
    questions = [len(passage.questions) for passage in original]
    assert report.joined == QuestionCounts(2, sum(questions[3:5]))
    assert report.missing == QuestionCounts(len(original) - 2, sum(questions) - sum(questions[3:5]))

    join_passages(stripped, [made], tmp_path / "all-again.json")
    some, whole = read_squad(tmp_path / "some-again.json"), read_squad(tmp_path / "all-again.json")
    assert [p.questions for p in some] == [p.questions for p in whole[3:5]], "ids do not depend on what else is found"

    write_squad(tmp_path / "other.json", [QuestionedPassage(Passage(TEXT), 0, ())])
    with pytest.raises(DataError, match=r"No passage of '.*sample\.jsonl\.xz' is in '.*other\.json'"):
        join_passages(stripped, [tmp_path / "other.json"], tmp_path / "none.json")
    assert not (tmp_path / "none.json").exists()


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        ([], "No question in"),
        ([replace(WHEN, generated=False)], "cannot be stripped of its passages: question 'when' was not generated"),
        ([replace(WHEN, answers=WHEN.answers * 2)], "question 'when' has 2 answers, expected exactly one"),
        ([replace(WHEN, answers=())], "question 'when' has 0 answers, expected exactly one"),
        ([replace(WHEN, answers=(GoldAnswer("1889", 22),))], "answer '1889' of 'when' is not at character 22"),
        ([replace(WHEN, answers=(GoldAnswer("", 22),))], "answer '' of 'when' is not at character 22"),
    ],
)
def test_what_cannot_be_stripped(tmp_path: Path, questions: list[Question], message: str) -> None:
    write_squad(tmp_path / "made.json", [QuestionedPassage(Passage(TEXT), 0, tuple(questions))])
    with pytest.raises(DataError, match=message):
        strip_passages(tmp_path / "made.json", tmp_path / "q.jsonl")
    assert not (tmp_path / "q.jsonl").exists()


HEAD = {"format": "questions without passages", "version": 1, "passages": 1, "questions": 1}
ASKED = {"text": "When?", "start": 23, "length": 4, "type": "DATE"}
LINE = {"title": "", "article": 0, "hash": hashlib.sha256(TEXT.encode()).hexdigest()[:16], "questions": [ASKED]}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "is not a file of questions without passages"),
        (["no JSON"], "is not a file of questions without passages"),
        ([1], "is not a file of questions without passages"),
        (
            [{"data": []}],
            "without passages; make one with: densephrases generate strip-passages",
        ),
        ([HEAD | {"format": "x"}, LINE], "is not a file of questions without passages"),
        ([HEAD | {"version": 2}, LINE], "has version 2, expected at most 1"),
        ([HEAD], "damaged: it has 0 questions about 0 passages, and its first line declares 1 about 1"),
        ([HEAD | {"questions": 1000}, LINE], "has 1 questions about 1 passages, and its first line declares 1,000"),
        ([HEAD, "{"], "line 2, is not a passage with questions"),
        ([HEAD, {}], "line 2, is not a passage with questions: 'questions' is missing"),
        ([HEAD, LINE | {"questions": 1}], "line 2, is not a passage with questions"),
        ([HEAD, LINE | {"article": True}], "'article' is True, expected an integer of at least 0"),
        ([HEAD, LINE | {"hash": 7}], "'hash' is 7, expected a string"),
        ([HEAD, LINE | {"title": "\ud800"}], "line 2, is not a passage with questions: .*surrogates"),
        ([HEAD, LINE | {"questions": [ASKED | {"start": -1}]}], "'start' is -1, expected an integer of at least 0"),
        ([HEAD, LINE | {"questions": [ASKED | {"length": 0}]}], "'length' is 0, expected an integer of at least 1"),
        (
            [HEAD, LINE | {"questions": [ASKED | {"length": 6}]}],
            "the answer of 'When.' ends at character 29, but its passage has 28",
        ),
    ],
)
def test_malformed_files(tmp_path: Path, lines: list[Any], message: str) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    write_squad(tmp_path / "passages.json", [QuestionedPassage(Passage(TEXT), 0, ())])
    with pytest.raises(DataError, match=message) as caught:
        join_passages(path, [tmp_path / "passages.json"], tmp_path / "again.json")
    assert str(path) in str(caught.value)
    assert not (tmp_path / "again.json").exists()


@pytest.mark.parametrize("damage", ["truncated", "flipped", "never compressed", "empty"])
def test_damaged_files(stripped: Path, damage: str) -> None:
    whole = stripped.read_bytes()
    middle = len(whole) // 2
    stripped.write_bytes(
        {
            "truncated": whole[:middle],
            "flipped": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
            "never compressed": lzma.decompress(whole),
            "empty": b"",
        }[damage]
    )
    with pytest.raises(DataError, match=r"'.*sample\.jsonl\.xz' (cannot be read|is not a file of questions)"):
        read_stripped(stripped)


def test_missing_files(stripped: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"'no\.jsonl' does not exist"):
        read_stripped(Path("no.jsonl"))
    with pytest.raises(DataError, match="its folder does not exist"):
        join_passages(stripped, [sample_path()], tmp_path / "no" / "again.json")
    with pytest.raises(DataError, match="its folder does not exist"):
        strip_passages(sample_path(), tmp_path / "no" / "q.jsonl")


def test_published_questions_are_whole_small_and_described() -> None:
    files = sorted(PUBLISHED.glob("*.xz"))
    assert 0 < sum(file.stat().st_size for file in files) < 4_000_000
    described = (PUBLISHED / "README.md").read_text(encoding="utf-8")
    assert "creativecommons.org/licenses/by-sa/4.0" in described
    for file in files:
        counts = QuestionCounts.from_passages(read_stripped(file))
        assert f"| `{file.name}` | {counts.questions:,} | {counts.passages:,} |" in described


def test_a_file_of_version_0_1_joins_with_its_passages(tmp_path: Path) -> None:
    join_passages(VERSION_0_1 / "detached.jsonl", [VERSION_0_1 / "detached-source.json"], tmp_path / "joined.json")
    source = read_squad(VERSION_0_1 / "detached-source.json")
    assert without_ids(read_squad(tmp_path / "joined.json")) == without_ids(source)
    strip_passages(VERSION_0_1 / "detached-source.json", tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == (VERSION_0_1 / "detached.jsonl").read_bytes()
