"""KILT's records and measures (Petroni et al., 2021), by their definitions in its own evaluation.

Every output of a record is a right answer together with the documents that prove it, all of them: its evidence. A
prediction is one answer and documents in the order of how well they seem to prove it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from densephrases.errors import DataError
from densephrases.evaluate.metrics import best_over_golds, exact_match, f1
from densephrases.evaluate.questions import json_lines

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


@dataclass(frozen=True, slots=True)
class KiltScores:
    """Of one record, or averaged over several; `kilt` scores count only where R-precision is 1."""

    accuracy: float
    exact_match: float
    f1: float
    r_precision: float
    recall_at_5: float
    kilt_accuracy: float
    kilt_exact_match: float
    kilt_f1: float


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


def scores(answer: str, ranked: Sequence[str], answers: Sequence[str], evidence: Sequence[Iterable[str]]) -> KiltScores:
    """Of an answer and the ids of its documents, best first, none twice, against a record's answers and evidence."""
    given = answer.strip()
    right = float(given in answers)
    normal = best_over_golds(exact_match, given, answers) if given and answers else 0.0
    overlap = best_over_golds(f1, given, answers) if given and answers else 0.0
    sets = [frozenset(each) for each in evidence]
    precision = r_precision(ranked, sets)
    proven = float(precision == 1)
    recall = recall_at(ranked, sets, 5)
    return KiltScores(right, normal, overlap, precision, recall, right * proven, normal * proven, overlap * proven)


def r_precision(ranked: Sequence[str], evidence: Sequence[frozenset[str]]) -> float:
    """Of as many documents as an evidence has the share that belongs to it; the best over all evidence."""
    return max((len(each.intersection(ranked[: len(each)])) / len(each) for each in evidence if each), default=0.0)


def recall_at(ranked: Sequence[str], evidence: Sequence[frozenset[str]], k: int) -> float:
    """The share of different evidence that is complete within k places.

    The documents of one evidence take one place together, the place of the last of them.
    """
    different = list(dict.fromkeys(each for each in evidence if each))
    if not different:
        return 0.0
    missing = [set(each) for each in different]
    places: list[tuple[str, int]] = []
    for number, document in enumerate(ranked):
        owners = [owner for owner, rest in enumerate(missing) if document in rest]
        for owner in owners:
            missing[owner].discard(document)
            places = [place for place in places if place != ("begun", owner)]
            places.append(("begun" if missing[owner] else "complete", owner))
        if not owners:
            places.append(("other", number))
    return sum(kind == "complete" for kind, _ in places[:k]) / len(different)


def mean(all_scores: Sequence[KiltScores]) -> KiltScores:
    """Percentages."""
    count = max(len(all_scores), 1)
    return KiltScores(
        *(100 * sum(getattr(each, name) for each in all_scores) / count for name in KiltScores.__dataclass_fields__)
    )
