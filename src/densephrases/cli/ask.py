"""`densephrases ask`: one question, a file of them, or one after another."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from densephrases.cli.lines import counted, read_lines
from densephrases.cli.options import Effort, IndexArgument, IndexModel, Task, Truecase, Words
from densephrases.errors import ConfigError, DataError

if TYPE_CHECKING:
    from densephrases.cli.show.answers import Show
    from densephrases.search.answers import Unit as UnitName
    from densephrases.search.phrase_index import PhraseIndex

_AT_ONCE = 256
_PROMPT = "Question: "


class Unit(StrEnum):
    phrase = "phrase"
    sentence = "sentence"
    passage = "passage"
    document = "document"


@dataclass(frozen=True, slots=True)
class Terms:
    """What is asked beside the question."""

    k: int = 5
    unit: "UnitName" = "phrase"
    where: dict[str, list[str]] | None = None
    documents: list[str] | None = None
    min_confidence: float = 0.0
    effort: float = 0.5
    words: float | None = None
    truecase: bool = True

    @property
    def no_answer(self) -> str:
        """The sentence that stands for an empty list of answers."""
        if self.min_confidence > 0:
            return f"No answer with a confidence of at least {self.min_confidence:.0%}."
        if self.where is not None or self.documents is not None:
            return "No answer: no document meets the conditions."
        return "No answer: the index holds no text."


def ask(
    folder: IndexArgument,
    question: Annotated[
        str | None, typer.Argument(help="Without one, questions are read from stdin; at a terminal, with a prompt.")
    ] = None,
    k: Annotated[int, typer.Option("-k", help="How many answers.")] = 5,
    unit: Annotated[Unit, typer.Option(help="What an answer is.")] = Unit.phrase,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="Only documents with this metadata; of one key any given value."),
    ] = None,
    documents_file: Annotated[
        Path | None, typer.Option(help="Only documents whose ids are lines of this file.")
    ] = None,
    min_confidence: Annotated[float, typer.Option(help="Only answers as probable as this, from 0 to 1.")] = 0.0,
    effort: Effort = 0.5,
    words: Words = None,
    truecase: Truecase = True,
    model: IndexModel = None,
    task: Task = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a question.")] = False,
    file: Annotated[Path | None, typer.Option(help="File with a question a line.")] = None,
) -> None:
    """Answer questions from an index.

    Piped to another program, each answer is a line: rank, answer, score, confidence, title and id of the document,
    separated by tabs; with questions from a file or from stdin, the question comes first.
    """
    from densephrases.search.phrase_index import PhraseIndex

    if question is not None and file is not None:
        raise DataError("Both a question and --file are given; give one of them.")
    questions = read_lines(file) if file is not None else None if question is None else [question]
    documents = None if documents_file is None else read_lines(documents_file)
    terms = Terms(k, unit.value, _where(where), documents, min_confidence, effort, words, truecase)
    index = PhraseIndex.open(folder, model, task)
    show, terms = _show(terms, as_json, single=question is not None, batch=file is not None)
    if questions is not None:
        answer(index, questions, terms, show)
    elif at_terminal():
        converse(index, terms, show)
    else:
        for line in _stdin_questions():
            answer(index, [line], terms, show)


def _where(conditions: list[str] | None) -> dict[str, list[str]] | None:
    if not conditions:
        return None
    wanted: dict[str, list[str]] = {}
    for condition in conditions:
        key, equals, value = condition.partition("=")
        if not key or not equals:
            raise ConfigError(f"--where {condition} is not of the form key=value.")
        wanted.setdefault(key, []).append(value)
    return wanted


def _show(terms: Terms, as_json: bool, *, single: bool, batch: bool) -> tuple["Show", Terms]:
    """How answers are shown, and what is to be asked for that."""
    from densephrases.cli.show.answers import ShowLines, show_json

    if as_json:
        return show_json, terms
    if sys.stdout.isatty():
        return in_terminal(terms, repeat_question=batch)
    return ShowLines(terms.no_answer, several=not single), terms


def in_terminal(terms: Terms, *, repeat_question: bool = False) -> tuple["Show", Terms]:
    from densephrases.cli.show.answers import OVERSAMPLE, ShowInTerminal

    show = ShowInTerminal(terms.no_answer, terms.k, repeat_question=repeat_question)
    return show, replace(terms, k=OVERSAMPLE * terms.k) if terms.unit == "phrase" and terms.k > 0 else terms


def answer(index: "PhraseIndex", questions: list[str], terms: Terms, show: "Show") -> None:
    for first in range(0, len(questions), _AT_ONCE):
        batch = questions[first : first + _AT_ONCE]
        for question, answers in zip(batch, index.search(batch, **asdict(terms)), strict=True):
            show(question, answers)


def at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def converse(index: "PhraseIndex", terms: Terms, show: "Show") -> None:
    """One question after another; an empty line or the end of input ends it, Ctrl-C only the question."""
    with suppress(ImportError):  # Windows has none
        import readline  # noqa: F401  (gives `input` a history and editing)
    typer.echo(f"{counted(len(index), 'document')}. Ctrl-C cancels a question; an empty line or Ctrl-D ends.")
    while True:
        try:
            question = input(_PROMPT).strip()
            if not question:
                return
            answer(index, [question], terms, show)
        except KeyboardInterrupt:
            typer.echo()
        except EOFError:
            typer.echo()
            return


def _stdin_questions() -> Iterator[str]:
    try:
        for line in sys.stdin:
            if line.strip():
                yield line.strip()
    except UnicodeDecodeError as error:
        raise DataError(f"The questions on stdin are no text: {error}.") from error
