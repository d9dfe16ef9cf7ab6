"""In a pipeline of the real Haystack, from a folder and from a service."""

from pathlib import Path
from typing import Any

import pytest
from haystack import Pipeline
from haystack.utils import Secret

from densephrases.errors import PhraseIndexError
from densephrases.integrations.haystack import PhraseRetriever
from densephrases.search.phrase_index import PhraseIndex
from tests.serve.running import QUESTION, running


def test_in_a_pipeline(folder: Path) -> None:
    pipeline = Pipeline()
    pipeline.add_component("retriever", PhraseRetriever(str(folder), unit="sentence", top_k=3))
    found = pipeline.run({"retriever": {"query": QUESTION}})["retriever"]["documents"]
    expected = PhraseIndex.open(folder).search(QUESTION, 3, unit="sentence")
    assert [document.content for document in found] == [answer.text for answer in expected]
    assert [document.score for document in found] == [answer.score for answer in expected]
    assert found[0].meta["id"] == expected[0].document.id
    assert found[0].meta["phrase"]["text"] == expected[0].phrase.text
    assert found[0].meta["lang"] == expected[0].document.metadata["lang"]


def test_verified_answers(folder: Path) -> None:
    found = PhraseRetriever(str(folder), unit="phrase", top_k=3, verify=2).run(QUESTION)["documents"]
    expected = PhraseIndex.open(folder).search(QUESTION, 3, verify=2)
    assert [document.content for document in found] == [answer.text for answer in expected]
    assert found[0].meta["verified"]


def test_from_a_service(folder: Path) -> None:
    index = PhraseIndex.open(folder)
    with running(index) as service:
        retriever = PhraseRetriever(f"http://127.0.0.1:{service.port}", where={"lang": "fr"})
        found = retriever.run(QUESTION, top_k=1)["documents"]
        other = retriever.run(QUESTION, where={"lang": "en"})["documents"]
    assert [document.meta["id"] for document in found] == ["paris"]
    assert "paris" not in {document.meta["id"] for document in other}


def test_pipelines_can_be_written_and_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCH_KEY", "a-key-for-reading-only")
    pipeline = Pipeline()
    made = PhraseRetriever(str(folder), unit="document", top_k=2, verify=1, api_key=Secret.from_env_var("SEARCH_KEY"))
    pipeline.add_component("retriever", made)
    written = pipeline.dumps()
    assert "a-key-for-reading-only" not in written
    read: Any = Pipeline.loads(written, allowed_modules=["densephrases.*"]).get_component("retriever")
    assert (read.index, read.unit, read.top_k, read.api_key) == (str(folder), "document", 2, made.api_key)
    assert read.verify == 1


def test_no_index(tmp_path: Path) -> None:
    with pytest.raises(PhraseIndexError, match="is no index"):
        PhraseRetriever(str(tmp_path)).warm_up()
