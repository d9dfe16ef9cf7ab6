"""Recipes as files, and settings changed from the command line."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from tokenizers import Tokenizer

from densephrases.errors import ConfigError
from densephrases.model import folders
from densephrases.model.tokenizer import TOKENIZER_FILE
from densephrases.train.loop.loop import LoopConfig
from densephrases.train.loop.recipes import load_recipe, override
from densephrases.train.phrases.recipe import PhraseRecipe
from densephrases.train.question_generator import QuestionRecipe
from densephrases.train.reader import ReaderRecipe

RECIPES = sorted((Path(__file__).parents[3] / "recipes").glob("*.py"))
FUNCTIONS: dict[str, type[Any]] = {"reader": ReaderRecipe, "phrases": PhraseRecipe, "questions": QuestionRecipe}


@dataclass(frozen=True)
class Inner:
    rate: float = 0.5
    steps: int | None = 3


@dataclass(frozen=True)
class Sample:
    name: str = "x"
    count: int = 1
    rate: float = 1.0
    fast: bool = False
    folder: Path = Path("a")
    base: str | Path = "b"
    teacher: Path | None = None
    files: tuple[Path, ...] = ()
    sizes: tuple[int, ...] = ()
    mode: Literal["any", "given"] = "any"
    inner: Inner = field(default_factory=Inner)
    loop: LoopConfig = field(default_factory=LoopConfig)


@pytest.mark.parametrize(
    ("setting", "name", "value"),
    [
        ("name=paris", "name", "paris"),
        ("name=a=b", "name", "a=b"),
        ('name="7"', "name", "7"),
        ("count=5", "count", 5),
        ("rate=5", "rate", 5.0),
        ("rate=1e-3", "rate", 1e-3),
        ("fast=true", "fast", True),
        ("folder=some/where", "folder", Path("some/where")),
        ("base=some/where", "base", "some/where"),
        ("teacher=models/reader", "teacher", Path("models/reader")),
        ("teacher=null", "teacher", None),
        ('files=["a.json", "b.json"]', "files", (Path("a.json"), Path("b.json"))),
        ("sizes=[1, 2]", "sizes", (1, 2)),
        ("sizes=[]", "sizes", ()),
        ("mode=given", "mode", "given"),
        ('base="7"', "base", "7"),
        ("rate=-2.5", "rate", -2.5),
    ],
)
def test_settings_take_the_type_of_their_field(setting: str, name: str, value: Any) -> None:
    found = getattr(override(Sample(), [setting]), name)
    assert found == value
    assert type(found) is type(value)


def test_nested_settings() -> None:
    changed = override(Sample(), ["inner.rate=2", "loop.epochs=9", "inner.steps=null", "count=3"])
    assert changed == Sample(count=3, inner=Inner(2.0, None), loop=LoopConfig(epochs=9))
    assert override(Sample(), []) == Sample()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("count", r"'count' is not of the form name=value"),
        ("cuont=3", r"'cuont' is unknown: 'cuont' is not one of name, count, rate"),
        ("inner.speed=3", r"'inner\.speed' is unknown: 'speed' is not one of rate, steps"),
        ("count.x=3", r"'count\.x' is unknown: 'count' has no settings of its own"),
        ("count=many", r"count=many does not fit: expected .*int"),
        ("count=2.5", r"count=2\.5 does not fit"),
        ("count=true", r"count=true does not fit"),
        ("count=null", r"count=null does not fit"),
        ("rate=high", r"rate=high does not fit: expected .*float"),
        ("rate=true", r"rate=true does not fit"),
        ("fast=1", r"fast=1 does not fit: expected .*bool"),
        ("mode=never", r"mode=never does not fit: expected .*'any', 'given'"),
        ("files=a.json", r"files=a\.json does not fit"),
        ("files=[1]", r"files=\[1\] does not fit"),
        ('sizes=[1, "b"]', r"sizes=.* does not fit"),
        ("inner=3", r"inner=3 does not fit: expected one of its settings, inner\.rate, inner\.steps"),
        ('inner={"rate": 3}', r"inner=.* does not fit"),
        ("name=7", r"name=7 does not fit: expected str"),
        ("count=2.0", r"count=2\.0 does not fit"),
        ("inner.steps=few", r"inner\.steps=few does not fit: expected int | None"),
        ("loop.epochs=0", r"epochs=0"),
    ],
)
def test_settings_that_cannot_be(setting: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        override(Sample(), [setting])


def write(folder: Path, content: str, name: str = "recipe.py") -> Path:
    path = folder / name
    path.write_text(content)
    return path


def test_a_recipe_is_called_with_both_folders(tmp_path: Path) -> None:
    path = write(tmp_path, "def build(data, models):\n    return f'{data} {models}'\n")
    assert load_recipe(path, str, "build", Path("d"), Path("m")) == "d m"


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ("x = 1\n", "recipe.py", r"has no function 'phrases\(data, models\)'"),
        ("def phrases(data, models):\n    return 3\n", "recipe.py", r"returned int, expected PhraseRecipe"),
        ("phrases", "recipe.txt", r"is not a Python file"),
    ],
)
def test_unusable_recipes(tmp_path: Path, content: str, name: str, message: str) -> None:
    path = write(tmp_path, content, name)
    with pytest.raises(ConfigError, match=message):
        load_recipe(path, PhraseRecipe, "phrases", tmp_path, tmp_path)


def test_missing_recipe(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nothing\.py' does not exist"):
        load_recipe(tmp_path / "nothing.py", PhraseRecipe, "phrases", tmp_path, tmp_path)


def test_there_are_recipes() -> None:
    assert {path.stem for path in RECIPES} >= {"squad_small", "squad_base"}


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_every_recipe_loads(path: Path, tmp_path: Path, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "BUNDLED_FOLDER", tmp_path)  # weights are no part of a checkout
    (tmp_path / "small").mkdir()
    tokenizer.save(str(tmp_path / "small" / TOKENIZER_FILE))
    functions = [name for name in FUNCTIONS if f"\ndef {name}(" in path.read_text()]
    assert functions
    for name in functions:
        recipe = load_recipe(path, FUNCTIONS[name], name, tmp_path / "data", tmp_path / "models")
        assert isinstance(recipe, FUNCTIONS[name])
        assert recipe.train
        assert override(recipe, ["loop.epochs=1"]).loop.epochs == 1
