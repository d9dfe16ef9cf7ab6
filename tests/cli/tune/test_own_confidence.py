"""`densephrases tune confidence INDEX` with the bundled model, whose confidences are made too high here."""

import json
import shutil
from pathlib import Path

import pytest

from densephrases.index.fitted_confidence import CONFIDENCE_FILE, fitted_confidences
from densephrases.model.config import ModelConfig
from densephrases.model.folders import resolve
from densephrases.search.confidence import Calibration
from densephrases.search.phrase_index import PhraseIndex
from densephrases.text.documents import Document
from tests.cli.conftest import Command
from tests.cli.test_main import is_one_sentence

NOTES = {
    "lease": "The lease of the flat ends on 31 March 2027. The rent is 950 euros a month.",
    "boiler": "The boiler was repaired by Anna Berg in October. She charged 120 euros.",
    "car": "The car was bought from Otto Lang in 2019. It is a blue Volvo.",
    "school": "The school of the children is in Lindau. It begins on 7 September.",
}
PAIRS = {
    "When does the lease end?": "31 March 2027",
    "How much is the rent?": "950 euros",
    "Who repaired the boiler?": "Anna Berg",
    "When was the boiler repaired?": "October",
    "From whom was the car bought?": "Otto Lang",
    "Where is the school?": "Lindau",
    "Who wrote Don Quixote?": "",
    "When was the roof painted?": "",
    "Who repaired the bicycle?": "",
    "What is the name of the dog?": "",
    "How much is the electricity?": "",
    "Where does grandmother live?": "",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    model = Path(shutil.copytree(resolve("small"), folder / "model"))
    config = ModelConfig.load(model)
    assert config.confidence is not None
    config.with_confidence(Calibration.from_dict(config.confidence).rescaled(1.0, 4.0).to_dict()).save(model)
    PhraseIndex.create(folder / "index", [Document(*each) for each in NOTES.items()], model=model)
    return folder / "index"


@pytest.fixture
def own_index(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "index"))


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.csv"
    path.write_text("question,answer\n" + "".join(f"{question},{answer}\n" for question, answer in PAIRS.items()))
    return path


def confidence(densephrases: Command, index: Path) -> float:
    result = densephrases("ask", index, "Who wrote Don Quixote?", "--json")
    return float(json.loads(result.out)["answers"][0]["confidence"])


def test_fit_and_reset(densephrases: Command, own_index: Path, pairs: Path) -> None:
    before = confidence(densephrases, own_index)
    dry = densephrases("tune", "confidence", own_index, pairs, "--dry-run")
    assert dry.code == 0
    assert "12 questions, " in dry.out
    assert "of the model" in dry.out
    assert "Nothing is changed (--dry-run)." in dry.out
    assert fitted_confidences(own_index) == {}
    assert "confidence" not in densephrases("info", own_index).out

    result = densephrases("tune", "confidence", own_index, pairs, "--json")
    found = json.loads(result.out)
    assert (result.code, found["questions"], found["stored"], found["better"]) == (0, 12, True, True)
    assert found["after"]["log_loss"] < found["before"]["log_loss"]
    assert found["shift"] < 0
    assert confidence(densephrases, own_index) < before
    assert "fitted to 12 own questions on 20" in densephrases("info", own_index).out
    assert json.loads(densephrases("info", own_index, "--json").out)["fitted_confidences"][""]["questions"] == 12
    assert densephrases("check", own_index).code == 0
    assert "Stored in " in densephrases("tune", "confidence", own_index, pairs, "--absent", "0.5").out

    assert "the model's again" in densephrases("tune", "confidence", own_index, "--reset").out
    assert confidence(densephrases, own_index) == before
    assert "Nothing to remove" in densephrases("tune", "confidence", own_index, "--reset").out


def test_what_is_not_better_is_not_stored(
    densephrases: Command, own_index: Path, pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from densephrases.evaluate.tune import own_confidence

    monkeypatch.setattr(own_confidence.OwnConfidence, "is_better", property(lambda _: False))
    result = densephrases("tune", "confidence", own_index, pairs)
    assert result.code == 0
    assert "no better than the model's on other questions: nothing is changed." in result.out
    assert not (own_index / CONFIDENCE_FILE).exists()


def test_damage(densephrases: Command, own_index: Path) -> None:
    (own_index / CONFIDENCE_FILE).write_text("{}")
    for command in (["ask", own_index, "Who?"], ["info", own_index]):
        result = densephrases(*command)
        assert is_one_sentence(result)
        assert "is damaged (its checksum differs); remove it with" in result.err
    assert "is damaged" in densephrases("check", own_index).out
    assert densephrases("tune", "confidence", own_index, "--reset").code == 0
    assert densephrases("ask", own_index, "Who?").code == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["{index}"], "DATA is missing; expected a file of questions with their answers."),
        (["small"], "DATA is missing; expected a SQuAD file."),
        (["{index}", "{few}"], "Too few questions to fit confidences to: 1; expected at least 10, so add some."),
        (["{index}", "none.csv"], "'none.csv' is not a file"),
        (["{index}", "{pairs}", "--absent", "2"], "--absent 2.0 is no share of the questions"),
        (["{index}", "{pairs}", "--swapped", "0"], "--swapped goes with a model, and '"),
        (["{index}", "{pairs}", "--off-topic", "{pairs}"], "--off-topic goes with a model, and '"),
        (["{index}", "{pairs}", "--reset"], "--reset goes without DATA"),
        (["{index}", "--dry-run", "--reset"], "--reset goes without --dry-run"),
        (["small", "--reset"], "--reset goes with an index, and 'small' is a model"),
        (["nothing", "{pairs}"], "'nothing' is neither a model nor an index; expected a model folder, which has"),
    ],
)
def test_mistakes(
    densephrases: Command, own_index: Path, pairs: Path, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    few = tmp_path / "few.csv"
    few.write_text("question,answer\nWho was Zorro?,\n")
    names = {"index": own_index, "pairs": pairs, "few": few}
    result = densephrases("tune", "confidence", *(each.format(**names) for each in arguments))
    assert is_one_sentence(result)
    assert sentence in result.err
