"""`cluster serve` and `cluster stop`: what is said before and without a cluster."""

from pathlib import Path

import pytest

from densephrases import Document, PhraseIndex
from tests.cli.conftest import Command
from tests.cli.test_main import is_one_sentence
from tests.index.made_up import HashEncoder


@pytest.fixture
def index(tmp_path: Path) -> Path:
    documents = [Document("a", "the tower in paris."), Document("b", "a city on the river.")]
    PhraseIndex.create(tmp_path / "index", documents, model=HashEncoder())
    return tmp_path / "index"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--shards", "2"], "--shards 2 does not fit an index of 1 segments"),
        (["--shards", "0"], "--shards 0 is out of range"),
        (["--cpus-per-replica", "0"], "--cpus-per-replica 0.0 is out of range"),
        (["--shard-deadline", "-1"], "--shard-deadline -1.0 is out of range"),
        (["--name", "a b"], "--name 'a b' is no name of a service"),
        (["--max-k", "0"], "--max-k 0 is no limit"),
        (["--api-key-file", "none"], "The key file 'none' cannot be read"),
    ],
)
def test_wrong_options_are_refused_before_ray_starts(
    densephrases: Command, index: Path, options: list[str], expected: str
) -> None:
    run = densephrases("cluster", "serve", index, *options)
    assert is_one_sentence(run)
    assert expected in run.err


def test_what_is_no_index(densephrases: Command, tmp_path: Path) -> None:
    run = densephrases("cluster", "serve", tmp_path)
    assert is_one_sentence(run)
    assert "is no index" in run.err
