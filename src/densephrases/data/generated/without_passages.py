"""Generated questions stripped of their passages, as JSON lines: small, and free of text that others publish.

The first line holds the format and the number of passages and questions. Each further line describes one passage: its
title, the number of its article, a hash of its text, and its questions with the character offsets of their answers.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from densephrases.data.generated.source_passages import read_source
from densephrases.data.squad import GoldAnswer, Question, QuestionedPassage, read_squad, write_squad
from densephrases.errors import DataError
from densephrases.json_input import parse_json
from densephrases.text.passages import Passage
from densephrases.text.readers.files import UNREADABLE, open_lines, refuse_missing_folder, split_name, write_file

FORMAT = "questions without passages"
VERSION = 1
HASH_DIGITS = 16  # 64 bits: a collision is unlikely even among a hundred million passages


@dataclass(frozen=True, slots=True)
class StrippedQuestion:
    """A generated question with the character offsets of its answer."""

    text: str
    start: int
    length: int
    type: str

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        start, length = _number(record, "start", least=0), _number(record, "length", least=1)
        return cls(_text(record, "text"), start, length, _text(record, "type"))


@dataclass(frozen=True, slots=True)
class StrippedPassage:
    """A passage reduced to title, article and hash, with its questions: one line of the file."""

    title: str
    article: int
    hash: str
    questions: tuple[StrippedQuestion, ...]

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        questions = tuple(StrippedQuestion.from_record(question) for question in record["questions"])
        return cls(_text(record, "title"), _number(record, "article", least=0), _text(record, "hash"), questions)


@dataclass(frozen=True, slots=True)
class QuestionCounts:
    passages: int
    questions: int

    @classmethod
    def from_passages(cls, passages: Sequence[StrippedPassage]) -> Self:
        return cls(len(passages), sum(len(passage.questions) for passage in passages))


@dataclass(frozen=True, slots=True)
class JoinReport:
    joined: QuestionCounts
    missing: QuestionCounts  # questions whose passage is in none of the files


def text_hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:HASH_DIGITS]


def strip_passages(path: Path, out: Path) -> QuestionCounts:
    """Writes the questions of a SQuAD file without its passages. All of them must be generated."""
    refuse_missing_folder(out)
    passages = [_stripped(passage, path) for passage in read_squad(path) if passage.questions]
    if not passages:
        raise DataError(f"No question in '{path}'; expected SQuAD JSON with generated questions.")
    counts = QuestionCounts.from_passages(passages)
    _write_lines(out, [{"format": FORMAT, "version": VERSION, **asdict(counts)}, *map(asdict, passages)])
    return counts


def join_passages(
    path: Path, sources: Sequence[Path], out: Path, advance: Callable[[int], None] = lambda _: None
) -> JoinReport:
    """Writes SQuAD JSON with the questions of `path` whose passages are in `sources` (SQuAD JSON or documents)."""
    refuse_missing_folder(out)
    passages = read_stripped(path)
    texts = _find({passage.hash for passage in passages}, sources, advance)
    if not texts:
        names = ", ".join(f"'{source}'" for source in sources)
        raise DataError(f"No passage of '{path}' is in {names}; give the files that its questions were generated from.")
    found = [(number, passage) for number, passage in enumerate(passages) if passage.hash in texts]
    missing = [passage for passage in passages if passage.hash not in texts]
    joined = [_joined(passage, texts[passage.hash], path, number) for number, passage in found]
    write_squad(out, joined, {"questions": path.name, "passages": [source.name for source in sources]})
    return JoinReport(
        joined=QuestionCounts.from_passages([passage for _, passage in found]),
        missing=QuestionCounts.from_passages(missing),
    )


def read_stripped(path: Path) -> list[StrippedPassage]:
    """The lines of the file. Another format, a damaged or a truncated file raises DataError."""
    if not path.is_file():
        raise DataError(f"Questions file '{path}' does not exist; make it with: densephrases generate strip-passages")
    try:
        with open_lines(path) as file:
            declared = _read_head(file.readline(), path)
            passages = [_read_passage(line, f"'{path}', line {number},") for number, line in enumerate(file, start=2)]
    except UNREADABLE as error:
        raise DataError(f"'{path}' cannot be read: {error}.") from error
    if (counts := QuestionCounts.from_passages(passages)) != declared:
        raise DataError(
            f"'{path}' is damaged: it has {counts.questions:,} questions about {counts.passages:,} passages, "
            f"and its first line declares {declared.questions:,} about {declared.passages:,}."
        )
    return passages


def _stripped(passage: QuestionedPassage, path: Path) -> StrippedPassage:
    text, title = passage.passage.text, passage.passage.title
    try:
        questions = tuple(_stripped_question(question, text) for question in passage.questions)
    except ValueError as error:
        raise DataError(f"'{path}' cannot be stripped of its passages: {error}.") from error
    return StrippedPassage(title, passage.article, text_hash(text), questions)


def _stripped_question(question: Question, passage: str) -> StrippedQuestion:
    if not question.generated:
        raise ValueError(f"question '{question.id}' was not generated; only generated questions can be stripped")
    if len(question.answers) != 1:
        raise ValueError(f"question '{question.id}' has {len(question.answers)} answers, expected exactly one")
    (answer,) = question.answers
    if not answer.text or not passage.startswith(answer.text, answer.start):
        raise ValueError(f"answer {answer.text!r} of '{question.id}' is not at character {answer.start} of its passage")
    return StrippedQuestion(question.text, answer.start, len(answer.text), question.answer_type)


def _find(hashes: set[str], sources: Sequence[Path], advance: Callable[[int], None]) -> dict[str, str]:
    """Texts by hash, of those among `hashes` that occur in the sources."""
    found = {}
    for source in read_source(sources):
        text = source.passage.text
        if (key := text_hash(text)) in hashes:
            found[key] = text
        advance(1)
    return found


def _joined(passage: StrippedPassage, text: str, path: Path, number: int) -> QuestionedPassage:
    """Question ids consist of file name, passage number and question number, so they do not depend on what is found."""
    name = f"{split_name(path)[0]}#{number}"
    questions = []
    for position, asked in enumerate(passage.questions):
        end = asked.start + asked.length
        if end > len(text):
            raise DataError(
                f"'{path}' is damaged: the answer of '{asked.text}' ends at character {end}, "
                f"but its passage has {len(text)}."
            )
        answer = GoldAnswer(text[asked.start : end], asked.start)
        questions.append(Question(f"{name}-{position}", asked.text, (answer,), True, asked.type))
    return QuestionedPassage(Passage(text, passage.title), passage.article, tuple(questions))


def _write_lines(path: Path, records: Iterable[dict[str, Any]]) -> None:
    write_file(path, "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode())


def _read_head(line: bytes, path: Path) -> QuestionCounts:
    try:
        head = parse_json(line)
        if head["format"] != FORMAT:
            raise ValueError(head["format"])
        version = _number(head, "version", least=1)
        declared = QuestionCounts(_number(head, "passages", least=1), _number(head, "questions", least=1))
    except (KeyError, TypeError, ValueError) as error:
        remedy = "make one with: densephrases generate strip-passages"
        raise DataError(f"'{path}' is not a file of questions without passages; {remedy}") from error
    if version > VERSION:
        raise DataError(f"'{path}' has version {version}, expected at most {VERSION}; upgrade densephrases.")
    return declared


def _read_passage(line: bytes, place: str) -> StrippedPassage:
    try:
        return StrippedPassage.from_record(parse_json(line))
    except (KeyError, TypeError, ValueError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else error
        raise DataError(f"{place} is not a passage with questions: {reason}.") from error


def _text(record: dict[str, Any], name: str) -> str:
    text = record[name]
    if not isinstance(text, str):
        raise ValueError(f"'{name}' is {text!r}, expected a string")
    text.encode()  # a lone surrogate is valid JSON but cannot be encoded
    return text


def _number(record: dict[str, Any], name: str, least: int) -> int:
    number = record[name]
    if type(number) is not int or number < least:
        raise ValueError(f"'{name}' is {number!r}, expected an integer of at least {least}")
    return number
