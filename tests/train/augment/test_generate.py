"""Generated questions: each candidate once, none asked before, the same file after a kill."""

from pathlib import Path
from typing import Any

import pytest

from densephrases.data.decontaminate import LeakReport
from densephrases.data.generated.answers_file import AnsweredPassage, AnswerExtraction, extract_answers, read_answers
from densephrases.data.generated.candidate_answers import AnswerKind, CandidateAnswer
from densephrases.data.generated.source_passages import SourcePassage
from densephrases.data.squad import GoldAnswer, Question, QuestionedPassage, read_squad, sample_path
from densephrases.errors import ConfigError, DataError
from densephrases.model.prompts import Prompts
from densephrases.nn.question_generator import Decoding, QuestionGenerator
from densephrases.text.passages import Passage
from densephrases.train.augment import generate as module
from densephrases.train.augment.generate import (
    Generation,
    GenerationReport,
    generate_questions,
    sample_candidates,
    without_duplicates,
)

WHOLE_WRITING = Prompts.text


@pytest.fixture(autouse=True)
def _unfinished_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that has learned nothing hardly comes to the end of a question."""

    def text(self: Prompts, ids: list[int]) -> str | None:
        return WHOLE_WRITING(self, [*ids, self.end_id])

    monkeypatch.setattr(Prompts, "text", text)


@pytest.fixture(scope="module")
def model(tiny_writer: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("generator")
    QuestionGenerator.from_base(tiny_writer, context_tokens=16, title_tokens=2, question_tokens=6).save_pretrained(
        folder
    )
    return folder


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("answers") / "answers.jsonl"
    extract_answers(AnswerExtraction(passages=(sample_path(),), kinds=(AnswerKind.dates, AnswerKind.numbers)), path)
    return path


def test_squad_that_the_trainer_reads(model: Path, answers: Path, tmp_path: Path) -> None:
    out = tmp_path / "made.json.gz"
    report = generate_questions(Generation(answers=answers, per_passage=2), model, out, cpu=True)
    passages = read_squad(out)
    asked = [q for p in passages for q in p.questions]
    assert report.kept == len(asked) > 0
    assert report.candidates == report.kept + report.unfinished + report.duplicates
    assert all(q.generated and q.answer_type in ("DATE_PHRASE", "NUMBER") for q in asked)
    assert len({q.id for q in asked}) == len(asked)
    assert max(len(p.questions) for p in passages) <= 2
    for passage in passages:
        for question in passage.questions:
            (answer,) = question.answers
            assert passage.passage.text[answer.start :].startswith(answer.text)
    assert [file.name for file in tmp_path.iterdir()] == [out.name]


@pytest.mark.parametrize("decoding", [Decoding(), Decoding(sample=True, temperature=2.0)])
def test_killed_and_resumed(model: Path, answers: Path, tmp_path: Path, decoding: Decoding) -> None:
    generation = Generation(answers=answers, per_passage=2, decoding=decoding, tokens_per_batch=128)
    assert generation.group == 8
    generate_questions(generation, model, tmp_path / "whole.json", cpu=True)

    def kill(count: int) -> None:
        if count:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        generate_questions(generation, model, tmp_path / "parts.json", cpu=True, advance=kill)
    assert not (tmp_path / "parts.json").exists()
    seen: list[int] = []
    generate_questions(generation, model, tmp_path / "parts.json", cpu=True, advance=seen.append)
    assert seen[0] == 8
    assert (tmp_path / "parts.json").read_bytes() == (tmp_path / "whole.json").read_bytes()


def test_held_out_passages_are_left_out(model: Path, answers: Path, tmp_path: Path) -> None:
    generation = Generation(answers=answers, exclude=(sample_path(),))
    with pytest.raises(DataError, match=r"No question was generated .*title="):
        generate_questions(generation, model, tmp_path / "made.json", cpu=True)


def passage(name: str, *texts: str, asked: tuple[str, ...] = ()) -> AnsweredPassage:
    text = " ".join(texts)
    found = tuple(CandidateAnswer(t, text.index(t), "X") for t in texts)
    return AnsweredPassage(SourcePassage(name, Passage(text), 0, asked), found)


def test_questions_asked_before_are_left_out() -> None:
    passages = [passage("a", "one", "two", "three"), passage("b", "four", "five", asked=("Who built it?",))]
    records: list[dict[str, Any]] = [
        {"questions": ["who built it", "When?", None]},
        {"questions": ["When ?", "Where?"]},
    ]
    report = GenerationReport()
    found = without_duplicates(passages, records, report)
    assert [[(q.id, q.text) for q in p.questions] for p in found] == [[("a@4-7", "When?")], [("b@5-9", "Where?")]]
    assert found[0] == QuestionedPassage(
        Passage("one two three"), 0, (Question("a@4-7", "When?", (GoldAnswer("two", 4),), True, "X"),)
    )
    assert report == GenerationReport(2, 5, unfinished=1, duplicates=2, kept=2, leaks=LeakReport())


def test_candidates_are_drawn_for_each_passage_by_itself() -> None:
    words = tuple(f"w{n:02}" for n in range(20))
    one, other = passage("a", *words), passage("b", *words)
    assert sample_candidates(one, None, 1) == sample_candidates(one, 20, 1) == one.candidates
    drawn = sample_candidates(one, 5, 1)
    assert len(drawn) == 5
    assert sorted(drawn, key=lambda c: c.start) == list(drawn)
    assert sample_candidates(one, 5, 1) == drawn != sample_candidates(other, 5, 1)
    assert sample_candidates(one, 5, 2) != drawn


def test_rows_are_numbered_by_their_passage_and_place() -> None:
    numbers = {module.prompt_key(name, Passage(text), at) for name in "ab" for text in "xy" for at in (0, 1)}
    assert len(numbers) == 8


def test_impossible_settings(answers: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="per_passage=0"):
        Generation(answers=answers, per_passage=0)
    assert len(list(read_answers(answers))) == len(read_squad(sample_path()))
