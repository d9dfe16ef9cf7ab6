"""Readers of the published formats of question files.

A reader of an entry raises ValueError with the reason; the file and the line or entry are added to the message.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from densephrases.data.kilt import read_kilt
from densephrases.data.questions import Entry, FileLocation, Format, OpenQuestion, content_of, json_lines, json_list
from densephrases.data.squad import questions_of, read_squad
from densephrases.errors import DataError
from densephrases.json_input import parse_json

_DESCRIPTION = re.compile(r'\(description (?:"((?:[^"\\]|\\.)*)"|([^()]*))\)')
_EXPECTED = "write it as JSON lines with 'question' and 'answers', or name its format where the command takes --format"

ReadEntry = Callable[[Mapping[str, Any], str], OpenQuestion]


def recognise(path: Path) -> Format:
    """The format of a file by its first entry."""
    content = content_of(path).lstrip()
    if content.startswith("["):
        return _of_entry(next(json_list(path), (None, {}))[1], path)
    if not content.startswith("{"):
        return _of_table(content.partition("\n")[0], path)
    try:
        first = parse_json(content.partition("\n")[0])
    except ValueError:
        return _of_document(content, path)
    return _of_entry(first, path)


def _of_document(content: str, path: Path) -> Format:
    try:
        document = parse_json(content)
    except ValueError as error:
        raise DataError(f"'{path}', line 1 is not JSON: {error}.") from error
    return _of_entry(document, path)


def _of_entry(entry: Any, path: Path) -> Format:
    keys = set(entry) if isinstance(entry, dict) else set()
    signs: list[tuple[Format, set[str]]] = [
        ("squad", {"data"}),
        ("triviaqa", {"Data"}),
        ("webquestions", {"utterance", "targetValue"}),
        ("kilt", {"id", "input"}),
        ("beir", {"_id", "text"}),
        ("dpr", {"question", "answers", "positive_ctxs"}),
        ("lines", {"id", "question", "answers"}),
        ("entityquestions", {"question", "answers"}),
        ("nq-open", {"question", "answer"}),
    ]
    for form, sign in signs:
        if sign <= keys:
            return form
    shown = f"the keys {sorted(keys)}" if keys else f"a {type(entry).__name__}"
    raise DataError(f"'{path}' begins with {shown}, which is none of the known formats; {_EXPECTED}.")


def _of_table(line: str, path: Path) -> Format:
    columns = line.rstrip("\r").split("\t")
    if len(columns) == 2 and columns[1].lstrip('"').startswith("["):
        return "dpr"
    if len(columns) in (3, 4):
        return "trec"
    raise DataError(f"'{path}' begins with '{line[:60]}', which is none of the known formats; {_EXPECTED}.")


def _read(entries: Iterable[Entry], read: ReadEntry) -> Iterator[OpenQuestion]:
    for place, entry in entries:
        try:
            if not isinstance(entry, dict):
                raise ValueError(f"it is {type(entry).__name__}, expected an object")
            yield read(entry, str(place.number))
        except ValueError as error:
            raise DataError(f"{place} is no question: {error}.") from error


def _entries(path: Path) -> Iterator[Entry]:
    return json_list(path) if content_of(path).lstrip().startswith("[") else json_lines(path)


def _listed(path: Path) -> Iterator[OpenQuestion]:
    """Our JSON lines, EntityQuestions, DPR's training files, NQ-open and DrQA: a question with its answers."""
    return _read(_entries(path), _plain)


def _plain(entry: Mapping[str, Any], number: str) -> OpenQuestion:
    key = "answer" if "answers" not in entry else "answers"
    answers = entry.get(key)
    if isinstance(answers, str):
        answers = [answers]
    regex = entry.get("regex", False)
    if not isinstance(regex, bool):
        raise ValueError(f"its 'regex' is {regex!r}, expected true or false")
    return OpenQuestion(_id(entry.get("id"), number), _text(entry, "question"), _texts(answers, key), regex)


def _webquestions(path: Path) -> Iterator[OpenQuestion]:
    return _read(_entries(path), _webquestion)


def _webquestion(entry: Mapping[str, Any], number: str) -> OpenQuestion:
    found = _DESCRIPTION.findall(_text(entry, "targetValue"))
    answers = tuple(re.sub(r"\\(.)", r"\1", quoted) or plain for quoted, plain in found)
    return OpenQuestion(number, _text(entry, "utterance"), answers)


def _triviaqa(path: Path) -> Iterator[OpenQuestion]:
    return _read(json_list(path, "Data"), _trivia_question)


def _trivia_question(entry: Mapping[str, Any], number: str) -> OpenQuestion:
    answer = entry.get("Answer") or {}  # the test set has none
    if not isinstance(answer, dict):
        raise ValueError(f"its 'Answer' is {type(answer).__name__}, expected an object")
    aliases = _texts(answer.get("Aliases", []), "Aliases")
    answers = (*_texts([answer["Value"]] if "Value" in answer else [], "Value"), *aliases)
    return OpenQuestion(_id(entry.get("QuestionId"), number), _text(entry, "Question"), tuple(dict.fromkeys(answers)))


def _squad(path: Path) -> Iterator[OpenQuestion]:
    for _, question in questions_of(read_squad(path)):
        yield OpenQuestion(question.id, question.text, tuple(dict.fromkeys(question.gold_texts)))


def _dpr(path: Path) -> Iterator[OpenQuestion]:
    """JSON with training passages, or a table of questions and Python lists of answers."""
    if content_of(path).lstrip().startswith(("[", "{")):
        yield from _listed(path)
        return
    for place, (text, answers) in _rows(path, 2):
        try:
            yield OpenQuestion(
                str(place.number), _unquoted(text), _texts(ast.literal_eval(_unquoted(answers)), "answers")
            )
        except (ValueError, SyntaxError, RecursionError, MemoryError) as error:  # Python's for deep nesting
            raise DataError(f"{place} is no question: its answers {answers[:60]} are no list of texts.") from error


def _unquoted(cell: str) -> str:
    """The content of a CSV cell, without its quotes."""
    return cell[1:-1].replace('""', '"') if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell


def _trec(path: Path) -> Iterator[OpenQuestion]:
    """CuratedTREC: columns id, optionally kind, question and pattern; or JSON lines."""
    if content_of(path).lstrip().startswith(("[", "{")):
        for question in _listed(path):
            yield OpenQuestion(question.id, question.text, question.answers, regex=True)
        return
    for _, columns in _rows(path, 3, 4):
        yield OpenQuestion(columns[0], columns[-2], (columns[-1],), regex=True)


def _rows(path: Path, *widths: int) -> Iterator[tuple[FileLocation, list[str]]]:
    for number, line in enumerate(content_of(path).split("\n"), start=1):
        if line.strip():
            columns = [column.strip() for column in line.rstrip("\r").split("\t")]
            place = FileLocation(path, "line", number)
            if len(columns) not in widths or not all(columns):
                expected = " or ".join(map(str, widths))
                raise DataError(
                    f"{place} has {len(columns)} columns, some perhaps empty; expected {expected} full ones."
                )
            yield place, columns


def _kilt(path: Path) -> Iterator[OpenQuestion]:
    for record in read_kilt(path):
        documents = {document.id: 1 for evidence in record.evidence for document in evidence if document.id}
        yield OpenQuestion(record.id, record.input, tuple(record.answers), documents=documents)


def _beir(path: Path) -> Iterator[OpenQuestion]:
    """A folder with queries.jsonl and qrels/test.tsv; queries without judgements are left out."""
    folder = path if path.is_dir() else path.parent
    judged = _qrels(folder)
    for question in _read(json_lines(folder / "queries.jsonl"), _query):
        if question.id in judged:
            yield OpenQuestion(question.id, question.text, (), documents=judged[question.id])


def _query(entry: Mapping[str, Any], number: str) -> OpenQuestion:
    return OpenQuestion(_id(entry.get("_id"), number), _text(entry, "text"), ())


def _qrels(folder: Path) -> dict[str, dict[str, int]]:
    tables = sorted((folder / "qrels").glob("*.tsv"))
    chosen = next((table for table in tables if table.name == "test.tsv"), tables[0] if len(tables) == 1 else None)
    if chosen is None:
        raise DataError(f"'{folder}' has no qrels/test.tsv; expected a data set in BEIR's format.")
    judged: dict[str, dict[str, int]] = {}
    for place, (query, document, grade) in _rows(chosen, 3):
        if place.number == 1 and not grade.lstrip("-").isdigit():
            continue  # the header
        if not grade.lstrip("-").isdigit():
            raise DataError(f"{place} has the grade '{grade}'; expected a whole number.")
        judged.setdefault(query, {})[document] = int(grade)
    return judged


def _id(value: Any, number: str) -> str:
    if value is None:
        return number
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError(f"its id is {value!r}, expected a text or a whole number")
    return str(value)


def _text(entry: Mapping[str, Any], key: str) -> str:
    text = entry.get(key)
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"its '{key}' is {text!r}, expected a text")
    text.encode()  # half a surrogate pair is valid JSON but no text
    return text.strip()


def _texts(values: Any, key: str) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"its '{key}' are {values!r:.60}, expected a list of texts")
    return tuple(value for value in values if value.strip())


READERS: dict[Format, Callable[[Path], Iterator[OpenQuestion]]] = {
    "lines": _listed,
    "nq-open": _listed,
    "webquestions": _webquestions,
    "trec": _trec,
    "triviaqa": _triviaqa,
    "squad": _squad,
    "entityquestions": _listed,
    "dpr": _dpr,
    "kilt": _kilt,
    "beir": _beir,
}
