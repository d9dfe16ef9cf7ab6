"""Commands that change a model: never one that comes with the package, and nothing in a dry run."""

from pathlib import Path

import pytest

from densephrases.data.squad import sample_path
from densephrases.model.folders import resolve
from tests.cli.conftest import Command
from tests.cli.test_main import is_one_sentence

COMMANDS = ("filter", "length", "lexical", "quantizer", "confidence")


def content(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_bundled_model_is_refused_before_the_work(
    densephrases: Command, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content(resolve("small"))
    link = tmp_path / "link"
    link.symlink_to(resolve("small"))
    for model in ("small", resolve("small"), link):
        result = densephrases("tune", command, model, tmp_path / "not read.json")
        assert is_one_sentence(result)
        assert "bundled model 'small'" in result.err
        assert "copy" in result.err
    assert content(resolve("small")) == before


@pytest.mark.parametrize("command", COMMANDS)
def test_the_model_is_required(densephrases: Command, command: str) -> None:
    """Without it, DATA is taken for the model, and no default is changed in its place."""
    before = content(resolve("small"))
    assert densephrases("tune", command, sample_path()).code == 2
    assert content(resolve("small")) == before


def test_a_model_that_does_not_exist_is_refused(densephrases: Command, small_squad: Path, tmp_path: Path) -> None:
    result = densephrases("tune", "filter", tmp_path / "none", small_squad)
    assert is_one_sentence(result)
    assert "does not exist" in result.err


def test_a_dry_run_takes_a_bundled_model_and_changes_nothing(densephrases: Command, small_squad: Path) -> None:
    before = content(resolve("small"))
    result = densephrases("tune", "length", "small", small_squad, "--dry-run")
    assert result.code == 0
    assert result.out.count("chosen") == 1
    assert content(resolve("small")) == before
