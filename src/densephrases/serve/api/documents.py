"""/v1/documents: one whole document; adding and deleting them."""

import asyncio
import json
from collections import Counter
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from densephrases.index.progress import Progress
from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.api.answers import json_response
from densephrases.serve.api.auth import TheService, require_admin_key, require_key
from densephrases.serve.api.openapi import problems
from densephrases.serve.api.schemas import Added, Deleted, SentDocument, SentDocuments, WholeDocument
from densephrases.serve.problems import Problem, over_limit
from densephrases.text.documents import Document

router = APIRouter(tags=["documents"])

Offset = Annotated[int | None, Query(ge=0, description="An answer's offset, in code points.")]


@router.get(
    "/v1/documents/{id:path}",
    response_model=WholeDocument,
    responses=problems(401, 404, 422),
    dependencies=[Depends(require_key)],
)
async def document(id: str, service: TheService, start: Offset = None, end: Offset = None) -> Response:  # noqa: A002
    """A document as it was indexed; with `start` and `end`, also the phrase that stands there."""
    found = await asyncio.to_thread(service.current.index.document, id)
    if found is None:
        raise Problem(404, "unknown_document", "The index has no document with this id.")
    content: dict[str, Any] = {
        "id": found.id,
        "title": found.title,
        "metadata": dict(found.metadata),
        "text": found.text,
        "phrase": _phrase(found.text, start, end),
    }
    return json_response(content)


def _phrase(text: str, start: int | None, end: int | None) -> dict[str, Any] | None:
    if start is None and end is None:
        return None
    if start is None or end is None or not start <= end <= len(text):
        raise Problem(422, "invalid", f"start and end name no part of the text, which has {len(text):,} characters.")
    return {"text": text[start:end], "start": start, "end": end}


@router.post(
    "/v1/documents",
    response_model=Added,
    responses=problems(401, 403, 409, 413, 422, 503),
    dependencies=[Depends(require_admin_key)],
)
async def add(sent: SentDocuments, request: Request, service: TheService) -> Response:
    """Add documents, or replace them; the answer comes when they can be found."""
    _refuse_unusable(sent, service.settings.limits.documents)
    documents = [Document(each.id, each.text, each.title, each.metadata) for each in sent.documents]
    request.state.logged = {"documents": len(documents)}

    def change(index: PhraseIndex) -> Progress:
        if sent.replace:
            return index.update(documents)
        _refuse_other_content(index, documents)
        return index.add(documents)

    done = await service.change(change)
    counts = {"added": done.documents - done.replaced, "replaced": done.replaced, "unchanged": done.unchanged}
    return json_response(counts | {"documents": len(service.current.index)})


def _refuse_unusable(sent: SentDocuments, most: int) -> None:
    """Before anything is written: a build that fails halfway keeps its first half."""
    if len(sent.documents) > most:
        raise over_limit("documents", f"The request has {len(sent.documents):,} documents", most)
    identifier, count = Counter(each.id for each in sent.documents).most_common(1)[0]
    if count > 1:
        raise Problem(422, "invalid", f"Two documents have the id {identifier!r}; every document needs its own.")
    for each in sent.documents:
        _refuse_odd_metadata(each)


def _refuse_odd_metadata(sent: SentDocument) -> None:
    try:
        json.dumps(sent.metadata, allow_nan=False)
    except ValueError:
        raise Problem(
            422, "invalid", f"The metadata of document {sent.id!r} holds NaN or infinity, which JSON has not."
        ) from None


def _refuse_other_content(index: PhraseIndex, documents: list[Document]) -> None:
    for each in documents:
        if (there := index.document(each.id)) is not None and there != each:
            raise Problem(
                409,
                "other_content",
                f"The index has a document with id {each.id!r} and another content; send 'replace': true, "
                "or delete it first.",
            )


@router.delete(
    "/v1/documents",
    response_model=Deleted,
    responses=problems(401, 403, 404, 409, 422, 503),
    dependencies=[Depends(require_admin_key)],
)
async def delete(
    request: Request,
    service: TheService,
    id: Annotated[list[str], Query(min_length=1, description="Ids; may be given several times.")],  # noqa: A002
) -> Response:
    """Delete documents; if one is unknown, none is deleted."""
    limit = service.settings.limits.documents
    if len(id) > limit:
        raise over_limit("documents", f"The request names {len(id):,} documents", limit)
    request.state.logged = {"documents": len(set(id))}

    def change(index: PhraseIndex) -> int:
        if unknown := next((each for each in id if index.document(each) is None), None):
            raise Problem(404, "unknown_document", f"The index has no document with id {unknown!r}; none was deleted.")
        return index.delete(id)

    deleted = await service.change(change)
    return json_response({"deleted": deleted, "documents": len(service.current.index)})
