"""`densephrases ask` on a random model: lines for programs, JSON, and what a person sees."""

import io
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from densephrases.cli import ask
from densephrases.model.config import ModelConfig
from densephrases.nn.onnx.export import export_model
from densephrases.nn.phrase_model import PhraseModel
from densephrases.search.confidence import Calibration
from densephrases.search.phrase_index import PhraseIndex
from densephrases.text.readers.read import read_documents

from .conftest import TEXTS, Command
from .test_main import is_one_sentence

QUESTION = "who built the tower?"


@pytest.fixture(scope="session")
def sure(exported: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same model with a calibration that gives every first answer some confidence."""
    folder = Path(shutil.copytree(exported, tmp_path_factory.mktemp("sure") / "model"))
    calibration = Calibration(intercept=0.0, score=0.0, gap=0.0, share=1.0)
    ModelConfig.load(folder).with_confidence(calibration.to_dict()).save(folder)
    return folder


def rows(out: str) -> list[list[str]]:
    return [line.split("\t") for line in out.splitlines()]


def test_one_answer_a_line(densephrases: Command, made_index: Path) -> None:
    result = densephrases("ask", made_index, QUESTION, "-k", "3")
    assert (result.code, result.err) == (0, "")
    assert "\x1b" not in result.out
    found = rows(result.out)
    assert [row[0] for row in found] == ["1", "2", "3"]
    for _, text, score, confidence, title, document in found:
        assert text in " ".join(TEXTS[document].split())
        assert re.fullmatch(r"-?\d+\.\d{3}", score)
        assert confidence == ""
        assert title == {"tower.txt": "tower", "cities/london.md": "London", "cities/paris.txt": "paris"}[document]


def test_why(densephrases: Command, made_index: Path) -> None:
    plain = rows(densephrases("ask", made_index, QUESTION, "-k", "2").out)
    explained = rows(densephrases("ask", made_index, QUESTION, "-k", "2", "--why").out)
    assert [row[:-1] for row in explained] == plain
    assert all(re.fullmatch(r"start .*, end .*; found at place \d+; has .*", row[-1]) for row in explained)
    (line,) = densephrases("ask", made_index, QUESTION, "-k", "1", "--why", "--json").out.splitlines()
    assert json.loads(line)["answers"][0]["explanation"]["rank"] == 1


def test_five_answers_unless_told(densephrases: Command, made_index: Path) -> None:
    assert len(rows(densephrases("ask", made_index, QUESTION).out)) == 5


def test_confidence(densephrases: Command, made_index: Path, sure: Path) -> None:
    found = rows(densephrases("ask", made_index, QUESTION, "--model", sure).out)
    assert len(found) == 5
    assert all(re.fullmatch(r"0\.\d{3}", row[3]) for row in found)


@pytest.mark.parametrize("unit", ["phrase", "sentence", "passage", "document"])
def test_json(densephrases: Command, made_index: Path, unit: str) -> None:
    result = densephrases("ask", made_index, QUESTION, "--json", "--unit", unit, "-k", "2")
    assert result.code == 0
    (line,) = result.out.splitlines()
    value = json.loads(line)
    assert value.keys() == {"question", "answers"}
    assert value["question"] == QUESTION
    assert len(value["answers"]) == 2
    for answer in value["answers"]:
        keys = {"text", "score", "confidence", "start", "end", "document", "passage", "sentence", "verified"}
        assert answer.keys() == keys | {"section", "page", "alternatives"} | ({"phrase"} if unit != "phrase" else set())
        assert answer["text"] == TEXTS[answer["document"]["id"]][answer["start"] : answer["end"]]


@pytest.mark.parametrize("options", [{}, {"overlapping": True}, {"unit": "phrase"}, {"unit": "sentence"}])
def test_the_same_results_as_in_python(densephrases: Command, made_index: Path, options: dict[str, Any]) -> None:
    """As lines, as JSON and from the library; by default five, of which none overlap, in the unit of the question."""
    given = (
        ["--overlapping"] if options.get("overlapping") else [f"--{name}={value}" for name, value in options.items()]
    )
    expected = PhraseIndex.open(made_index).search(QUESTION, **{"unit": "auto", **options})
    (line,) = densephrases("ask", made_index, QUESTION, "--json", *given).out.splitlines()
    found = json.loads(line)["answers"]
    assert found == [answer.to_dict() for answer in expected]
    shown = rows(densephrases("ask", made_index, QUESTION, *given).out)
    assert [row[1].replace("«", "").replace("»", "") for row in shown] == [
        " ".join(answer.text.split()) for answer in expected
    ]
    assert len(found) == 5
    spans = [(a["document"]["id"], a["start"], a["end"]) for a in found]
    pairs = [(one, other) for place, one in enumerate(spans) for other in spans[:place]]
    overlaps = any(one[0] == other[0] and one[1] < other[2] and other[1] < one[2] for one, other in pairs)
    assert overlaps == options.get("overlapping", False)
    assert any(answer["alternatives"] for answer in found) != overlaps


@pytest.fixture(scope="module")
def reading_index(corpus: Path, tiny_base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reading")
    export_model(PhraseModel.from_base(tiny_base, reads=True), folder / "model", ("int8",))
    PhraseIndex.create(folder / "index", read_documents([corpus]), model=folder / "model")
    return folder / "index"


def test_verified_answers(densephrases: Command, reading_index: Path) -> None:
    result = densephrases("ask", reading_index, QUESTION, "--json", "--verify", "2")
    assert result.code == 0, result.err
    answers = json.loads(result.out)["answers"]
    expected = PhraseIndex.open(reading_index).search(QUESTION, 5, verify=2)
    assert [(each["text"], each["verified"]) for each in answers] == [(each.text, each.verified) for each in expected]
    assert answers[0]["verified"]


def test_verification_that_cannot_be(densephrases: Command, reading_index: Path, made_index: Path) -> None:
    result = densephrases("ask", reading_index, QUESTION, "--verify", "auto")
    assert (result.code, result.out) == (2, "")
    assert "needs a model with a calibration" in result.err
    result = densephrases("ask", made_index, QUESTION, "--verify", "3")
    assert (result.code, result.out) == (2, "")
    assert is_one_sentence(result)
    assert "needs a model that reads" in result.err
    result = densephrases("ask", made_index, QUESTION, "--verify", "many")
    assert result.code == 2
    assert "'many' is neither a number of passages nor 'auto'" in " ".join(result.err.split())


def test_a_file_of_questions(
    densephrases: Command, made_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answered some at a time, each search call taking many."""
    questions = [f"what is in the city {number}?" for number in range(5)]
    (tmp_path / "questions.txt").write_bytes("\r\n\r\n".join(questions).encode())
    asked: list[Sequence[str]] = []
    search = PhraseIndex.search

    def spy(index: PhraseIndex, questions: Sequence[str], **options: Any) -> Any:
        asked.append(questions)
        return search(index, questions, **options)

    monkeypatch.setattr(PhraseIndex, "search", spy)
    monkeypatch.setattr(ask, "_AT_ONCE", 2)
    result = densephrases("ask", made_index, "--file", tmp_path / "questions.txt", "-k", "2")
    assert asked == [questions[:2], questions[2:4], questions[4:]]
    assert [row[:2] for row in rows(result.out)] == [[question, rank] for question in questions for rank in "12"]
    lines = densephrases("ask", made_index, "--file", tmp_path / "questions.txt", "--json").out.splitlines()
    assert [json.loads(line)["question"] for line in lines] == questions


def test_256_questions_at_once() -> None:
    assert ask._AT_ONCE == 256


def test_questions_from_stdin(densephrases: Command, made_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{QUESTION}\n\n  where is london?  \n"))
    result = densephrases("ask", made_index, "-k", "1")
    assert [row[:2] for row in rows(result.out)] == [[QUESTION, "1"], ["where is london?", "1"]]


def test_stdin_that_is_no_text(densephrases: Command, made_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe"), encoding="utf-8"))
    assert is_one_sentence(densephrases("ask", made_index))


def test_words_count_if_asked_to(densephrases: Command, made_index: Path) -> None:
    plain, none, worded = (
        rows(densephrases("ask", made_index, "unheard tower", "-k", "1", *options).out)
        for options in ([], ["--lexical-weight", "0"], ["--lexical-weight", "2"])
    )
    assert plain == none
    assert worded[0][-1] == "tower.txt"
    assert float(worded[0][2]) < float(plain[0][2])


def test_conditions(densephrases: Command, exported: Path, tmp_path: Path) -> None:
    records = [("a", "en", 1), ("b", "de", 2), ("c", "fr", 1)]
    lines = [json.dumps({"id": i, "text": f"the city of {i}.", "lang": g, "year": y}) for i, g, y in records]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    (tmp_path / "ids").write_text("b\nc\nunknown\n")
    index = tmp_path / "index"
    assert densephrases("index", tmp_path / "a.jsonl", "--out", index, "--model", exported).code == 0
    for options, expected in {
        (): {"a", "b", "c"},
        ("--where", "lang=en"): {"a"},
        ("--where", "lang=en", "--where", "lang=de"): {"a", "b"},
        ("--where", "lang=en", "--where", "year=2"): set(),
        ("--where", "year>=2"): {"b"},
        ("--where", "year<2", "--where", "lang=fr"): {"c"},
        ("--since", "2020-01-01", "--where", "type=jsonl"): {"a", "b", "c"},
        ("--until", "2020-01-01"): set(),
        ("--documents-file", tmp_path / "ids"): {"b", "c"},
        ("--documents-file", tmp_path / "ids", "--where", "year=1"): {"c"},
    }.items():
        result = densephrases("ask", index, "where?", "--unit", "document", *options)
        assert {row[5] for row in rows(result.out)} == expected
        assert result.code == 0
        assert result.err == ("" if expected else "No answer: no document meets the conditions.\n")


def test_no_confident_answer(densephrases: Command, made_index: Path, sure: Path, tmp_path: Path) -> None:
    options = ["--model", sure, "--min-confidence", "0.99"]
    result = densephrases("ask", made_index, QUESTION, *options)
    assert (result.code, result.out) == (0, "")
    assert result.err == "No answer with a confidence of at least 99%.\n"
    result = densephrases("ask", made_index, QUESTION, *options, "--json")
    assert result.code == 0
    assert json.loads(result.out) == {"question": QUESTION, "answers": []}
    (tmp_path / "questions").write_text(f"{QUESTION}\n")
    result = densephrases("ask", made_index, "--file", tmp_path / "questions", *options)
    assert result.err == f"{QUESTION}: No answer with a confidence of at least 99%.\n"


def test_an_emptied_index(densephrases: Command, index: Path) -> None:
    assert densephrases("delete", index, *(option for name in TEXTS for option in ("--id", name))).code == 0
    result = densephrases("ask", index, QUESTION)
    assert (result.code, result.out, result.err) == (0, "", "No answer: the index holds no text.\n")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([""], "expected a text with at least one word"),
        ([QUESTION, "-k", "0"], "-k 0 is no number of results"),
        ([QUESTION, "--effort", "2"], "--effort 2.0 is out of range"),
        ([QUESTION, "--lexical-weight", "-1"], "--lexical-weight -1.0 is no weight"),
        ([QUESTION, "--min-confidence", "0.5"], "needs a model with a calibration"),
        ([QUESTION, "--where", "lang"], "--where lang is not of the form key=value"),
        ([QUESTION, "--file", "none"], "Both a question and --file are given"),
        (["--file", "none"], "'none' cannot be read: No such file"),
        ([QUESTION, "--documents-file", "none"], "'none' cannot be read: No such file"),
        ([QUESTION, "--model", "none/model"], "'none/model' does not exist"),
        (["\udcff"], "not Unicode"),
    ],
)
def test_mistakes(densephrases: Command, made_index: Path, options: list[str], expected: str) -> None:
    result = densephrases("ask", made_index, *options)
    assert is_one_sentence(result)
    assert expected in result.err


def test_another_model(densephrases: Command, made_index: Path, exported: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(exported, tmp_path / "other"))
    ModelConfig.load(other).with_fingerprint("another").save(other)
    result = densephrases("ask", made_index, QUESTION, "--model", other)
    assert is_one_sentence(result)
    assert f"The index was built with model '{exported}' (fingerprint " in result.err


def test_a_pipe_needs_no_rich(made_index: Path) -> None:
    """It takes a tenth of a second to import."""
    code = (
        f"import sys; sys.argv = ['densephrases', 'ask', {str(made_index)!r}, {QUESTION!r}]\n"
        "from densephrases.cli.main import main\n"
        "try: main()\n"
        "except SystemExit as ended: print(ended.code, [name for name in sys.modules if name.startswith('rich')])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert len(rows(done.stdout)) > 5
    assert done.stdout.splitlines()[-1] == "0 []"


# Tests may run where SIGINT is ignored, which is inherited.
INTERRUPTIBLE = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
)


class Terminal:
    """A command at a pseudo-terminal."""

    def __init__(self, *command: str | Path) -> None:
        self.master, slave = os.openpty()
        environment = os.environ | {"TERM": "xterm-256color"}
        environment.pop("NO_COLOR", None)
        self.process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", INTERRUPTIBLE, *map(str, command)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
        )
        os.close(slave)
        self.seen = ""

    def until(self, wanted: str) -> str:
        """What appears up to a text, which must."""
        while wanted not in self.seen:
            assert select.select([self.master], [], [], 60)[0], f"waiting for {wanted!r} after {self.seen!r}"
            self.seen += os.read(self.master, 4096).decode()
        before, _, self.seen = self.seen.partition(wanted)
        return before

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def interrupt_until(self, wanted: str) -> None:
        """Ctrl-C, and again if nothing happens: readline misses one that comes just before it waits for keys."""
        self.process.send_signal(signal.SIGINT)
        while wanted not in self.seen:
            if select.select([self.master], [], [], 5)[0]:
                self.seen += os.read(self.master, 4096).decode()
            else:
                self.process.send_signal(signal.SIGINT)
        self.until(wanted)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.master)


@pytest.fixture
def terminal(made_index: Path) -> Iterator[Terminal]:
    """The installed command, asked for nothing yet."""
    if sys.platform == "win32":
        pytest.skip("Windows has no pseudo-terminals")
    with closing(Terminal(Path(sys.executable).with_name("densephrases"), "ask", made_index, "-k", "2")) as opened:
        yield opened


def test_a_conversation(terminal: Terminal) -> None:
    """Answers in colour; Ctrl-C cancels a question; an empty line ends."""
    assert "3 documents" in terminal.until("Question: ")
    terminal.type(f"{QUESTION}\n")
    shown = terminal.until("Question: ")
    assert "\x1b[1;32m" in shown
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    assert re.search(r"1\. .+ · score -?\d+\.\d\d\s.*2\. ", plain, re.DOTALL)
    terminal.type("where is lon")
    terminal.until("where is lon")
    terminal.interrupt_until("Question: ")
    terminal.type("\n")
    assert terminal.process.wait(60) == 0


def test_the_end_of_input_ends_a_conversation(terminal: Terminal) -> None:
    terminal.until("Question: ")
    terminal.type("\x04")
    assert terminal.process.wait(60) == 0
