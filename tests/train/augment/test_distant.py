"""Distant supervision: the passages that hold an answer, in the order of retrieval, the same file after a kill."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from densephrases import Document, PhraseIndex
from densephrases.data.matching.gold_answers import TextAnswers, squeeze
from densephrases.data.squad import QuestionedPassage, questions_of, read_squad, sample_path
from densephrases.errors import ConfigError, DataError
from densephrases.train.augment import distant as module
from densephrases.train.augment.distant import (
    DistantReport,
    DistantSupervision,
    alternating,
    find_passages,
    index_passages,
)
from tests.index.made_up import HashEncoder

TEXTS = {
    "Tower": "The tower was built in 1889. The tower is in Paris, and Paris is in France.",
    "Rome": "Rome has no such tower, which was built elsewhere.",
    "Paris": "A tower, in Paris.",
    "Milan": "Nothing about it.",
}


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    path = tmp_path / "documents.jsonl"
    path.write_text("".join(json.dumps({"id": t, "title": t, "text": x}) + "\n" for t, x in TEXTS.items()))
    return path


def question_file(path: Path, *questions: tuple[str, list[str]], regex: bool = False) -> Path:
    rows = [{"id": str(n), "question": text, "answers": golds} for n, (text, golds) in enumerate(questions)]
    path.write_text("".join(json.dumps(row | ({"regex": True} if regex else {})) + "\n" for row in rows))
    return path


def contents(passages: Sequence[QuestionedPassage]) -> dict[str, list[tuple[str, str, int, bool]]]:
    return {
        p.passage.title: [(q.id, a.text, a.start, a.ambiguous) for q in p.questions for a in q.answers]
        for p in passages
    }


def test_triples_and_negatives(documents: Path, tmp_path: Path) -> None:
    asked = question_file(
        tmp_path / "asked.jsonl",
        ("where is the tower built?", ["paris", "City of Light"]),
        ("when was the tower built?", ["1889"]),
        ("where is the giraffe?", ["Milan"]),
    )
    report = find_passages(
        DistantSupervision(questions=(asked,), passages=(documents,)), out := tmp_path / "found.json.gz"
    )
    assert contents(read_squad(out)) == {
        "Tower": [("asked:0#0", "Paris", TEXTS["Tower"].index("Paris"), True), ("asked:1#0", "1889", 23, False)],
        "Rome": [],
        "Paris": [("asked:0#1", "Paris", 12, False)],
    }
    assert {q.aliases for _, q in questions_of(read_squad(out))} == {("City of Light",), ()}
    expected = DistantReport(questions=3, answered=2, unanswered=1, triples=3, negatives=1, passages=3)
    expected.leaks.checked, expected.leaks.checked_questions = 4, 3
    assert report == expected
    assert sorted(path.name for path in tmp_path.iterdir()) == ["asked.jsonl", "documents.jsonl", "found.json.gz"]


def test_limits(documents: Path, tmp_path: Path) -> None:
    asked = question_file(tmp_path / "asked.jsonl", ("where is the tower built?", ["paris"]), ("tower", ["1889"]))
    out = tmp_path / "found.json"
    settings = DistantSupervision(questions=(asked,), passages=(documents,), per_question=1, negatives=0, limit=1)
    report = find_passages(settings, out)
    assert (report.questions, report.triples, report.negatives) == (1, 1, 0)
    assert [q.id for _, q in questions_of(read_squad(out))] == ["asked:0#0"]


def test_patterns(documents: Path, tmp_path: Path) -> None:
    asked = question_file(tmp_path / "trec.jsonl", ("when was the tower built?", ["18[0-9]+", "Par.s"]), regex=True)
    find_passages(DistantSupervision(questions=(asked,), passages=(documents,)), out := tmp_path / "found.json")
    found = {p.passage.title: p.questions for p in read_squad(out)}
    assert [(q.gold_texts, q.answers[0].start) for q in found["Tower"]] == [(["1889", "Paris"], 23)]
    assert [q.gold_texts for q in found["Paris"]] == [["Paris"]]
    assert found["Rome"] == ()


def test_a_triple_for_every_passage_that_has_the_answer(tmp_path: Path) -> None:
    settings = DistantSupervision(questions=(sample_path(),), passages=(sample_path(),), candidates=20, per_question=20)
    report = find_passages(settings, out := tmp_path / "found.json")
    found = read_squad(out)
    for passage in found:
        for question in passage.questions:
            (answer,) = question.answers
            assert passage.passage.text.startswith(answer.text, answer.start)
    triples = {(question.text, passage.passage.text) for passage in found for question in passage.questions}
    own = {
        (question.text, passage.passage.text)
        for passage in read_squad(sample_path())
        for question in passage.questions
        if TextAnswers(question.gold_texts).occur_in(passage.passage.text, squeeze(passage.passage.text))
    }
    assert own <= triples
    assert len(own) == 74  # the other three are "7", which is there only as part of "1817"
    assert report.questions == 77
    assert report.triples == len(triples)


def test_what_is_held_out_is_left_out(documents: Path, tmp_path: Path) -> None:
    asked = question_file(
        tmp_path / "asked.jsonl", ("Where is the tower?", ["Paris"]), ("when was the tower built?", ["1889"])
    )
    dev = question_file(tmp_path / "dev.jsonl", ("where is tower", ["Rome"]))
    (tmp_path / "test.json").write_text(
        json.dumps({"data": [{"title": "Rome", "paragraphs": [{"context": "Another text.", "qas": []}]}]})
    )
    exclude = (dev, tmp_path / "test.json")
    settings = DistantSupervision(questions=(asked,), passages=(documents,), exclude=exclude)
    report = find_passages(settings, out := tmp_path / "found.json")
    assert (report.questions, report.leaks.questions, report.leaks.title, report.answered) == (2, 1, 1, 1)
    assert contents(read_squad(out)) == {"Tower": [("asked:1#0", "1889", 23, False)], "Paris": []}


class KilledError(Exception):
    pass


def test_a_killed_run_continues(documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = question_file(tmp_path / "asked.jsonl", *((f"where is tower {n}?", ["Paris"]) for n in range(5)))
    settings = DistantSupervision(questions=(asked,), passages=(documents,))
    whole, out = tmp_path / "whole.json", tmp_path / "found.json"
    expected = find_passages(settings, whole)
    monkeypatch.setattr(module, "QUESTIONS_AT_ONCE", 2)

    def killed(passages: int, questions: int) -> None:
        def after(limit: int) -> module.Advance:
            left = limit

            def advance(count: int) -> None:
                nonlocal left
                left -= count
                if left < 0:
                    raise KilledError

            return advance

        with pytest.raises(KilledError):
            find_passages(settings, out, collected=after(passages), advance=after(questions))

    killed(0, 9)
    assert not (tmp_path / "found.json.passages").exists()
    killed(9, 2)
    kept = tmp_path / "found.json.unfinished"
    assert len(kept.read_text().splitlines()) == 5  # the settings and two blocks, the second before it was reported
    kept.write_text(kept.read_text()[:-7])

    other = DistantSupervision(questions=(asked,), passages=(documents,), candidates=7)
    with pytest.raises(DataError, match="--no-resume"):
        find_passages(other, out)
    searched: list[int] = []
    read: list[int] = []
    assert find_passages(settings, out, collected=read.append, advance=searched.append) == expected
    assert (searched, read) == ([3, 2], [])
    assert out.read_bytes() == whole.read_bytes()

    killed(0, 0)
    assert find_passages(other, out, resume=False).triples == expected.triples


def test_an_index_is_searched_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = PhraseIndex.create(tmp_path / "index", [Document(t, x, t) for t, x in TEXTS.items()], model=HashEncoder())
    made.delete(["Milan"])
    made.add([Document("Pisa", "The tower leans.", "Pisa")])
    monkeypatch.setattr(PhraseIndex, "open", lambda folder: made)
    stored = list(index_passages(tmp_path / "index", 7))
    assert {p.passage.title: p.passage.text for p in stored} == {
        **{title: text for title, text in TEXTS.items() if title != "Milan"},
        "Pisa": "The tower leans.",
    }
    assert len({p.article for p in stored}) == 4
    assert min(p.article for p in stored) >= 7

    asked = question_file(tmp_path / "asked.jsonl", ("giraffe?", ["Paris"]))  # a term that only the model can match
    report = find_passages(
        DistantSupervision(questions=(asked,), index=tmp_path / "index", negatives=9), out := tmp_path / "found.json"
    )
    found = contents(read_squad(out))
    assert report.triples == 2
    assert {title for title, triples in found.items() if not triples} == {"Rome", "Pisa"}


def test_passages_are_taken_once(documents: Path, tmp_path: Path) -> None:
    asked = question_file(tmp_path / "asked.jsonl", ("where is the tower built?", ["paris"]))
    twice = DistantSupervision(questions=(asked,), passages=(documents, documents))
    report = find_passages(twice, tmp_path / "found.json")
    assert (report.triples, report.leaks.checked) == (2, 4)


def test_alternating() -> None:
    assert alternating([1, 2, 3, 4], [3, 5]) == [1, 3, 2, 5, 4]
    assert alternating([], [2]) == [2]


def test_nothing_found(documents: Path, tmp_path: Path) -> None:
    asked = question_file(tmp_path / "asked.jsonl", ("where is the tower?", ["Berlin", "the", "x"]))
    with pytest.raises(DataError, match="No passage holds an answer to any of 1 question"):
        find_passages(DistantSupervision(questions=(asked,), passages=(documents,)), tmp_path / "found.json")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"candidates": 0}, "candidates=0"),
        ({"per_question": 0}, "per_question=0"),
        ({"negatives": -1}, "negatives=-1"),
        ({"limit": 0}, "limit=0"),
        ({"passages": ()}, "nothing to search"),
        ({"questions": (Path("a/x.jsonl"), Path("b/x.jsonl.gz"))}, "equal ids"),
    ],
)
def test_impossible_settings(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        DistantSupervision(**{"questions": (Path("q.jsonl"),), "passages": (Path("p.jsonl"),)} | options)  # type: ignore[arg-type]


def test_the_folder_must_exist(documents: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="create it first"):
        find_passages(DistantSupervision(questions=(documents,), passages=(documents,)), tmp_path / "no" / "x.json")
