"""`densephrases cluster build` without Ray: what it prints, what it refuses."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from densephrases.cluster import connection
from densephrases.index.manifest import Manifest
from tests.cli.conftest import Command
from tests.cli.test_main import is_one_sentence
from tests.cluster.build.conftest import InlinePool, inline
from tests.cluster.build.corpus import assert_same, corpus, plain_index, sources

__all__ = ["inline"]  # a fixture


def test_build(densephrases: Command, inline: type[InlinePool], tmp_path: Path) -> None:
    options = ["--encoders", "2", "--report", tmp_path / "skipped.jsonl"]
    result = densephrases("cluster", "build", *sources(corpus()), "--out", tmp_path / "index", *options)
    assert result.code == 0, result.err
    assert re.fullmatch(
        r"53 documents indexed: \d+ passages, \d+ tokens, \d+ of them kept, index of 53 documents and \d+\.\d kB, "
        r"\d+\.\d s, 1 skipped, 1 without text\n",
        result.out,
    )
    assert "people.jsonl, line 21' is not JSON" in result.err
    assert len((tmp_path / "skipped.jsonl").read_text().splitlines()) == 2
    assert_same(Manifest.load(plain_index()), Manifest.load(tmp_path / "index"))


def test_ctrl_c_says_how_to_go_on(
    densephrases: Command,
    inline: type[InlinePool],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stop(job: object) -> None:
        raise KeyboardInterrupt

    command = ["cluster", "build", *sources(corpus()), "--out", tmp_path / "index"]
    with monkeypatch.context() as patch:
        patch.setattr(inline, "before", staticmethod(stop))
        result = densephrases(*command)
    assert (result.code, result.out) == (130, "")
    assert result.err == "Stopped. Nothing is done; run the same command again to go on.\n"
    assert densephrases(*command).code == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--encoders", "3"], "--encoders 3 is more than the 2 cores of the cluster"),
        (["--gpus-per-encoder", "1"], "--gpus-per-encoder 1 leaves no room for an encoder: the cluster has 0 GPUs"),
        (["--model", "no/model"], "'no/model' does not exist"),
        (["--filter-threshold", "much"], "--filter-threshold=much is neither a finite number nor 'none'"),
    ],
)
def test_mistakes(
    densephrases: Command,
    inline: type[InlinePool],
    tmp_path: Path,
    arguments: list[str],
    sentence: str,
) -> None:
    result = densephrases("cluster", "build", *sources(corpus()), "--out", tmp_path / "index", *arguments)
    assert is_one_sentence(result), result
    assert sentence in result.err
    assert not (tmp_path / "index" / "building").exists()


def test_an_index_inside_its_documents(densephrases: Command, inline: type[InlinePool]) -> None:
    result = densephrases("cluster", "build", corpus(), "--out", corpus() / "index")
    assert is_one_sentence(result)
    assert "which is to be indexed; give a folder outside it" in result.err


def test_without_ray(densephrases: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "find_spec", lambda name: None if name == "ray" else find_spec(name))
    result = densephrases("cluster", "build", corpus(), "--out", tmp_path / "index")
    assert is_one_sentence(result)
    assert "needs ray, which is not installed: pip install 'densephrases[ray]'" in result.err
