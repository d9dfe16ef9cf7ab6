"""Answers as they are printed: for a person at a terminal, line by line for other tools, and as JSON."""

import json
import re
from collections.abc import Callable, Sequence

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from densephrases.search.answers import Answer

Show = Callable[[str, Sequence[Answer]], None]

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")  # a document must not command the terminal
OVERSAMPLE = 4  # times as many answers as are shown at a terminal are looked for, as most overlap a better one
_CONTEXT = 300  # characters shown on either side of a phrase: what is called a sentence may be a whole table


def show_json(question: str, answers: Sequence[Answer]) -> None:
    """One object a line."""
    typer.echo(json.dumps({"question": question, "answers": [answer.to_dict() for answer in answers]}))


class ShowLines:
    """One answer a line, its fields separated by tabs; confidence is empty if the model has no calibration.

    The question comes first if there may be several.
    """

    def __init__(self, no_answer: str, *, several: bool) -> None:
        self.no_answer = no_answer
        self.several = several

    def __call__(self, question: str, answers: Sequence[Answer]) -> None:
        for rank, answer in enumerate(answers, start=1):
            confidence = "" if answer.confidence is None else f"{answer.confidence:.3f}"
            document = answer.document
            fields = [str(rank), answer.text, f"{answer.score:.3f}", confidence, document.title, document.id]
            typer.echo("\t".join(_one_line(field) for field in [question] * self.several + fields))
        if not answers:
            typer.echo(f"{_one_line(question)}: {self.no_answer}" if self.several else self.no_answer, err=True)


class ShowInTerminal:
    """The first answers, each highlighted in its sentence, or in the passage if passages are asked for.

    A phrase that overlaps a better one tells a reader nothing new and is left out: give more than are to be shown.
    """

    def __init__(self, no_answer: str, limit: int, *, repeat_question: bool = False) -> None:
        self.no_answer = no_answer
        self.limit = limit
        self.repeat_question = repeat_question
        self.console = Console(highlight=False)

    def __call__(self, question: str, answers: Sequence[Answer]) -> None:
        if self.repeat_question:
            self.console.print(Text(_one_line(question), "bold"))
        table = Table.grid(padding=(0, 1))
        for rank, answer in enumerate(apart(answers)[: self.limit], start=1):
            table.add_row(Text(f"{rank}.", "dim"), highlighted(answer))
            table.add_row("", Text(_source(answer), "dim"))
        self.console.print(table if answers else self.no_answer)
        self.console.print()


def apart(answers: Sequence[Answer]) -> list[Answer]:
    """Those that overlap none before them in the same document."""
    chosen: list[Answer] = []
    for answer in answers:
        if not any(_overlap(answer, better) for better in chosen):
            chosen.append(answer)
    return chosen


def _overlap(one: Answer, other: Answer) -> bool:
    return one.document.id == other.document.id and one.start < other.end and other.start < one.end


def show_briefly(question: str, answers: Sequence[Answer]) -> None:
    """The question, its best answer, the sentence and the title."""
    console = Console(highlight=False)
    lines = [Text(question, "bold")]
    for best in answers[:1]:
        lines += [Text(f"  {_one_line(best.phrase.text)}", "bold green"), Text("  ").append(highlighted(best))]
        lines += [Text(f"  {_one_line(best.document.title)}", "dim"), Text()]
    for line in lines:
        console.print(line, soft_wrap=True)


def highlighted(answer: Answer) -> Text:
    """The phrase with what stands around it."""
    around, begin = answer.sentence, answer.sentence_start
    if answer.unit == "passage":
        around, begin = answer.passage, answer.passage_start
    start, end = answer.phrase.start - begin, answer.phrase.end - begin
    before, after = around[:start], around[end:]
    if answer.unit != "passage":
        before, after = _last(before), _first(after)
    return Text.assemble(_clean(before).lstrip(), (_clean(answer.phrase.text), "bold green"), _clean(after).rstrip())


def _source(answer: Answer) -> str:
    confidence = [] if answer.confidence is None else [f"{answer.confidence:.0%} sure"]
    return " · ".join(
        [_one_line(answer.document.title or answer.document.id), f"score {answer.score:.2f}", *confidence]
    )


def _last(text: str) -> str:
    return text if len(text) <= _CONTEXT else "… " + text[-_CONTEXT:].partition(" ")[2]


def _first(text: str) -> str:
    return text if len(text) <= _CONTEXT else text[:_CONTEXT].rpartition(" ")[0] + " …"


def _clean(text: str) -> str:
    return _CONTROL.sub(" ", text)


def _one_line(text: str) -> str:
    return " ".join(_clean(text).split())
