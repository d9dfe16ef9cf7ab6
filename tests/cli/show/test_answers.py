"""Answers as other programs read them."""

import json
from dataclasses import replace

import pytest

from densephrases.cli.show.answers import ShowLines, marked_text, one_line, printable, show_json

from .test_terminal import ANSWER, QUESTION


def test_a_line_has_no_tab_or_control_character_of_the_text() -> None:
    assert one_line("A\ttitle\x1b[31m\n of  it") == "A title [31m of it"


def test_gaps_of_preformatted_text_are_closed() -> None:
    assert printable(" smtpd_timeout (300s)\n       The  time  limit ") == " smtpd_timeout (300s) The time limit "


def test_fields(capsys: pytest.CaptureFixture[str]) -> None:
    ShowLines("none", several=False)(QUESTION, [ANSWER])
    ShowLines("none", several=True)(QUESTION, [ANSWER])
    line = "1\t[bold]Ada[/bold]\t12.345\t0.666\tA title\tid\n"
    assert capsys.readouterr().out == f"{line}{QUESTION}\t{line}"


def test_the_phrase_is_marked_in_a_sentence() -> None:
    sentence = replace(ANSWER, text=ANSWER.sentence, start=ANSWER.sentence_start, unit="sentence")
    assert one_line(marked_text(sentence)) == "It was «[bold]Ada[/bold]», who came."
    assert marked_text(ANSWER) == ANSWER.text


def test_no_answer_is_said_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    ShowLines("none", several=False)(QUESTION, [])
    ShowLines("none", several=True)(QUESTION, [])
    assert capsys.readouterr() == ("", f"none\n{QUESTION}: none\n")


def test_json_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    show_json(QUESTION, [ANSWER])
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line) == {"question": QUESTION, "answers": [ANSWER.to_dict()]}
