"""Prediction files: JSON lines, TREC runs and KILT's format."""

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TextIO

from densephrases.evaluate.open_domain import OpenPrediction
from densephrases.search.answers import Answer, SourceDocument
from densephrases.search.request import Unit
from densephrases.text.readers.files import refuse_missing_folder

_TAG = "densephrases"


class PredictionFiles:
    """Written while questions are asked, so that predictions need not stay in memory."""

    def __init__(self, lines: TextIO | None, run: TextIO | None, kilt: TextIO | None, unit: Unit) -> None:
        self._lines, self._run, self._kilt, self._unit = lines, run, kilt, unit

    def write(self, prediction: OpenPrediction) -> None:
        question = prediction.judgement.question
        if self._lines is not None:
            _write_json(self._lines, prediction_record(prediction))
        if self._run is not None:
            self._run.writelines(f"{line}\n" for line in run_lines(question.id, prediction.answers, self._unit))
        if self._kilt is not None:
            answers = prediction.answers
            text = answers[0].phrase.text if answers else ""
            _write_json(self._kilt, kilt_record(question.id, question.text, text, documents_of(answers)))


@contextmanager
def open_predictions(lines: Path | None, run: Path | None, kilt: Path | None, unit: Unit) -> Iterator[PredictionFiles]:
    for path in (lines, run, kilt):
        refuse_missing_folder(path)
    with ExitStack() as stack:

        def opened(path: Path | None) -> TextIO | None:
            return None if path is None else stack.enter_context(path.open("w", encoding="utf-8"))

        yield PredictionFiles(opened(lines), opened(run), opened(kilt), unit)


def prediction_record(prediction: OpenPrediction) -> dict[str, Any]:
    judgement = prediction.judgement
    question = judgement.question
    return {
        "id": question.id,
        "question": question.text,
        "answers": list(question.answers),
        "answerable": judgement.answerable,
        "rank": judgement.rank,
        "exact_match": float(judgement.rank == 1),
        "f1": judgement.f1,
        "predictions": [
            {
                "text": answer.phrase.text,
                "score": answer.score,
                "confidence": answer.confidence,
                "verified": answer.verified,
                "document": answer.document.id,
                "title": answer.document.title,
                "start": answer.phrase.start,
                "end": answer.phrase.end,
                "sentence": answer.sentence,
            }
            for answer in prediction.answers
        ],
    }


def run_lines(question: str, answers: list[Answer], unit: Unit) -> Iterator[str]:
    """Documents with the score of their best result; for unit 'passage', passages named 'document@offset'."""
    scores: dict[str, float] = {}
    for answer in answers:
        name = answer.document.id
        scores.setdefault(f"{name}@{answer.passage_start}" if unit == "passage" else name, answer.score)
    if any(answer.verified for answer in answers):  # scores are on two scales then, and readers of a run sort by them
        scores = {name: 1 / rank for rank, name in enumerate(scores, start=1)}
    for rank, (name, score) in enumerate(scores.items(), start=1):
        yield f"{_one_word(question)} Q0 {_one_word(name)} {rank} {score:.6f} {_TAG}"


def _one_word(name: str) -> str:
    """Percent-encodes white space, which separates the columns of a run."""
    return "".join(f"%{ord(character):02X}" if character.isspace() else character for character in name)


def documents_of(answers: list[Answer]) -> list[SourceDocument]:
    """Each document once, in the order of its best answer."""
    documents: dict[str, SourceDocument] = {}
    for answer in answers:
        documents.setdefault(answer.document.id, answer.document)
    return list(documents.values())


def kilt_record(name: str, text: str, answer: str, documents: list[SourceDocument]) -> dict[str, Any]:
    provenance = [{"wikipedia_id": document.id, "title": document.title} for document in documents]
    return {"id": name, "input": text, "output": [{"answer": answer, "provenance": provenance}]}


def write_kilt(path: Path, predictions: Iterable[tuple[str, str, str, list[SourceDocument]]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for prediction in predictions:
            _write_json(file, kilt_record(*prediction))


def _write_json(file: TextIO, record: dict[str, Any]) -> None:
    file.write(json.dumps(record, ensure_ascii=False) + "\n")
