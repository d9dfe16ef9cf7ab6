"""Keys of documents: a hash of the id, by which they are found, and a digest of the content, by which changes show."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Self

from densephrases.errors import DataError
from densephrases.text.documents import Document, metadata_json


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
    record: bytes  # as `DocumentRecord.from_json` reads it
    hash: int
    digest: int  # of all but the id and the file
    done: int = 0  # characters of the text that are committed already, in parts

    @classmethod
    def from_document(cls, document: Document) -> Self:
        _refuse_what_is_no_text(document)
        metadata = document.own_metadata()
        layout: list[object] = [document.layout.to_json()] if document.layout else []
        file: list[object] = [] if document.file is None else [document.file.to_list()]
        gap = [None] if file and not layout else []
        record = _json(document, [document.id, document.title, metadata, *layout, *gap, *file])
        content = _json(document, [document.title, metadata, *layout], sort_keys=True)
        text = document.text.encode()
        return cls(document, text, record, id_hash(document.id), _hash64(content + b"\0" + text))


def _refuse_what_is_no_text(document: Document) -> None:
    for name in ("id", "title", "text"):
        value = getattr(document, name)
        if not isinstance(value, str):
            raise DataError(f"Document {document.id!a} has a {name} of type {type(value).__name__}; expected text.")
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise DataError(
                f"Document {document.id!a} has half a surrogate pair in its {name}, which no model can read; "
                f"replace it, for example by {name}.encode(errors='replace').decode()."
            ) from error


def _json(document: Document, values: list[object], *, sort_keys: bool = False) -> bytes:
    try:
        return metadata_json(values, sort_keys=sort_keys)
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(
            f"Document {document.id!a} has metadata that JSON cannot hold ({error}); "
            "use texts, finite numbers, true, false, null, lists and mappings with text keys."
        ) from error
