"""Keys of documents: a hash of the id, by which they are found, and a digest of the content, by which changes show."""

import json
from dataclasses import dataclass
from hashlib import blake2b
from typing import Self

from densephrases.errors import DataError
from densephrases.text.documents import Document


def id_hash(identifier: str) -> int:
    """64 bits. Different ids may share a hash, so compare the ids as well."""
    return _hash64(identifier.encode(errors="surrogatepass"))


def _hash64(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document, and what the index stores of it beside its passages."""

    document: Document
    text: bytes
    record: bytes  # id, title and metadata as JSON
    hash: int
    digest: int  # of title, text and metadata

    @classmethod
    def from_document(cls, document: Document) -> Self:
        record = _json(document, [document.id, document.title, dict(document.metadata)])
        content = _json(document, [document.title, dict(document.metadata)], sort_keys=True)
        try:
            text = document.text.encode()
            document.title.encode()
        except UnicodeEncodeError as error:
            raise DataError(
                f"Document {document.id!a} has half a surrogate pair in its text or title, which no model can read; "
                "replace it, for example by text.encode(errors='replace').decode()."
            ) from error
        return cls(document, text, record, id_hash(document.id), _hash64(content + b"\0" + text))


def _json(document: Document, values: list[object], *, sort_keys: bool = False) -> bytes:
    try:
        return json.dumps(values, sort_keys=sort_keys, separators=(",", ":")).encode()
    except (TypeError, ValueError) as error:
        raise DataError(
            f"Document {document.id!a} has metadata that JSON cannot hold ({error}); "
            "use texts, numbers, true, false, null, lists and mappings with text keys."
        ) from error
