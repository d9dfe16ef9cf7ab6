"""Answers as other programs read them."""

import json

import pytest

from densephrases.cli.show.answers import ShowLines, one_line, show_json

from .test_terminal import ANSWER, QUESTION


def test_a_line_has_no_tab_or_control_character_of_the_text() -> None:
    assert one_line("A\ttitle\x1b[31m\n of  it") == "A title [31m of it"


def test_fields(capsys: pytest.CaptureFixture[str]) -> None:
    ShowLines("none", several=False)(QUESTION, [ANSWER])
    ShowLines("none", several=True)(QUESTION, [ANSWER])
    line = "1\t[bold]Ada[/bold]\t12.345\t0.666\tA title\tid\n"
    assert capsys.readouterr().out == f"{line}{QUESTION}\t{line}"


def test_no_answer_is_said_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    ShowLines("none", several=False)(QUESTION, [])
    ShowLines("none", several=True)(QUESTION, [])
    assert capsys.readouterr() == ("", f"none\n{QUESTION}: none\n")


def test_json_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    show_json(QUESTION, [ANSWER])
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line) == {"question": QUESTION, "answers": [ANSWER.to_dict()]}
