"""Answers as a person sees them at a terminal."""

import io
import re
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from densephrases.cli.show.terminal import ShowInTerminal, highlighted
from densephrases.search.answers import Alternative, Answer, PhraseSpan, SourceDocument

COLOURS = Console(file=io.StringIO(), force_terminal=True, color_system="truecolor", no_color=False)
QUESTION = "who built the tower?"
TEXT = "Before.\x1b[31m\nIt\twas [bold]Ada[/bold], who came."
ANSWER = Answer(
    text="[bold]Ada[/bold]",
    score=12.345,
    confidence=0.666,
    start=20,
    end=36,
    document=SourceDocument("id", "A\ttitle", {}),
    passage=TEXT,
    sentence=TEXT[13:],
    phrase=PhraseSpan("[bold]Ada[/bold]", 20, 36),
    passage_start=0,
    sentence_start=13,
    unit="phrase",
)


def test_the_answer_is_highlighted_in_its_sentence() -> None:
    shown = highlighted(ANSWER, COLOURS)
    assert shown.plain == "It was [bold]Ada[/bold], who came."
    (span,) = shown.spans
    assert shown.plain[span.start : span.end] == ANSWER.text


@pytest.mark.parametrize("console", [Console(file=io.StringIO()), Console(force_terminal=True, no_color=True)])
def test_it_is_marked_without_colours_too(console: Console) -> None:
    assert highlighted(ANSWER, console).plain == "It was «[bold]Ada[/bold]», who came."


def test_and_in_the_passage_if_passages_are_asked_for() -> None:
    assert (
        highlighted(replace(ANSWER, unit="passage"), COLOURS).plain == "Before. [31m It was [bold]Ada[/bold], who came."
    )


def test_a_giant_sentence_is_cut() -> None:
    sentence = "word " * 1000
    place = PhraseSpan("word", 2500, 2504)
    shown = highlighted(replace(ANSWER, sentence=sentence, sentence_start=0, phrase=place), COLOURS).plain
    assert 400 < len(shown) < 620
    assert shown.startswith("… word ")
    assert shown.endswith(" word …")


def in_terminal(answers: list[Answer], **options: Any) -> str:
    show = ShowInTerminal("No answer.", **options)
    show.console = Console(file=io.StringIO(), width=200, force_terminal=False)
    show(QUESTION, answers)
    assert isinstance(show.console.file, io.StringIO)
    return re.sub(" +\n", "\n", show.console.file.getvalue())


def test_what_a_person_sees() -> None:
    sentence = "1. It was «[bold]Ada[/bold]», who came.\n"
    assert in_terminal([ANSWER]) == f"{sentence}   A title · id · score 12.35 · 67% sure\n\n"
    assert "· 67% sure · verified\n" in in_terminal([replace(ANSWER, verified=True)])
    unknown = replace(ANSWER, confidence=None, document=SourceDocument("id", "", {}))
    assert in_terminal([unknown], repeat_question=True) == f"{QUESTION}\n{sentence}   id · score 12.35\n\n"
    assert in_terminal([]) == "No answer.\n\n"


def test_items_of_a_list_are_below_each_other() -> None:
    items = (Alternative("one\x1b", 1, 4, 2.0), Alternative("two", 5, 8, 1.0))
    assert "who came.\n   A title" in in_terminal([ANSWER])
    assert "67% sure\n   - one\n   - two\n" in in_terminal([replace(ANSWER, items=items)])
