"""Answers aligned with tokens: what is used, what is dropped, and that every question is counted."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from densephrases.data.decontaminate import HeldOut
from densephrases.data.matching.em_f1 import normalize_answer
from densephrases.data.squad import GoldAnswer, Question, QuestionedPassage, read_squad, sample_path
from densephrases.errors import DataError
from densephrases.model.config import ModelConfig
from densephrases.model.tokenizer import Tokens, Window
from densephrases.text.passages import Passage
from densephrases.train.phrases.examples import (
    AlignmentReport,
    Ambiguous,
    ExampleBuilder,
    PassageExample,
    best_window,
    occurrences,
    read_training_data,
    token_span,
    without_held_out,
)
from densephrases.train.phrases.lexical_penalties import question_terms

WORDS = ["paris", "the", "city", "of", "built"]  # whole words of the tests' tokenizer: one token each


def tokens_of(tokenizer: Tokenizer, **settings: Any) -> Tokens:
    return Tokens(tokenizer, ModelConfig(base="tiny", backbone={"hidden_size": 8}, **settings))


def passage(text: str, *answers: GoldAnswer | None, article: int = 0) -> QuestionedPassage:
    questions = [
        Question(f"q{number}", f"what is {number}?", () if answer is None else (answer,))
        for number, answer in enumerate(answers)
    ]
    return QuestionedPassage(Passage(text, "title"), article, tuple(questions))


def build(
    tokens: Tokens, passages: Sequence[QuestionedPassage], ambiguous: Ambiguous = "any"
) -> tuple[list[PassageExample], AlignmentReport]:
    builder = ExampleBuilder(tokens, ambiguous)
    return builder.build(passages, tokens.passages([p.passage for p in passages])), builder.report


def spans_of(built: list[PassageExample]) -> list[tuple[tuple[int, int], ...]]:
    return [question.spans for example in built for question in example.questions]


def counted(report: AlignmentReport) -> int:
    dropped = report.unanswerable + report.misplaced + report.across_windows + report.dropped_ambiguous
    dropped += report.too_long
    return report.used + dropped


def test_an_answer_of_whole_tokens(tokenizer: Tokenizer) -> None:
    built, report = build(tokens_of(tokenizer), [passage("the city of paris", GoldAnswer("city of", 4))])
    assert spans_of(built) == [((1, 2),)]
    assert report == AlignmentReport(questions=1, used=1)


def test_an_answer_that_ends_within_a_token_is_inexact(tokenizer: Tokenizer) -> None:
    built, report = build(tokens_of(tokenizer), [passage("the city of paris", GoldAnswer("ity of par", 5))])
    assert spans_of(built) == [((1, 3),)]
    assert report == AlignmentReport(questions=1, used=1, inexact=1)


def test_articles_and_punctuation_do_not_make_an_answer_inexact(tokenizer: Tokenizer) -> None:
    _, report = build(tokens_of(tokenizer), [passage("the city of paris", GoldAnswer(" city ", 3))])
    assert report == AlignmentReport(questions=1, used=1)


@pytest.mark.parametrize("answer", [GoldAnswer("paris", 3), GoldAnswer("paris", 99), GoldAnswer("", 2)])
def test_misplaced_answers_are_dropped(tokenizer: Tokenizer, answer: GoldAnswer) -> None:
    built, report = build(tokens_of(tokenizer), [passage("the city of paris", answer)])
    assert built == []
    assert report == AlignmentReport(questions=1, misplaced=1)


def test_the_first_well_placed_answer_counts(tokenizer: Tokenizer) -> None:
    asked = Question("q", "what?", (GoldAnswer("paris", 1), GoldAnswer("city", 4), GoldAnswer("paris", 12)))
    built, report = build(tokens_of(tokenizer), [QuestionedPassage(Passage("the city of paris"), 0, (asked,))])
    assert spans_of(built) == [((1, 1),)]
    assert report == AlignmentReport(questions=1, used=1)


def test_unanswerable_questions_are_dropped(tokenizer: Tokenizer) -> None:
    built, report = build(tokens_of(tokenizer), [passage("the city of paris", None, GoldAnswer("paris", 12))])
    assert spans_of(built) == [((3, 3),)]
    assert [q.id for q in built[0].questions] == ["q1"]
    assert report == AlignmentReport(questions=2, used=1, unanswerable=1)


@pytest.mark.parametrize(
    ("ambiguous", "spans", "report"),
    [
        ("any", [((3, 3), (0, 0), (7, 7))], AlignmentReport(questions=1, used=1, ambiguous=1)),
        ("given", [((3, 3),)], AlignmentReport(questions=1, used=1, ambiguous=1)),
        ("drop", [], AlignmentReport(questions=1, dropped_ambiguous=1)),
    ],
)
def test_ambiguous_answers(
    tokenizer: Tokenizer, ambiguous: Ambiguous, spans: list[Any], report: AlignmentReport
) -> None:
    text = "city of the city and the by city"
    built, found = build(tokens_of(tokenizer), [passage(text, GoldAnswer("city", 12, ambiguous=True))], ambiguous)
    assert spans_of(built) == spans
    assert found == report


def test_other_occurrences_are_whole_tokens(tokenizer: Tokenizer) -> None:
    """'it' occurs within 'city', 'it' and 'fit'; only where tokens begin and end with it may it be meant."""
    text = "it is in the city fit by it"
    built, _ = build(tokens_of(tokenizer), [passage(text, GoldAnswer("it", 0, ambiguous=True))])
    pieces = tokenizer.encode(text, add_special_tokens=False).tokens
    assert pieces == ["it", "is", "in", "the", "city", "f", "##i", "##t", "by", "it"]
    assert spans_of(built) == [((0, 0), (6, 7), (9, 9))]


def test_certain_answers_are_matched_only_where_they_stand(tokenizer: Tokenizer) -> None:
    built, report = build(tokens_of(tokenizer), [passage("city of the city", GoldAnswer("city", 12))])
    assert spans_of(built) == [((3, 3),)]
    assert report.ambiguous == 0


def test_answers_that_no_window_holds_are_counted(tokenizer: Tokenizer) -> None:
    text = " ".join(["paris"] * 40)
    tokens = tokens_of(tokenizer, passage_tokens=16, overlap=2, title_tokens=0)  # 13 tokens a window
    short, long = GoldAnswer("paris paris", 6 * 20), GoldAnswer(text[: 6 * 20 - 1], 0)
    built, report = build(tokens, [passage(text, long, short)])
    assert spans_of(built) == [((20, 21),)]
    assert report == AlignmentReport(questions=2, used=1, across_windows=1)


def test_questions_stand_with_their_windows(tokenizer: Tokenizer) -> None:
    text = " ".join(["paris"] * 40)
    tokens = tokens_of(tokenizer, passage_tokens=16, overlap=2, title_tokens=0)
    built, _ = build(tokens, [passage(text, *(GoldAnswer("paris", 6 * word) for word in range(40)), article=7)])
    assert len(built) > 2
    assert {(e.passage, e.article) for e in built} == {(0, 7)}
    assert sorted(q.spans[0][0] for e in built for q in e.questions) == list(range(40))
    for example in built:
        for question in example.questions:
            ((first, last),) = question.spans
            assert example.window.start <= first <= last < example.window.stop


def test_occurrences_of_an_ambiguous_answer_stay_in_the_window(tokenizer: Tokenizer) -> None:
    text = " ".join(["paris"] * 30)
    tokens = tokens_of(tokenizer, passage_tokens=16, overlap=2, title_tokens=0)
    (example,), _ = build(tokens, [passage(text, GoldAnswer("paris", 6 * 15, ambiguous=True))])
    w = example.window
    assert sorted(example.questions[0].spans) == [(i, i) for i in range(w.start, w.stop)]


def test_equal_answers_have_equal_numbers(tokenizer: Tokenizer) -> None:
    passages = [
        passage("the tower. Paris", GoldAnswer("the tower", 0), GoldAnswer("Paris", 11)),
        passage("paris, Tower", GoldAnswer("paris,", 0), GoldAnswer("Tower", 7)),
    ]
    built, _ = build(tokens_of(tokenizer), passages)
    numbers = [q.answer for e in built for q in e.questions]
    assert numbers == [0, 1, 1, 0]


def test_questions_keep_their_token_ids(tokenizer: Tokenizer) -> None:
    tokens = tokens_of(tokenizer)
    asked = [Question("a", "who?", ()), Question("b", "in paris", (GoldAnswer("the", 0),))]
    built, _ = build(tokens, [QuestionedPassage(Passage("the city"), 0, tuple(asked))])
    assert built[0].questions[0].ids.tolist() == tokens.questions(["in paris"])[0].tolist()


def test_the_sample_slices_back_to_its_answers(tokenizer: Tokenizer) -> None:
    tokens, passages = tokens_of(tokenizer, passage_tokens=128, overlap=48), read_squad(sample_path())
    tokenized = tokens.passages([p.passage for p in passages])
    built, report = build(tokens, passages)
    assert report.questions == sum(len(p.questions) for p in passages) == counted(report)
    assert report.used == sum(len(e.questions) for e in built) > 70
    assert report.inexact <= 2
    gold = {q.id: q.answers[0].text for p in passages for q in p.questions}
    matches = 0
    for example in built:
        text, offsets = passages[example.passage].passage.text, tokenized[example.passage].offsets
        for question in example.questions:
            for first, last in question.spans:
                found = text[offsets[first, 0] : offsets[last, 1]]
                assert gold[question.id] in found
                matches += normalize_answer(found) == normalize_answer(gold[question.id])
    assert matches == report.used - report.inexact


@given(data=st.data(), ambiguous=st.sampled_from(["any", "given", "drop"]))
def test_every_question_is_counted_once(tokenizer: Tokenizer, data: st.DataObject, ambiguous: Ambiguous) -> None:
    text = " ".join(data.draw(st.lists(st.sampled_from([*WORDS, "xyz"]), max_size=30)))
    answers = data.draw(
        st.lists(
            st.none()
            | st.builds(
                lambda start, length, shift, unsure: GoldAnswer(text[start : start + length], start + shift, unsure),
                st.integers(0, len(text)),
                st.integers(0, 60),
                st.sampled_from([0, 0, 0, 1]),
                st.booleans(),
            ),
            max_size=4,
        )
    )
    tokens = tokens_of(tokenizer, passage_tokens=16, overlap=2, title_tokens=0)
    built, report = build(tokens, [passage(text, *answers)], ambiguous)
    assert report.questions == len(answers) == counted(report)
    assert report.used == sum(len(e.questions) for e in built)
    (tokenized,) = tokens.passages([Passage(text)])
    for example in built:
        for question in example.questions:
            answer = answers[int(question.id[1:])]
            assert answer is not None
            first, last = question.spans[0]
            begin, end = tokenized.offsets[first, 0], tokenized.offsets[last, 1]
            assert answer.text.strip() in text[begin:end]


OFFSETS = np.array([[0, 3], [4, 8], [8, 10], [12, 13]])


@pytest.mark.parametrize(
    ("start", "end", "span"),
    [
        (0, 3, (0, 0)),
        (0, 4, (0, 0)),
        (2, 5, (0, 1)),
        (4, 10, (1, 2)),
        (7, 9, (1, 2)),
        (3, 4, None),
        (10, 12, None),
        (10, 13, (3, 3)),
        (13, 20, None),
        (0, 99, (0, 3)),
    ],
)
def test_token_span(start: int, end: int, span: tuple[int, int] | None) -> None:
    assert token_span(OFFSETS, start, end) == span


@given(st.text("ab", max_size=8), st.text("ab", min_size=1, max_size=3))
def test_occurrences_overlap(text: str, needle: str) -> None:
    expected = [i for i in range(len(text)) if text[i : i + len(needle)] == needle]
    assert list(occurrences(needle, text)) == expected


def window(start: int, stop: int) -> Window:
    return Window(np.zeros(0, np.int64), np.zeros(0, np.int64), 0, start, stop, start, stop)


@pytest.mark.parametrize(("span", "best"), [((0, 2), 0), ((5, 5), 0), ((6, 7), 1), ((7, 10), 1), ((3, 9), None)])
def test_best_window_shows_most_context(span: tuple[int, int], best: int | None) -> None:
    assert best_window([window(0, 9), window(4, 12)], span) == best


def squad(path: Path, articles: Sequence[Sequence[QuestionedPassage]]) -> Path:
    content = [
        {
            "title": "title",
            "paragraphs": [
                {
                    "context": p.passage.text,
                    "qas": [{"id": q.id, "question": q.text, "answers": []} for q in p.questions],
                }
                for p in article
            ],
        }
        for article in articles
    ]
    path.write_text(json.dumps({"data": content}))
    return path


def test_training_files_are_told_apart(tmp_path: Path) -> None:
    """Both files number their questions and articles alike."""
    one = squad(tmp_path / "one.json", [[passage("a", None)], [passage("b"), passage("c")]])
    other = squad(tmp_path / "other.json", [[passage("d", None, None)], [passage("e")]])
    third = squad(tmp_path / "third.json", [[passage("f", None)], [passage("g"), passage("h")]])
    found = read_training_data([one, other, third])
    assert [p.passage.text for p in found] == ["a", "b", "c", "d", "e", "f", "g", "h"]
    assert [p.article for p in found] == [0, 1, 1, 2, 3, 4, 5, 5]
    assert [q.id for p in found for q in p.questions] == ["0:q0", "1:q0", "1:q1", "2:q0"]
    assert [q.text for p in found for q in p.questions][:2] == ["what is 0?", "what is 0?"]


def test_a_passage_of_several_files_is_one_with_all_its_questions(tmp_path: Path) -> None:
    one = squad(tmp_path / "one.json", [[passage("a", None), passage("a")], [passage("b")]])
    generated = squad(tmp_path / "generated.json", [[passage("new")], [passage("b", None, None)]])
    found = read_training_data([one, generated])
    assert [(p.passage.text, p.article) for p in found] == [("a", 0), ("a", 0), ("b", 1), ("new", 2)]
    assert [len(p.questions) for p in found] == [1, 0, 2, 0]
    assert found[2].questions[0].id == "1:q0"


def test_held_out_passages_are_left_out() -> None:
    text = "one two three four five six seven eight nine"
    asked = (Question("a", "what?", ()), Question("b", "who?", (), generated=True, answer_type="PERSON"))
    report = AlignmentReport()
    passages = [QuestionedPassage(Passage(t, "x"), 0, asked) for t in (f"zero {text}", "one two three")]
    found = without_held_out(passages, HeldOut([Passage(text, "y")]), report)
    assert found == passages[1:]
    assert report == AlignmentReport(held_out=2)


def test_one_training_file_keeps_everything_but_its_ids() -> None:
    expected, found = read_squad(sample_path()), read_training_data([sample_path()])
    assert [(p.passage, p.article) for p in found] == [(p.passage, p.article) for p in expected]
    for mine, theirs in zip(found, expected, strict=True):
        assert [replace(q, id=q.id.removeprefix("0:")) for q in mine.questions] == list(theirs.questions)


def test_an_empty_training_file(tmp_path: Path) -> None:
    empty, one = squad(tmp_path / "empty.json", []), squad(tmp_path / "one.json", [[passage("a", None)]])
    assert read_training_data([]) == read_training_data([empty]) == []
    for files, number in (([empty, one], 1), ([one, empty], 0)):
        (found,) = read_training_data(files)
        assert (found.article, found.questions[0].id) == (0, f"{number}:q0")


def test_question_ids_occur_once_in_a_training_file(tmp_path: Path) -> None:
    one = squad(tmp_path / "one.json", [[passage("a", None)]])
    twice = squad(tmp_path / "twice.json", [[passage("a", None, None)], [passage("b", None)]])
    with pytest.raises(DataError, match=r"twice\.json' has several questions with the id 'q0'"):
        read_training_data([one, twice])


def test_passages_without_questions_are_kept_as_negatives(tokenizer: Tokenizer) -> None:
    tokens = tokens_of(tokenizer)
    passages = [passage("a b", GoldAnswer("a", 0)), passage("c d e")]
    background = ExampleBuilder(tokens).unasked(passages, tokens.passages([p.passage for p in passages]))
    assert list(background) == [1]
    assert (background[1].questions, background[1].unanswerable) == ((), ())
    assert background[1].window.stop == len(tokens.passages([passages[1].passage])[0].offsets)


def test_unanswerable_questions_go_with_one_example_of_their_passage(tokenizer: Tokenizer) -> None:
    tokens = tokens_of(tokenizer)
    of_both, of_none = passage("a b", GoldAnswer("a", 0), None), passage("c d e", None, None)
    tokenized = tokens.passages([of_both.passage, of_none.passage])
    builder = ExampleBuilder(tokens)
    (built,) = builder.build([of_both, of_none], tokenized)
    assert [q.id for q in built.questions] == ["q0"]
    assert [(q.id, q.spans) for q in built.unanswerable] == [("q1", ())]
    background = builder.unasked([of_both, of_none], tokenized)
    assert {number: [q.id for q in each.unanswerable] for number, each in background.items()} == {1: ["q0", "q1"]}
    assert builder.report.unanswerable == 3


def test_questions_have_typed_variants_and_terms(tokenizer: Tokenizer) -> None:
    tokens = tokens_of(tokenizer)
    asked = replace(passage("a b", GoldAnswer("a", 0)).questions[0], text="Which letter was written first?")
    passages = [replace(passage("a b"), questions=(asked,))]
    tokenized = tokens.passages([p.passage for p in passages])
    (built,) = ExampleBuilder(tokens, typed=True).build(passages, tokenized)
    (question,) = built.questions
    assert question.terms.tolist() == question_terms(asked.text).tolist()
    assert len(question.typed) == 2
    assert question.typed[0][0].tolist() == tokens.questions(["letter written first"])[0].tolist()
    assert question.typed[0][1].tolist() == question_terms("letter written first").tolist()
    (plain,) = ExampleBuilder(tokens).build(passages, tokenized)
    assert plain.questions[0].typed == ()


def test_report_as_a_sentence() -> None:
    report = AlignmentReport(questions=1200, used=1199, across_windows=1)
    assert str(report) == "1,200 questions, 1,199 used, 1 across windows"


def test_nothing_to_learn_from_is_said_with_the_reasons() -> None:
    with pytest.raises(DataError, match=r"no usable question: 3 questions, 3 unanswerable\."):
        AlignmentReport(questions=3, unanswerable=3).require_some()
    AlignmentReport(questions=1, used=1).require_some()


def test_an_answer_longer_than_any_phrase_is_left_out_and_counted(tokenizer: Tokenizer) -> None:
    text = " ".join(["paris"] * 22)
    answers = [GoldAnswer(" ".join(["paris"] * count), 0) for count in (20, 21)]
    (example,), report = build(tokens_of(tokenizer), [passage(text, *answers)])
    assert [q.id for q in example.questions] == ["q0"]
    assert report == AlignmentReport(questions=2, used=1, too_long=1)
