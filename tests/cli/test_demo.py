"""`densephrases demo` with the bundled model on a few sentences in place of the sample articles."""

import json
from pathlib import Path

import pytest

from densephrases import sample
from densephrases.cli import demo
from densephrases.model.onnx import OnnxEncoder
from densephrases.sample import SAMPLE_QUESTIONS
from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.runtime.suggested_questions import owner_questions

from .conftest import Command

ARTICLES = {
    "Battle of Hastings": "The Battle of Hastings was fought on 14 October 1066.",
    "Violin": "The front of the violin body is made of spruce.",
}


@pytest.fixture
def articles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "articles.jsonl"
    lines = [json.dumps({"id": title, "title": title, "text": text}) for title, text in ARTICLES.items()]
    path.write_text("\n".join(lines))
    monkeypatch.setattr(sample, "articles_path", lambda: path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return path


def cached(articles: Path) -> list[Path]:
    return sorted((articles.parent / "cache" / "densephrases").glob("sample-*"))


def test_five_answered_questions(densephrases: Command, articles: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = densephrases("demo", "--no-prompt")
    assert first.code == 0
    (folder,) = cached(articles)
    assert first.err == f"Indexing the sample articles once; the index is kept in {folder}.\n"
    blocks = [block.splitlines() for block in first.out.strip().split("\n\n")]
    assert [block[0] for block in blocks] == list(demo.SHOWN)
    date, wood = blocks[0], blocks[4]
    for block, title, answer in ((date, "Battle of Hastings", "14 October 1066"), (wood, "Violin", "spruce")):
        assert block[1:3] == [f"  {answer}", f"  {ARTICLES[title].replace(answer, f'«{answer}»', 1)}"]
        assert block[3].startswith(f"  {title}")

    monkeypatch.setattr(OnnxEncoder, "forward_passages", lambda *_: pytest.fail("must not index again"))
    again = densephrases("demo", "--no-prompt")
    assert (again.out, again.err) == (first.out, "")


def test_another_model_builds_anew(densephrases: Command, articles: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert densephrases("demo").code == 0, "without a terminal there is no prompt"
    monkeypatch.setattr(OnnxEncoder, "fingerprint", "another")
    assert densephrases("demo", "--no-prompt").code == 0
    assert len(cached(articles)) == 2


def test_a_folder_of_choice(densephrases: Command, articles: Path, tmp_path: Path) -> None:
    assert densephrases("demo", "--no-prompt", "--folder", tmp_path / "here").code == 0
    assert (tmp_path / "here" / "manifest.json").is_file()
    assert owner_questions(PhraseIndex.open(tmp_path / "here")) == list(demo.SHOWN)
    assert cached(articles) == []
    assert "model             small (" in densephrases("info", tmp_path / "here").out


def test_the_cache_without_a_setting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert demo._cache_folder().is_relative_to(tmp_path)
    assert "densephrases" in demo._cache_folder().parts


def test_the_shown_questions_are_of_the_sample() -> None:
    assert set(demo.SHOWN) <= {question.question for question in SAMPLE_QUESTIONS}
    assert len(set(demo.SHOWN)) == 5
    assert len({question.split()[0] for question in demo.SHOWN}) == 5, "of different kinds"
