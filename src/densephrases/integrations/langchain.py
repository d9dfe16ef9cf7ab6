"""A retriever for LangChain (extra `langchain`)."""

from functools import cached_property
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import SecretStr

from densephrases.integrations.source import Source, answer_metadata
from densephrases.search.request import DEFAULT_K, AskedUnit, Verify


class PhraseRetriever(BaseRetriever):
    """Retrieves phrases, sentences, passages or documents as LangChain documents, best first.

    Attributes:
        index: Folder of an index, or URL of a service.
        unit: What counts as one result.
        k: Number of results.
        where: Metadata keys, each with the value or the values that it may have.
        min_confidence: Results below this probability are dropped.
        verify: How many passages are read again to put the best phrase first, or "auto"; needs a model that reads.
        api_key: For a service with keys.
    """

    index: str
    unit: AskedUnit = "passage"
    k: int = DEFAULT_K
    where: dict[str, Any] | None = None
    min_confidence: float = 0.0
    verify: Verify | None = None
    api_key: SecretStr | None = None

    @cached_property
    def _source(self) -> Source:
        return Source(self.index, None if self.api_key is None else self.api_key.get_secret_value())

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        answers = self._source.search(
            query,
            self.k,
            unit=self.unit,
            where=self.where,
            min_confidence=self.min_confidence,
            verify=self.verify,
        )
        return [
            Document(page_content=a.text, metadata=answer_metadata(a), id=_id(a.document.id, a.start, a.end))
            for a in answers
        ]


def _id(document: str, start: int, end: int) -> str:
    return f"{document}:{start}-{end}"
