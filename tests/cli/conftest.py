"""The command as a person calls it, in this process."""

import json
import logging
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from densephrases.cli.main import main
from densephrases.data.squad import sample_path

if TYPE_CHECKING:
    from densephrases.nn.phrase_model import PhraseModel

RECIPE = """
from densephrases.data.squad import sample_path
from densephrases.train.phrases.sampling import BatchPlan
from densephrases.train.loop.loop import LoopConfig
from densephrases.train.phrases.recipe import Architecture, PhraseRecipe
from densephrases.train.reader import ReaderRecipe

LOOP = LoopConfig(epochs=1, learning_rate=1e-3, checkpoint_every=2)


def reader(data, models):
    return ReaderRecipe(
        base=models / "tiny", train=(sample_path(),), dev=data / "dev.json", batch_size=24,
        passage_tokens=96, overlap=16, loop=LOOP,
    )


def phrases(data, models):
    return PhraseRecipe(
        base=models / "tiny", train=(sample_path(),), dev=data / "dev.json", teacher=models / "reader", loop=LOOP,
        architecture=Architecture(passage_tokens=96, overlap=16), batches=BatchPlan(questions=24),
    )
"""


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


Command = Callable[..., Result]


@pytest.fixture
def log_as_before() -> Iterator[None]:
    """A command sets up the log of the whole process, with a stream that is closed when its test ends."""
    root = logging.getLogger()
    handlers, level = root.handlers.copy(), root.level
    yield
    for handler in [each for each in root.handlers if each not in handlers]:
        root.removeHandler(handler)
    root.setLevel(level)


@pytest.fixture
def densephrases(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], log_as_before: None) -> Command:
    """Runs the command with arguments; exceptions that a user would see as a traceback pass through."""

    def run(*arguments: str | Path) -> Result:
        monkeypatch.setattr(sys, "argv", ["densephrases", *map(str, arguments)])
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        return Result(code, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recipes") / "tiny.py"
    path.write_text(RECIPE)
    return path


@pytest.fixture(scope="session")
def exported(tiny_model: "PhraseModel", tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder with weights for torch and both kinds of graphs; tests that change it copy it first."""
    from densephrases.nn.onnx.export import export_model

    folder = tmp_path_factory.mktemp("exported") / "model"
    tiny_model.save_pretrained(folder)
    export_model(tiny_model, folder)
    return folder


TEXTS = {
    "tower.txt": "The tower in Paris was built by Eiffel.\r\n\r\nIt was opened in the year 1889.",
    "cities/london.md": "# London\n\nLondon is a city\ton the river Thames. It was built by the Romans.",
    "cities/paris.txt": "Paris is a city on the river Seine.",
}


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of three texts, a binary file and an empty one."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "cities").mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_bytes(text.encode())
    (folder / "photo.raw").write_bytes(bytes(100))
    (folder / "nothing.txt").touch()
    return folder


@pytest.fixture(scope="session")
def made_index(corpus: Path, exported: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the corpus; tests that change it take `index`."""
    from densephrases.search.phrase_index import PhraseIndex
    from densephrases.text.readers.read import read_documents

    folder = tmp_path_factory.mktemp("indexes") / "cities"
    PhraseIndex.create(folder, read_documents([corpus]), model=exported)
    return folder


@pytest.fixture
def index(made_index: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made_index, tmp_path / "index"))


@pytest.fixture(scope="session")
def small_squad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first two passages of the sample: ten questions, and one that the passage does not answer."""
    content = json.loads(sample_path().read_text())
    content["data"] = content["data"][:1]
    asked = {"id": "unanswerable", "question": "Why?", "is_impossible": True, "answers": []}
    content["data"][0]["paragraphs"][0]["qas"].append(asked)
    path = tmp_path_factory.mktemp("squad") / "dev.json"
    path.write_text(json.dumps(content))
    return path
