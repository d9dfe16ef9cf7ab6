"""The example with a language model: with a fake one, and with a tiny random one."""

import runpy
from pathlib import Path
from typing import Any

import pytest

from densephrases import Document, PhraseIndex

EXAMPLE = Path(__file__).parents[2] / "examples" / "citations.py"
NOTES = [
    Document("lease", "The lease of the flat ends on 31 March 2027.", "lease"),
    Document("boiler", "The boiler was repaired by Anna Berg in October.", "boiler"),
]


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLE))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> PhraseIndex:
    return PhraseIndex.create(tmp_path_factory.mktemp("citations") / "index", NOTES)


def sources(example: dict[str, Any], index: PhraseIndex, written: str) -> tuple[str, list[str]]:
    cited = example["answer"](index, "When does the lease end?", lambda turns: written)
    return cited.text, [source.document.id for source in cited.sources]


def test_the_number_is_the_source(example: dict[str, Any], index: PhraseIndex) -> None:
    assert sources(example, index, "In March. [1]") == ("In March. [1]", ["lease"])
    assert sources(example, index, "In October. [2] And so on [1]") == ("In October. [2]", ["boiler"])


def test_numbers_of_no_passage_and_no_number(example: dict[str, Any], index: PhraseIndex) -> None:
    assert sources(example, index, "Never. [7]") == ("Never. [7]", [])
    assert sources(example, index, "It ends on 31 March 2027.")[1] == ["lease"]


def test_the_model_sees_numbered_passages(example: dict[str, Any], index: PhraseIndex) -> None:
    seen: list[str] = []

    def generate(turns: list[dict[str, str]]) -> str:
        seen.append(turns[-1]["content"])
        return ""

    cited = example["answer"](index, "When does the lease end?", generate)
    assert seen[0].startswith("[1] The lease of the flat ends")
    assert seen[0].endswith("Question: When does the lease end?")
    assert cited.phrase == "31 March 2027"


@pytest.mark.parametrize("tiny_writer", ["causal"], indirect=True)
def test_a_tiny_model_writes_something(example: dict[str, Any], index: PhraseIndex, tiny_writer: Path) -> None:
    generate = example["local_model"](str(tiny_writer))
    assert isinstance(example["answer"](index, "When does the lease end?", generate).text, str)
