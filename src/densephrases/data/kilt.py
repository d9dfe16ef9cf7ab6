"""KILT's records (Petroni et al., 2021): questions, answers, and the documents that prove them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from densephrases.data.questions import json_lines
from densephrases.errors import DataError

DocumentKey = Literal["id", "title"]
"""By which documents of a file are compared with those of an index."""

_ID_KEYS = ("wikipedia_id", "document")


@dataclass(frozen=True, slots=True)
class EvidenceDocument:
    id: str
    title: str


@dataclass(frozen=True, slots=True)
class KiltRecord:
    """`answers` are the answers of all outputs and their aliases, `evidence` has an entry for each output with some."""

    id: str
    input: str
    answers: tuple[str, ...]
    evidence: tuple[tuple[EvidenceDocument, ...], ...]


def read_kilt(path: Path) -> list[KiltRecord]:
    """One record a line."""
    records = []
    for place, entry in json_lines(path):
        try:
            records.append(_record(entry))
        except ValueError as error:
            raise DataError(f"{place} is no KILT record: {error}.") from error
    return records


def _record(entry: Any) -> KiltRecord:
    if not isinstance(entry, dict):
        raise ValueError(f"it is {type(entry).__name__}, expected an object")
    name, question = entry.get("id"), entry.get("input")
    if isinstance(name, bool) or not isinstance(name, str | int) or not isinstance(question, str):
        raise ValueError(f"its 'id' is {name!r} and its 'input' {question!r:.60}, expected texts")
    question.encode()  # half a surrogate pair is valid JSON but no text
    outputs = entry.get("output", [])  # test files have none
    if not isinstance(outputs, list) or not all(isinstance(output, dict) for output in outputs):
        raise ValueError("its 'output' is no list of objects")
    answers = [answer.strip() for output in outputs for answer in _answers(output) if answer.strip()]
    evidence = [tuple(map(_document, _listed(output, "provenance"))) for output in outputs if output.get("provenance")]
    return KiltRecord(str(name), question, tuple(dict.fromkeys(answers)), tuple(evidence))


def _answers(output: Mapping[str, Any]) -> list[str]:
    answers = [*([output["answer"]] if output.get("answer") is not None else []), *_listed(output, "aliases")]
    if not all(isinstance(answer, str) for answer in answers):
        raise ValueError(f"its answers are {answers!r:.60}, expected texts")
    return answers


def _listed(output: Mapping[str, Any], key: str) -> list[Any]:
    values = output.get(key) or []
    if not isinstance(values, list):
        raise ValueError(f"its '{key}' is {type(values).__name__}, expected a list")
    return values


def _document(entry: Any) -> EvidenceDocument:
    if not isinstance(entry, dict):
        raise ValueError(f"a 'provenance' is {type(entry).__name__}, expected an object")
    name = next((entry[key] for key in _ID_KEYS if entry.get(key) is not None), "")
    title = entry.get("title") or entry.get("wikipedia_title") or ""
    if not name and not title:
        raise ValueError(f"a 'provenance' has the keys {sorted(entry)}, expected 'wikipedia_id' or 'title'")
    return EvidenceDocument(str(name).strip(), str(title).strip())
