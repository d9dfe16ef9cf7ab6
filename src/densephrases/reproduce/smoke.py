"""Stand-ins for all data sets, made of the bundled passages of SQuAD: every step runs, and no figure means anything."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from densephrases.atomic_files import make_folder, replace_file
from densephrases.data.squad import QuestionedPassage, read_squad, sample_path, write_squad
from densephrases.model.tokenizer import SEPARATOR

_PASSAGES = 4
_QUESTIONS = 12


def stand_in(name: str, out: Path) -> Path:
    """A file in the format of the data set of that name, below the folder of the run."""
    kind, _, split = name.partition("-")
    if kind in ("squad", "nq", "generated"):
        return _made(out, "generated.json" if kind == "generated" else "passages.json")
    if name.startswith(("T-REx", "ZsRE")):
        return _made(out, "facts.jsonl")
    return _made(out, "questions.jsonl" if kind != "SQuAD" or split == "test" else "passages.json")


def documents_file(out: Path) -> Path:
    """What an index is made of."""
    return _made(out, "documents.jsonl")


def _made(out: Path, name: str) -> Path:
    path = out / "inputs" / name
    if not path.is_file():
        make_folder(path.parent)
        if path.suffix == ".json":
            write_squad(path, _generated() if name == "generated.json" else _passages())
        else:
            replace_file(path, "".join(json.dumps(each) + "\n" for each in _LINES[name]()))
    return path


@cache
def _passages() -> tuple[QuestionedPassage, ...]:
    return tuple(read_squad(sample_path())[:_PASSAGES])


def _generated() -> list[QuestionedPassage]:
    """The questions that people wrote, as if a model had."""
    return [
        replace(p, questions=tuple(replace(q, id=f"{q.id}-made", generated=True, answer_type="X") for q in p.questions))
        for p in _passages()
    ]


def _documents() -> Iterator[dict[str, Any]]:
    for number, each in enumerate(_passages()):
        yield {"id": str(number), "title": each.passage.title, "text": each.passage.text}


def _questions() -> Iterator[dict[str, Any]]:
    asked = [(number, question) for number, p in enumerate(_passages()) for question in p.questions if question.answers]
    for _, question in asked[:_QUESTIONS]:
        yield {"id": question.id, "question": question.text, "answers": question.gold_texts}


def _facts() -> Iterator[dict[str, Any]]:
    for number, each in enumerate(_passages()):
        for question in each.questions[:3]:
            proof = {"wikipedia_id": str(number), "title": each.passage.title}
            asked = f"{each.passage.title} {SEPARATOR} {question.text}"
            output = [{"answer": text, "provenance": [proof]} for text in question.gold_texts[:1]]
            yield {"id": question.id, "input": asked, "output": output}


_LINES = {"documents.jsonl": _documents, "questions.jsonl": _questions, "facts.jsonl": _facts}
