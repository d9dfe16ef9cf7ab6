"""Question files in every format, answers files, questions without passages and KILT records, damaged and malicious."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from densephrases.data.files import read_questions
from densephrases.data.generated.answers_file import read_answers
from densephrases.data.generated.resumable_lines import ResumableLines
from densephrases.data.generated.without_passages import FORMAT, VERSION, read_stripped
from densephrases.data.kilt import read_kilt
from densephrases.data.questions import Format
from densephrases.data.squad import read_squad
from densephrases.errors import DensePhrasesError
from tests.faults.fuzz_documents import quiet
from tests.faults.mutate import mutated, mutated_json
from tests.faults.outcome import Outcome

PROMISE = "A data file of any bytes is read or refused with the place of its mistake"

_ANSWER = {"text": "Bob", "answer_start": 8}
_QUESTION = {"id": "1", "question": "Who was met?", "answers": [_ANSWER]}
_SQUAD = {"data": [{"title": "A_b", "paragraphs": [{"context": "Ann met Bob.", "qas": [_QUESTION]}]}], "version": "1.1"}
_KILT = {
    "id": "7",
    "input": "Who?",
    "output": [{"answer": "Bob", "aliases": ["B."], "provenance": [{"wikipedia_id": "3", "title": "A"}]}],
}
_ANSWERED = {
    "id": "a#0",
    "title": "A",
    "article": 0,
    "text": "Ann met Bob.",
    "answers": [{"text": "Bob", "start": 8, "type": "PERSON"}],
    "questions": ["Who?"],
}
_HEAD = {"format": FORMAT, "version": VERSION, "passages": 1, "questions": 1}
_STRIPPED = {
    "title": "A",
    "article": 0,
    "hash": "0" * 16,
    "questions": [{"text": "Who?", "start": 8, "length": 3, "type": "PERSON"}],
}
_TRIVIA = {"Data": [{"QuestionId": "t", "Question": "Who?", "Answer": {"Value": "Bob", "Aliases": ["B"]}}]}
_DPR = [{"question": "Who?", "answers": ["Bob"], "positive_ctxs": [{"title": "A", "text": "x"}]}]
_WEBQUESTIONS = [{"utterance": "who?", "targetValue": '(list (description "Bob") (description Ann))', "url": "u"}]
_TABLE = b"Who was met?\t[\"Bob\", 'B.']\nWho met?\t['Ann']\n"
_TREC = b"1\tWho met?\tAnn|A\\.\n2\tWho?\tBob(?: B\\.)?\n"

Read = Callable[[Path], object]


def attack(cases: int, seed: int, folder: Path) -> Outcome:
    chance = random.Random(seed)  # noqa: S311
    quiet()
    failures = []
    for number in range(cases):
        name, content, read = chance.choice(_MAKERS)(chance)
        path = folder / name
        path.write_bytes(content)
        try:
            read(path)
        except DensePhrasesError as error:
            if str(path) not in str(error):
                failures.append(f"case {number}, {name}: '{error}' does not name the file")
        except Exception as error:
            failures.append(f"case {number}, {name}: {type(error).__name__}: {error}"[:300])
    return Outcome(PROMISE, cases, tuple(failures))


def _questions(form: Format | None) -> Read:
    return lambda path: read_questions(path, form)


def _document(name: str, value: Any, *reads: Read) -> Callable[[random.Random], tuple[str, bytes, Read]]:
    return lambda chance: (name, mutated_json(value, chance), chance.choice(reads))


def _lines(name: str, values: list[Any], *reads: Read) -> Callable[[random.Random], tuple[str, bytes, Read]]:
    def make(chance: random.Random) -> tuple[str, bytes, Read]:
        lines = [json.dumps(value).encode() for value in values]
        at = chance.randrange(len(lines))
        lines[at] = mutated_json(values[at], chance)
        content = b"\n".join(lines) + b"\n"
        return name, mutated(content, chance) if chance.random() < 0.2 else content, chance.choice(reads)

    return make


def _table(name: str, content: bytes, *reads: Read) -> Callable[[random.Random], tuple[str, bytes, Read]]:
    return lambda chance: (name, mutated(content, chance), chance.choice(reads))


def _resumed(path: Path) -> object:
    target = path.with_suffix("")  # without '.unfinished'
    ResumableLines.is_finished(path, {"a": 1})
    return ResumableLines(target, {"a": 1}).records()


def _collected(path: Path) -> object:
    return list(read_answers(path))


_MAKERS = (
    _document("squad.json", _SQUAD, read_squad, _questions(None), _questions("squad")),
    _document("trivia.json", _TRIVIA, _questions(None), _questions("triviaqa")),
    _document("dpr.json", _DPR, _questions(None), _questions("dpr")),
    _document("web.json", _WEBQUESTIONS, _questions(None), _questions("webquestions")),
    _lines("kilt.jsonl", [_KILT, _KILT | {"id": "8"}], read_kilt, _questions(None), _questions("kilt")),
    _lines("lines.jsonl", [{"id": n, "question": "Who?", "answers": ["a"]} for n in (1, 2)], _questions(None)),
    _lines("open.jsonl", [{"question": "Who?", "answer": ["Bob"]}], _questions(None), _questions("nq-open")),
    _lines("regex.jsonl", [{"question": "Who?", "answer": ["B(o|b"], "regex": True}], _questions("lines")),
    _lines("answers.jsonl", [{"settings": {}}, _ANSWERED], _collected),
    _lines("stripped.jsonl", [_HEAD, _STRIPPED], read_stripped),
    _lines("out.jsonl.unfinished", [{"settings": {"a": 1}}, _ANSWERED], _resumed),
    _table("nq.qa.csv", _TABLE, _questions(None), _questions("dpr")),
    _table("trec.txt", _TREC, _questions(None), _questions("trec")),
)
