"""The answers file: passages with their candidate answers as JSON lines, written with spaCy, read without it."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from densephrases.data.decontaminate import HeldOut, LeakReport
from densephrases.data.generated.candidate_answers import PIPELINE, AnswerExtractor, AnswerKind, CandidateAnswer
from densephrases.data.generated.resumable_lines import ResumableLines
from densephrases.data.generated.source_passages import SourcePassage, read_source
from densephrases.errors import DataError
from densephrases.json_input import parse_json
from densephrases.text.passages import Passage
from densephrases.text.readers.files import UNREADABLE, open_lines

PASSAGES_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class AnsweredPassage:
    """A passage with its candidate answers: one line of an answers file."""

    source: SourcePassage
    candidates: tuple[CandidateAnswer, ...]

    def to_record(self) -> dict[str, Any]:
        source = self.source
        return {
            "id": source.id,
            "title": source.passage.title,
            "article": source.article,
            "text": source.passage.text,
            "answers": [asdict(candidate) for candidate in self.candidates],
            "questions": list(source.questions),
        }

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "AnsweredPassage":
        passage = Passage(_text(record["text"]), _text(record.get("title", "")))
        asked = tuple(map(_text, record.get("questions", ())))
        source = SourcePassage(str(record["id"]), passage, _number(record.get("article", 0)), asked)
        found = tuple(
            CandidateAnswer(_text(a["text"]), _number(a["start"]), _text(a.get("type", ""))) for a in record["answers"]
        )
        for candidate in found:
            if passage.text[candidate.start : candidate.end] != candidate.text:
                raise ValueError(f"answer {candidate.text!r} is not at character {candidate.start} of its passage")
        return cls(source, found)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r:.60} is no text")
    value.encode()  # half a surrogate pair is valid JSON but no text
    return value


def _number(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r:.60} is no whole number of at least 0")
    return value


@dataclass(frozen=True, kw_only=True)
class AnswerExtraction:
    """Settings for extracting candidate answers.

    Attributes:
        passages: SQuAD JSON or documents.
        kinds: Kinds of phrases to extract.
        pipeline: The spaCy pipeline that finds entities and noun phrases.
        exclude: SQuAD files whose articles and passages are left out.
        limit: Maximum number of passages to read.
    """

    passages: tuple[Path, ...]
    kinds: tuple[AnswerKind, ...] = (AnswerKind.entities,)
    pipeline: str = PIPELINE
    exclude: tuple[Path, ...] = ()
    limit: int | None = None

    def settings(self) -> dict[str, Any]:
        names = {name: [path.name for path in getattr(self, name)] for name in ("passages", "exclude")}
        return asdict(self) | names


@dataclass(slots=True)
class AnswersReport:
    passages: int = 0
    leaks: LeakReport = field(default_factory=LeakReport)
    types: Counter[str] = field(default_factory=Counter)


def extract_answers(
    extraction: AnswerExtraction, out: Path, resume: bool = True, advance: Callable[[int], None] = lambda _: None
) -> AnswersReport:
    """Writes the answers file. An interrupted run is continued if `resume` is set."""
    report = AnswersReport()
    held_out = HeldOut.read(extraction.exclude)
    extract = AnswerExtractor(extraction.kinds, extraction.pipeline)
    lines = ResumableLines(out, extraction.settings(), resume=resume)
    source = read_source(extraction.passages, extraction.limit)
    admitted = (passage for passage in source if held_out.admits(passage.passage, report.leaks))
    advance(sum(1 for _ in islice(admitted, lines.done)))
    while group := list(islice(admitted, PASSAGES_AT_ONCE)):
        found = extract([passage.passage.text for passage in group])
        answered = [AnsweredPassage(s, tuple(c)) for s, c in zip(group, found, strict=True)]
        lines.add(passage.to_record() for passage in answered)
        advance(len(group))
    lines.finish()
    for passage in read_answers(out):
        report.passages += 1
        report.types.update(candidate.type for candidate in passage.candidates)
    return report


def read_answers(path: Path) -> Iterator[AnsweredPassage]:
    """The passages of an answers file; a malformed line raises a DataError with its number."""
    if not path.is_file():
        raise DataError(f"Answers file '{path}' does not exist; make it with: densephrases generate answers")
    try:
        with open_lines(path) as file:
            for number, line in enumerate(file, start=1):
                record = _record(line, f"'{path}', line {number},")
                if record is not None:
                    yield record
    except UNREADABLE as error:
        raise DataError(f"'{path}' cannot be read: {error}.") from error


def _record(line: bytes, place: str) -> AnsweredPassage | None:
    """None for the first line, which holds the settings."""
    try:
        record = parse_json(line)
        return None if "settings" in record else AnsweredPassage.from_record(record)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else error
        raise DataError(f"{place} is not a passage with answers: {reason}.") from error
