"""A retriever for Haystack pipelines (extra `haystack`)."""

from typing import Any, Self

from haystack import Document, component, default_from_dict, default_to_dict
from haystack.utils import Secret

from densephrases.integrations.source import Source, answer_metadata
from densephrases.search.request import DEFAULT_K, AskedUnit, Verify


@component
class PhraseRetriever:
    """Retrieves phrases, sentences, passages or documents as Haystack documents, best first.

    A document's `content` is the answer in the chosen unit; its `meta` has the source document's metadata, id and
    title, the offsets, the confidence, and the best phrase within it.

    Args:
        index: Folder of an index, or URL of a service.
        unit: What counts as one result.
        top_k: Number of results.
        where: Metadata keys, each with the value or the values that it may have.
        min_confidence: Results below this probability are dropped.
        verify: How many passages are read again to put the best phrase first, or "auto"; needs a model that reads.
        api_key: For a service with keys; resolved at run time, never written to a pipeline's file.
    """

    def __init__(
        self,
        index: str,
        unit: AskedUnit = "passage",
        top_k: int = DEFAULT_K,
        where: dict[str, Any] | None = None,
        min_confidence: float = 0.0,
        verify: Verify | None = None,
        api_key: Secret | None = None,
    ) -> None:
        self.index = index
        self.unit = unit
        self.top_k = top_k
        self.where = where
        self.min_confidence = min_confidence
        self.verify = verify
        self.api_key = api_key
        self._source: Source | None = None

    def warm_up(self) -> None:
        """Open the index; pipelines call it before their first run."""
        if self._source is None:
            self._source = Source(self.index, None if self.api_key is None else self.api_key.resolve_value())

    @component.output_types(documents=list[Document])
    def run(
        self, query: str, top_k: int | None = None, where: dict[str, Any] | None = None
    ) -> dict[str, list[Document]]:
        self.warm_up()
        assert self._source is not None
        answers = self._source.search(
            query,
            top_k or self.top_k,
            unit=self.unit,
            where=where or self.where,
            min_confidence=self.min_confidence,
            verify=self.verify,
        )
        return {"documents": [Document(content=a.text, meta=answer_metadata(a), score=a.score) for a in answers]}

    def to_dict(self) -> dict[str, Any]:
        return default_to_dict(
            self,
            index=self.index,
            unit=self.unit,
            top_k=self.top_k,
            where=self.where,
            min_confidence=self.min_confidence,
            verify=self.verify,
            api_key=None if self.api_key is None else self.api_key.to_dict(),
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        settings = data["init_parameters"]
        if isinstance(settings.get("api_key"), dict):
            settings["api_key"] = Secret.from_dict(settings["api_key"])
        made: Self = default_from_dict(cls, data)
        return made
