"""/v1/pages and /v1/page-images: where an answer stands in a PDF file, and pictures of its pages."""

import asyncio
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from densephrases.serve.api.answers import json_response
from densephrases.serve.api.auth import TheService, require_key
from densephrases.serve.api.openapi import problems
from densephrases.serve.api.schemas import PageResponse
from densephrases.serve.problems import Problem
from densephrases.serve.runtime.service import Service
from densephrases.text.documents import Document

router = APIRouter(tags=["pages"])

Start = Annotated[int, Query(ge=0, description="Offset of an answer, in code points.")]
Page = Annotated[int, Query(ge=1, le=1_000_000, description="From 1.")]
Width = Annotated[int, Query(ge=100, le=2000, description="Of the picture, in pixels.")]


@router.get(
    "/v1/pages/{id:path}",
    response_model=PageResponse,
    responses=problems(401, 404, 422, 503),
    dependencies=[Depends(require_key)],
)
async def page(id: str, start: Start, end: Start, service: TheService) -> Response:  # noqa: A002
    """The page of a PDF file that an answer stands on, and its boxes there."""
    document = await _document(id, service)
    if not start <= end <= len(document.text):
        raise Problem(
            422, "invalid", f"start={start} and end={end} are no span of the text of {len(document.text):,} characters."
        )
    boxes = await service.page_files.boxes(document, start, end)
    pages = document.layout.pages
    return json_response(
        {"page": document.layout.page(start), "pages": len(pages), "boxes": [asdict(box) for box in boxes]}
    )


@router.get(
    "/v1/page-images/{id:path}",
    response_class=Response,
    responses={**problems(401, 404, 422, 503), 200: {"content": {"image/png": {}}}},
    dependencies=[Depends(require_key)],
)
async def page_image(id: str, service: TheService, page: Page, width: Width = 1000) -> Response:  # noqa: A002
    """A page of an indexed PDF file as PNG."""
    picture = await service.page_files.image(await _document(id, service), page, width)
    return Response(picture, media_type="image/png")


async def _document(identifier: str, service: Service) -> Document:
    found = await asyncio.to_thread(service.live.index.document, identifier)
    if found is None:
        raise Problem(404, "unknown_document", "The index has no document with this id.")
    return found
