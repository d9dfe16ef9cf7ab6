"""Where adapters get their answers from: an index folder, or a service."""

from dataclasses import asdict
from threading import Lock
from typing import Any

from densephrases.client.client import Client
from densephrases.errors import ConfigError
from densephrases.search.answers import Answer
from densephrases.search.phrase_index import PhraseIndex
from densephrases.text.documents import Document


class Source:
    """An index that several threads may ask: a folder's one after the other, a service's side by side."""

    def __init__(self, place: str, api_key: str | None = None, model: str | None = None) -> None:
        self._index: PhraseIndex | Client
        if place.startswith(("http://", "https://")):
            if model is not None:
                raise ConfigError(f"model={model!r} is given for a service, which has its own; leave it out.")
            self._index = Client(place, api_key)
        else:
            self._index = PhraseIndex.open(place, model)
        self._lock = Lock()

    def search(self, question: str, k: int, **options: Any) -> list[Answer]:
        if isinstance(self._index, Client):
            return self._index.search(question, k, **options)
        with self._lock:
            return self._index.search(question, k, **options)

    def document(self, identifier: str) -> Document | None:
        return self._index.document(identifier)

    def documents(self) -> int:
        return len(self._index)


def facts_of(answer: Answer) -> dict[str, Any]:
    """What a framework's document keeps of an answer beside its text: where it stands and the phrase within it."""
    return {
        **answer.document.metadata,
        "id": answer.document.id,
        "title": answer.document.title,
        "start": answer.start,
        "end": answer.end,
        "score": answer.score,
        "confidence": answer.confidence,
        "phrase": asdict(answer.phrase),
        "sentence": answer.sentence,
    }
