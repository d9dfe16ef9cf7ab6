"""What the adapters search: an index folder or a service."""

from dataclasses import asdict
from threading import Lock
from typing import Any

from densephrases.client.client import Client
from densephrases.errors import ConfigError
from densephrases.search.answers import Answer
from densephrases.search.phrase_index import PhraseIndex
from densephrases.text.documents import Document


class Source:
    """A thread-safe index: searches of a folder run one at a time, requests to a service in parallel."""

    def __init__(self, location: str, api_key: str | None = None, model: str | None = None) -> None:
        self._index: PhraseIndex | Client
        if location.startswith(("http://", "https://")):
            if model is not None:
                raise ConfigError(f"model={model!r} is given for a service, which has its own model; leave it out.")
            self._index = Client(location, api_key)
        else:
            self._index = PhraseIndex.open(location, model)
        self._lock = Lock()

    def search(self, question: str, k: int, **options: Any) -> list[Answer]:
        found: list[Answer]
        if isinstance(self._index, Client):
            found = self._index.search(question, k, **options)
        else:
            with self._lock:
                found = self._index.search(question, k, **options)
        return found

    def document(self, identifier: str) -> Document | None:
        return self._index.document(identifier)

    def documents(self) -> int:
        return len(self._index)


def answer_metadata(answer: Answer) -> dict[str, Any]:
    """Metadata of a framework's document made from an answer: its source, position, score and best phrase."""
    return {
        **answer.document.metadata,
        "id": answer.document.id,
        "title": answer.document.title,
        "start": answer.start,
        "end": answer.end,
        "score": answer.score,
        "confidence": answer.confidence,
        "verified": answer.verified,
        "phrase": asdict(answer.phrase),
        "sentence": answer.sentence,
        "section": answer.section,
        "page": answer.page,
        "alternatives": [asdict(each) for each in answer.alternatives],
    }
