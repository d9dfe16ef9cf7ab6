"""Generated questions without their passages, JSON lines: small, and free of text that others publish.

The first line says what the file is and how much it holds. Each other line stands for a passage: its title, the number
of its article, a hash of its text, and its questions with the place of their answers in that text.
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
from densephrases.text.passages import Passage
from densephrases.text.readers.files import UNREADABLE, open_lines, refuse_missing_folder, split_name, write_file

FORMAT = "questions without passages"
VERSION = 1
HASH_DIGITS = 16  # 64 bits: among a hundred million passages none is taken for another


@dataclass(frozen=True, slots=True)
class DetachedQuestion:
    """A generated question, and where in its passage the answer stands, in characters."""

    text: str
    start: int
    length: int
    type: str

    @classmethod
    def of(cls, record: dict[str, Any]) -> Self:
        start, length = _number(record, "start", least=0), _number(record, "length", least=1)
        return cls(_text(record, "text"), start, length, _text(record, "type"))


@dataclass(frozen=True, slots=True)
class DetachedPassage:
    """What is left of a passage, and its questions; a line of the file."""

    title: str
    article: int
    hash: str
    questions: tuple[DetachedQuestion, ...]

    @classmethod
    def of(cls, record: dict[str, Any]) -> Self:
        questions = tuple(DetachedQuestion.of(question) for question in record["questions"])
        return cls(_text(record, "title"), _number(record, "article", least=0), _text(record, "hash"), questions)


@dataclass(frozen=True, slots=True)
class Amount:
    passages: int
    questions: int

    @classmethod
    def of(cls, passages: Sequence[DetachedPassage]) -> Self:
        return cls(len(passages), sum(len(passage.questions) for passage in passages))


@dataclass(frozen=True, slots=True)
class AttachReport:
    attached: Amount
    missing: Amount  # whose passages are in none of the files


def text_hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:HASH_DIGITS]


def detach_questions(path: Path, out: Path) -> Amount:
    """Writes the questions of a SQuAD file, generated ones all of them, without its passages."""
    refuse_missing_folder(out)
    passages = [_detached(passage, path) for passage in read_squad(path) if passage.questions]
    if not passages:
        raise DataError(f"No question in '{path}'; expected SQuAD JSON with generated questions.")
    amount = Amount.of(passages)
    _write_lines(out, [{"format": FORMAT, "version": VERSION, **asdict(amount)}, *map(asdict, passages)])
    return amount


def attach_questions(
    path: Path, sources: Sequence[Path], out: Path, advance: Callable[[int], None] = lambda _: None
) -> AttachReport:
    """Writes SQuAD JSON with those questions of `path` whose passages are in `sources`, SQuAD JSON or documents."""
    refuse_missing_folder(out)
    passages = read_detached(path)
    texts = _find({passage.hash for passage in passages}, sources, advance)
    if not texts:
        names = ", ".join(f"'{source}'" for source in sources)
        raise DataError(f"Not one passage of '{path}' is in {names}; give the files that its questions were made from.")
    found = [(number, passage) for number, passage in enumerate(passages) if passage.hash in texts]
    missing = [passage for passage in passages if passage.hash not in texts]
    attached = [_attached(passage, texts[passage.hash], path, number) for number, passage in found]
    write_squad(out, attached, {"questions": path.name, "passages": [source.name for source in sources]})
    return AttachReport(Amount.of([passage for _, passage in found]), Amount.of(missing))


def read_detached(path: Path) -> list[DetachedPassage]:
    """The passages of such a file; one of another kind, damaged or cut off raises DataError."""
    if not path.is_file():
        raise DataError(f"Questions file '{path}' does not exist; make it with: densephrases generate detach")
    try:
        with open_lines(path) as file:
            promised = _read_head(file.readline(), path)
            passages = [_read_passage(line, f"'{path}', line {number},") for number, line in enumerate(file, start=2)]
    except UNREADABLE as error:
        raise DataError(f"'{path}' cannot be read: {error}.") from error
    if (amount := Amount.of(passages)) != promised:
        raise DataError(
            f"'{path}' is damaged: it has {amount.questions:,} questions about {amount.passages:,} passages, "
            f"and its first line promises {promised.questions:,} about {promised.passages:,}."
        )
    return passages


def _detached(passage: QuestionedPassage, path: Path) -> DetachedPassage:
    text, title = passage.passage.text, passage.passage.title
    try:
        questions = tuple(_detached_question(question, text) for question in passage.questions)
    except ValueError as error:
        raise DataError(f"'{path}' cannot be detached: {error}.") from error
    return DetachedPassage(title, passage.article, text_hash(text), questions)


def _detached_question(question: Question, passage: str) -> DetachedQuestion:
    if not question.generated:
        raise ValueError(f"question '{question.id}' was not generated, and all others belong with their passages")
    if len(question.answers) != 1:
        raise ValueError(f"question '{question.id}' has {len(question.answers)} answers, expected one")
    (answer,) = question.answers
    if not answer.text or not passage.startswith(answer.text, answer.start):
        raise ValueError(f"answer {answer.text!r} of '{question.id}' does not stand at {answer.start} of its passage")
    return DetachedQuestion(question.text, answer.start, len(answer.text), question.answer_type)


def _find(hashes: set[str], sources: Sequence[Path], advance: Callable[[int], None]) -> dict[str, str]:
    """The texts that have these hashes."""
    found = {}
    for source in read_source(sources):
        text = source.passage.text
        if (key := text_hash(text)) in hashes:
            found[key] = text
        advance(1)
    return found


def _attached(passage: DetachedPassage, text: str, path: Path, number: int) -> QuestionedPassage:
    """Questions get ids of their file's name and of their numbers in it, whether or not others are found."""
    name = f"{split_name(path)[0]}#{number}"
    questions = []
    for position, asked in enumerate(passage.questions):
        end = asked.start + asked.length
        if end > len(text):
            raise DataError(f"'{path}' is damaged: the answer of '{asked.text}' ends at {end}, behind its passage.")
        answer = GoldAnswer(text[asked.start : end], asked.start)
        questions.append(Question(f"{name}-{position}", asked.text, (answer,), True, asked.type))
    return QuestionedPassage(Passage(text, passage.title), passage.article, tuple(questions))


def _write_lines(path: Path, records: Iterable[dict[str, Any]]) -> None:
    write_file(path, "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode())


def _read_head(line: bytes, path: Path) -> Amount:
    try:
        head = json.loads(line)
        if head["format"] != FORMAT:
            raise ValueError(head["format"])
        version = _number(head, "version", least=1)
        promised = Amount(_number(head, "passages", least=1), _number(head, "questions", least=1))
    except (KeyError, TypeError, ValueError) as error:
        remedy = "expected what is written by: densephrases generate detach"
        raise DataError(f"'{path}' is no file of questions without passages; {remedy}") from error
    if version > VERSION:
        raise DataError(f"'{path}' has version {version}, expected up to {VERSION}; a newer densephrases reads it.")
    return promised


def _read_passage(line: bytes, place: str) -> DetachedPassage:
    try:
        return DetachedPassage.of(json.loads(line))
    except (KeyError, TypeError, ValueError) as error:
        reason = f"no {error}" if isinstance(error, KeyError) else error
        raise DataError(f"{place} is no passage with questions: {reason}.") from error


def _text(record: dict[str, Any], name: str) -> str:
    text = record[name]
    if not isinstance(text, str):
        raise ValueError(f"'{name}' is {text!r}, expected text")
    text.encode()  # half a surrogate pair is valid JSON but no text
    return text


def _number(record: dict[str, Any], name: str, least: int) -> int:
    number = record[name]
    if type(number) is not int or number < least:
        raise ValueError(f"'{name}' is {number!r}, expected a number from {least} on")
    return number
