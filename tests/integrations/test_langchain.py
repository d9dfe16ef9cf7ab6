"""As a runnable of the real LangChain, from a folder and from a service."""

import asyncio
from pathlib import Path

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from pydantic import SecretStr

from densephrases.integrations.langchain import PhraseRetriever
from densephrases.search.phrase_index import PhraseIndex
from tests.serve.running import QUESTION, running


def ids(documents: list[Document]) -> list[str]:
    return [document.metadata["id"] for document in documents]


def test_invoke(folder: Path) -> None:
    retriever = PhraseRetriever(index=str(folder), unit="sentence", k=3)
    found = retriever.invoke(QUESTION)
    expected = PhraseIndex.open(folder).search(QUESTION, 3, unit="sentence")
    assert [document.page_content for document in found] == [answer.text for answer in expected]
    assert found[0].metadata["phrase"]["text"] == expected[0].phrase.text
    assert found[0].id == f"{expected[0].document.id}:{expected[0].start}-{expected[0].end}"
    assert asyncio.run(retriever.ainvoke(QUESTION)) == found
    assert retriever.batch([QUESTION, QUESTION]) == [found, found]


def test_verified_answers(folder: Path) -> None:
    found = PhraseRetriever(index=str(folder), unit="phrase", k=3, verify=2).invoke(QUESTION)
    expected = PhraseIndex.open(folder).search(QUESTION, 3, verify=2)
    assert [document.page_content for document in found] == [answer.text for answer in expected]
    assert found[0].metadata["verified"]


def test_in_a_chain_from_a_service(folder: Path) -> None:
    index = PhraseIndex.open(folder)
    with running(index) as service:
        retriever = PhraseRetriever(
            index=f"http://127.0.0.1:{service.port}", k=1, where={"lang": "fr"}, api_key=SecretStr("unneeded-but-sent")
        )
        chain = retriever | RunnableLambda(ids)
        assert chain.invoke(QUESTION) == ["paris"]
