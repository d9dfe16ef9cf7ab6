"""/v1/documents: read, add and delete documents."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from densephrases.index.progress import Progress
from densephrases.index.segment.document_keys import PreparedDocument
from densephrases.json_input import depth
from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.api.answers import json_response, seconds_left
from densephrases.serve.api.auth import TheService, require_admin_key, require_key
from densephrases.serve.api.openapi import problems
from densephrases.serve.api.schemas import (
    AddDocumentsBody,
    AddDocumentsResponse,
    DeleteDocumentsResponse,
    DocumentResponse,
)
from densephrases.serve.problems import Problem, over_limit
from densephrases.text.documents import Document

router = APIRouter(tags=["documents"])

_DEEPEST_METADATA = 32

Offset = Annotated[int | None, Query(ge=0, description="Offset of an answer, in code points.")]


@router.get(
    "/v1/documents/{id:path}",
    response_model=DocumentResponse,
    responses=problems(401, 404, 422),
    dependencies=[Depends(require_key)],
)
async def document(id: str, service: TheService, start: Offset = None, end: Offset = None) -> Response:  # noqa: A002
    """A document as it was indexed; with `start` and `end`, also the phrase between them."""
    found = await asyncio.to_thread(service.live.index.document, id)
    if found is None:
        raise Problem(404, "unknown_document", "The index has no document with this id.")
    content: dict[str, Any] = {
        "id": found.id,
        "title": found.title,
        "metadata": dict(found.metadata),
        "text": found.text,
        "phrase": _phrase(found.text, start, end),
        "page": None if start is None else found.layout.page(start),
        "shown": service.page_files.path(found) is not None,
    }
    return json_response(content)


def _phrase(text: str, start: int | None, end: int | None) -> dict[str, Any] | None:
    if start is None and end is None:
        return None
    if start is None or end is None or not start <= end <= len(text):
        raise Problem(
            422, "invalid", f"start={start} and end={end} are no span of the text, which has {len(text):,} characters."
        )
    return {"text": text[start:end], "start": start, "end": end}


@router.post(
    "/v1/documents",
    response_model=AddDocumentsResponse,
    responses=problems(401, 403, 409, 413, 422, 503, 507),
    dependencies=[Depends(require_admin_key)],
)
async def add(body: AddDocumentsBody, request: Request, service: TheService) -> Response:
    """Add or replace documents; the response is sent once they can be searched."""
    documents = [Document(each.id, each.text, each.title, each.metadata) for each in body.documents]
    _refuse_unusable(documents, service.settings.limits.documents)
    request.state.logged = {"documents": len(documents)}

    def change(index: PhraseIndex) -> Progress:
        if body.replace:
            return index.update(documents)
        _refuse_changed_content(index, documents)
        return index.add(documents)

    done = await service.change(change, seconds_left(request))
    counts = {"added": done.documents - done.replaced, "replaced": done.replaced, "unchanged": done.unchanged}
    return json_response(counts | {"documents": len(service.live.index)})


def _refuse_unusable(documents: Sequence[Document], most: int) -> None:
    """Before anything is written: an update that fails halfway keeps its first half."""
    if len(documents) > most:
        raise over_limit("documents", f"The request has {len(documents):,} documents", most)
    identifier, count = Counter(each.id for each in documents).most_common(1)[0]
    if count > 1:
        raise Problem(422, "invalid", f"Two documents have the id {identifier!r}; every document needs its own.")
    for each in documents:
        _refuse_deep_metadata(each)
        PreparedDocument.from_document(each)  # refuses what an index cannot hold


def _refuse_deep_metadata(document: Document) -> None:
    if depth(document.metadata) > _DEEPEST_METADATA:
        raise Problem(
            422,
            "invalid",
            f"The metadata of document {document.id!r} are nested more than {_DEEPEST_METADATA} deep; flatten them.",
        )


def _refuse_changed_content(index: PhraseIndex, documents: list[Document]) -> None:
    for each in documents:
        if (indexed := index.document(each.id)) is not None and _digest(indexed) != _digest(each):
            raise Problem(
                409,
                "other_content",
                f"The index has a document with id {each.id!r} and different content; send 'replace': true, "
                "or delete it first.",
            )


def _digest(document: Document) -> int:
    return PreparedDocument.from_document(document).digest


@router.delete(
    "/v1/documents",
    response_model=DeleteDocumentsResponse,
    responses=problems(401, 403, 404, 409, 422, 503, 507),
    dependencies=[Depends(require_admin_key)],
)
async def delete(
    request: Request,
    service: TheService,
    id: Annotated[list[str], Query(min_length=1, description="Document id; may be repeated.")],  # noqa: A002
) -> Response:
    """Delete documents; if an id is unknown, none is deleted."""
    limit = service.settings.limits.documents
    if len(id) > limit:
        raise over_limit("documents", f"The request names {len(id):,} documents", limit)
    request.state.logged = {"documents": len(set(id))}

    def change(index: PhraseIndex) -> int:
        if unknown := next((each for each in id if index.document(each) is None), None):
            raise Problem(404, "unknown_document", f"The index has no document with id {unknown!r}; none was deleted.")
        return index.delete(id)

    deleted = await service.change(change, seconds_left(request))
    return json_response({"deleted": deleted, "documents": len(service.live.index)})
