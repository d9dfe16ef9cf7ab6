"""Questions with their passages, read from and written as SQuAD JSON (1.1 and 2.0, plain or compressed)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from densephrases.errors import DataError
from densephrases.json_input import parse_json
from densephrases.text.passages import Passage
from densephrases.text.readers.files import UNREADABLE, open_file, read_whole, write_file


@dataclass(frozen=True, slots=True)
class GoldAnswer:
    text: str
    start: int  # character position in the passage, as the file says; not verified
    ambiguous: bool = False  # the string occurs several times and the position is a guess


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    text: str
    answers: tuple[GoldAnswer, ...]  # empty if the passage does not answer the question
    generated: bool = False  # asked by a model, not by a person
    answer_type: str = ""  # of a generated question's answer, such as PERSON
    aliases: tuple[str, ...] = ()  # further accepted answers, which need not occur in the passage

    @property
    def gold_texts(self) -> list[str]:
        """All accepted answers; none if the passage does not answer the question."""
        return [*(answer.text for answer in self.answers), *(self.aliases if self.answers else ())]


@dataclass(frozen=True, slots=True)
class QuestionedPassage:
    """A passage, its article's number within the file, and the questions about it."""

    passage: Passage
    article: int
    questions: tuple[Question, ...]


def sample_path() -> Path:
    """A dozen passages of SQuAD 1.1 with their questions, for demonstrations and tests."""
    return Path(__file__).parent / "sample" / "squad-sample.json"


def read_squad(path: Path) -> list[QuestionedPassage]:
    """All passages of a SQuAD file in order; a malformed file raises DataError with the reason."""
    content = _read_json(path)
    articles = content.get("data") if isinstance(content, dict) else None
    if not isinstance(articles, list):
        raise DataError(f"'{path}' is not SQuAD JSON: expected an object with a list under 'data'.")
    try:
        return [
            _passage(paragraph, str(article.get("title", "")), number)
            for number, article in enumerate(articles)
            for paragraph in article["paragraphs"]
        ]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        reason = f"no {error} where one is required" if isinstance(error, KeyError) else str(error)
        raise DataError(f"'{path}' is not SQuAD JSON: {reason}.") from error


def _read_json(path: Path) -> Any:
    if not path.is_file():
        state = "is not a file" if path.exists() else "does not exist"
        raise DataError(f"Data file '{path}' {state}; give the path of a SQuAD JSON file.")
    try:
        with open_file(path) as file:
            return parse_json(read_whole(file, path))
    except DataError:
        raise
    except (*UNREADABLE, ValueError) as error:
        raise DataError(f"'{path}' cannot be read as JSON: {error}.") from error


def _passage(paragraph: dict[str, Any], title: str, article: int) -> QuestionedPassage:
    text = _text(paragraph, "context")
    questions = tuple(_question(entry) for entry in paragraph.get("qas", []))
    return QuestionedPassage(Passage(text, title.replace("_", " ")), article, questions)


def _question(entry: dict[str, Any]) -> Question:
    answers: list[dict[str, Any]] = [] if entry.get("is_impossible") else entry.get("answers", [])
    number = str(entry["id"])
    ambiguous = bool(entry.get("start_ambiguous", False))
    gold_answers = tuple(_answer(answer, number, ambiguous) for answer in answers)
    generated, answer_type = bool(entry.get("generated", False)), str(entry.get("type", ""))
    return Question(number, _text(entry, "question"), gold_answers, generated, answer_type, _aliases(entry, number))


def _aliases(entry: dict[str, Any], question: str) -> tuple[str, ...]:
    aliases = entry.get("aliases", [])
    if not isinstance(aliases, list) or not all(isinstance(alias, str) for alias in aliases):
        raise ValueError(f"'aliases' of question '{question}' are {aliases!r:.60}, expected a list of texts")
    "".join(aliases).encode()  # refuses half a surrogate pair
    return tuple(aliases)


def _answer(entry: dict[str, Any], question: str, ambiguous: bool) -> GoldAnswer:
    start = entry["answer_start"]
    if not isinstance(start, int) or isinstance(start, bool) or start < 0:
        raise ValueError(f"'answer_start' of question '{question}' is {start!r}, expected a whole number of at least 0")
    return GoldAnswer(_text(entry, "text"), start, ambiguous or bool(entry.get("start_ambiguous", False)))


def _text(entry: dict[str, Any], name: str) -> str:
    text = entry[name]
    if not isinstance(text, str):
        raise ValueError(f"a '{name}' is {type(text).__name__}, expected text")
    text.encode()  # half a surrogate pair is valid JSON but no text: a ValueError here rather than in the tokenizer
    return text


def write_squad(path: Path, passages: Sequence[QuestionedPassage], about: Mapping[str, Any] | None = None) -> None:
    """In the format that `read_squad` reads, compressed according to the suffix; `about` adds top-level keys."""
    articles = [
        {"title": group[0].passage.title, "paragraphs": [_paragraph(passage) for passage in group]}
        for group in (list(members) for _, members in groupby(passages, key=lambda passage: passage.article))
    ]
    write_file(path, json.dumps({**(about or {}), "data": articles}, ensure_ascii=False).encode())


def _paragraph(passage: QuestionedPassage) -> dict[str, Any]:
    return {"context": passage.passage.text, "qas": [_entry(question) for question in passage.questions]}


def _entry(question: Question) -> dict[str, Any]:
    made = {"generated": True, "type": question.answer_type} if question.generated else {}
    answers = [
        {"text": a.text, "answer_start": a.start} | ({"start_ambiguous": True} if a.ambiguous else {})
        for a in question.answers
    ]
    aliases = {"aliases": list(question.aliases)} if question.aliases else {}
    return {"id": question.id, "question": question.text, "answers": answers} | aliases | made


def questions_of(passages: list[QuestionedPassage]) -> Iterator[tuple[int, Question]]:
    """Every question with the number of its passage."""
    for number, passage in enumerate(passages):
        for question in passage.questions:
            yield number, question
