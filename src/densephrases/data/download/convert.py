"""Published formats that no command reads, written in those that they do. Everything is streamed, nothing unpacked.

What cannot be used is counted and left out; a file in another format raises DataError.
"""

import gzip
import json
import re
import tarfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import IO, Any

from densephrases.atomic_files import replacing
from densephrases.data.download.catalog import Conversion
from densephrases.data.download.json_stream import objects_under
from densephrases.data.squad import GoldAnswer, Question, QuestionedPassage, write_squad
from densephrases.errors import DataError
from densephrases.json_input import parse_json
from densephrases.text.passages import Passage
from densephrases.text.readers.files import open_lines

VERSION = 1
"""Raised when a conversion writes something else than before, so that files are converted again."""

_TAG = re.compile(r"</?[A-Z][A-Za-z]*[0-9]?>|\[(?:PAR|TLE|SEP|DOC)\]")
_TABLES_AND_LISTS = ("<Table", "<Tr", "<Td", "<Ul", "<Ol", "<Dl", "<Li", "<Dd", "<Dt")


@dataclass(slots=True)
class Converted:
    """How many entries were written, and how many were left out for which reason."""

    written: int = 0
    left_out: dict[str, int] = field(default_factory=dict)

    def leave_out(self, reason: str) -> None:
        self.left_out[reason] = self.left_out.get(reason, 0) + 1


def mrqa(source: Path, targets: tuple[Path, ...]) -> Converted:
    """MRQA's JSON lines of Natural Questions as SQuAD JSON, paragraphs alone, without their tags."""
    count = Converted()
    passages = list(_mrqa_passages(source, count))
    if not passages:
        raise DataError(f"'{source}' has no passage in MRQA's format; expected JSON lines with 'context' and 'qas'.")
    write_squad(targets[0], passages, {"version": "MRQA 2019, NaturalQuestionsShort"})
    return count


def _mrqa_passages(source: Path, count: Converted) -> Iterator[QuestionedPassage]:
    for number, entry in enumerate(_json_lines(source)):
        if "header" in entry:
            continue
        context = str(_required(entry, "context", source))
        if context.lstrip().startswith(_TABLES_AND_LISTS):
            count.leave_out("passages that are tables or lists")
            continue
        text, moved = _without_tags(context)
        asked = [_mrqa_question(each, context, text, moved, source) for each in _required(entry, "qas", source)]
        questions = tuple(question for question in asked if question.answers)
        for _ in range(len(asked) - len(questions)):
            count.leave_out("questions without an answer in their passage")
        if questions:
            count.written += len(questions)
            yield QuestionedPassage(Passage(text), number, questions)


def _mrqa_question(
    entry: Mapping[str, Any], context: str, text: str, moved: Callable[[int], int], source: Path
) -> Question:
    answers = []
    for each in _required(entry, "detected_answers", source):
        spans = _required(each, "char_spans", source)
        first, last = spans[0]  # the last character belongs to it
        start = moved(first)
        answer, _ = _without_tags(context[first : last + 1])
        if answer and text.startswith(answer, start):
            answers.append(GoldAnswer(answer, start, len(spans) > 1))
    return Question(str(_required(entry, "qid", source)), str(_required(entry, "question", source)), tuple(answers))


def _without_tags(text: str) -> tuple[str, Callable[[int], int]]:
    """The text without its tags and with single spaces, and where a character of the one is in the other."""
    kept: list[int] = []
    tags = [match.span() for match in _TAG.finditer(text)]
    inside = set(chain.from_iterable(range(*span) for span in tags))
    for place, character in enumerate(text):
        if place in inside or (character.isspace() and (not kept or text[kept[-1]].isspace())):
            continue
        kept.append(place)
    while kept and text[kept[-1]].isspace():
        kept.pop()
    places = {place: number for number, place in enumerate(kept)}
    return "".join(" " if text[p].isspace() else text[p] for p in kept), lambda place: places.get(place, len(kept))


def triviaqa(source: Path, targets: tuple[Path, ...]) -> Converted:
    """The questions and answers of TriviaQA's archive as JSON lines; its search results are left out."""
    wanted = dict(zip(("unfiltered-web-train.json", "unfiltered-web-dev.json"), targets, strict=True))
    count, found = Converted(), set()
    try:
        with tarfile.open(source, "r|*") as archive:  # a stream: it is read once, in order
            for member in archive:
                name = Path(member.name).name
                file = archive.extractfile(member) if name in wanted and member.isfile() else None
                if file is not None:
                    _write_lines(wanted[name], _trivia_questions(file, source, count))
                    found.add(name)
    except (tarfile.TarError, EOFError, OSError) as error:
        raise DataError(f"'{source}' cannot be read as an archive: {error}.") from error
    if missing := sorted(wanted.keys() - found):
        raise DataError(f"'{source}' lacks {' and '.join(missing)}, which TriviaQA's unfiltered archive has.")
    return count


def _trivia_questions(file: IO[bytes], source: Path, count: Converted) -> Iterator[dict[str, Any]]:
    for entry in objects_under(file, "Data", source):
        answer = entry.get("Answer") or {}
        answers = [answer[key] for key in ("Value",) if key in answer] + list(answer.get("Aliases", []))
        if not answers:
            count.leave_out("questions without an answer")
            continue
        count.written += 1
        question = str(_required(entry, "Question", source))
        name = str(_required(entry, "QuestionId", source))
        yield {"id": name, "question": question, "answers": list(dict.fromkeys(answers))}


def kilt_articles(source: Path, targets: tuple[Path, ...]) -> Converted:
    """KILT's Wikipedia as JSON lines of articles, with the ids that provenance names."""
    count = Converted()
    _write_lines(targets[0], _kilt_articles(source, count))
    return count


def _kilt_articles(source: Path, count: Converted) -> Iterator[dict[str, Any]]:
    for entry in _json_lines(source):
        title = str(_required(entry, "wikipedia_title", source))
        paragraphs = [_kilt_paragraph(str(each)) for each in _required(entry, "text", source)]
        text = [each for each in paragraphs[paragraphs[:1] == [title] :] if each]
        if not text:
            count.leave_out("articles without text")
            continue
        count.written += 1
        yield {"id": str(_required(entry, "wikipedia_id", source)), "title": title, "paragraphs": text}


def _kilt_paragraph(text: str) -> str:
    """Without the marks of headings, which are dropped, and of list items."""
    return "" if text.startswith("Section::::") else text.removeprefix("BULLET::::").strip(" \n-")


def _json_lines(source: Path) -> Iterator[Mapping[str, Any]]:
    with open_lines(source) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                entry = parse_json(line)
            except ValueError as error:
                raise DataError(f"'{source}', line {number} is not JSON: {error}.") from error
            if not isinstance(entry, dict):
                raise DataError(f"'{source}', line {number} is {type(entry).__name__}, expected an object.")
            yield entry


def _required(entry: Mapping[str, Any], key: str, source: Path) -> Any:
    try:
        return entry[key]
    except (KeyError, TypeError) as error:
        raise DataError(
            f"An entry of '{source}' has no '{key}'; it is not in the format that its owner describes."
        ) from error


def _write_lines(target: Path, entries: Iterator[dict[str, Any]]) -> None:
    with replacing(target) as new, gzip.open(new, "wb") if target.suffix == ".gz" else new.open("wb") as file:
        for entry in entries:
            file.write(json.dumps(entry, ensure_ascii=False).encode() + b"\n")


CONVERSIONS: dict[Conversion, Callable[[Path, tuple[Path, ...]], Converted]] = {
    "mrqa": mrqa,
    "triviaqa": triviaqa,
    "kilt-articles": kilt_articles,
}
