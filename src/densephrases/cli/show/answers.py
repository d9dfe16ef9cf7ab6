"""Answers for other programs: one line per answer, or JSON. Imports no rich, which takes a tenth of a second."""

import json
import re
from collections.abc import Callable, Sequence

import typer

from densephrases.search.answers import Answer

Show = Callable[[str, Sequence[Answer]], None]

MARKED = "«{}»"  # a phrase within a text, where there is no colour
_GAP = re.compile(r"[\x00-\x20\x7f-\x9f]+")  # a document must not control the terminal, nor indent its lines there


def show_json(question: str, answers: Sequence[Answer]) -> None:
    """One object per line."""
    typer.echo(json.dumps({"question": question, "answers": [answer.to_dict() for answer in answers]}))


class ShowLines:
    """One answer per line, its fields separated by tabs; confidence is empty if the model has no calibration.

    The question is the first field if there may be several. In a sentence or passage the phrase is marked.
    """

    def __init__(self, no_answer: str, *, several: bool) -> None:
        self.no_answer = no_answer
        self.several = several

    def __call__(self, question: str, answers: Sequence[Answer]) -> None:
        for rank, answer in enumerate(answers, start=1):
            confidence = "" if answer.confidence is None else f"{answer.confidence:.3f}"
            document = answer.document
            fields = [str(rank), marked_text(answer), f"{answer.score:.3f}", confidence, document.title, document.id]
            fields += [] if answer.explanation is None else [str(answer.explanation)]
            typer.echo("\t".join(one_line(field) for field in [question] * self.several + fields))
        if not answers:
            typer.echo(f"{one_line(question)}: {self.no_answer}" if self.several else self.no_answer, err=True)


def marked_text(answer: Answer) -> str:
    """The text of an answer, with the phrase marked if the text is more than that."""
    start, end = answer.phrase.start - answer.start, answer.phrase.end - answer.start
    if answer.text == answer.phrase.text:
        return answer.text
    return answer.text[:start] + MARKED.format(answer.phrase.text) + answer.text[end:]


def printable(text: str) -> str:
    return _GAP.sub(" ", text)


def one_line(text: str) -> str:
    return " ".join(printable(text).split())
