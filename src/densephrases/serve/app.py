"""The service as an ASGI application."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from densephrases.serve.api import answers, documents, extract, info, pages
from densephrases.serve.api.openapi import with_limits
from densephrases.serve.page.static import add_page
from densephrases.serve.problems import add_problem_handlers
from densephrases.serve.runtime.middleware import Middleware
from densephrases.serve.runtime.service import Service
from densephrases.version import __version__

_DESCRIPTION = """Answers questions from an index of documents with the exact phrase and its position in the text.

Offsets count the characters (Unicode code points) of the document's text. Errors are problem details (RFC 9457)."""


def create_app(service: Service) -> Middleware:
    """The ASGI application of a service; it starts and stops with the server."""
    app = FastAPI(
        title="DensePhrases",
        version=__version__,
        description=_DESCRIPTION,
        docs_url=None,  # these pages load scripts from other hosts; serve/page has one that does not
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
    )
    app.state.service = service
    for module in (answers, extract, documents, pages, info):
        app.include_router(module.router)
    add_page(app)
    add_problem_handlers(app)
    if service.settings.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(service.settings.origins),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Authorization", "Content-Type"],
            expose_headers=["Retry-After", "X-Request-Id"],
        )
    _describe_limits(app, service)
    return Middleware(app, service.settings, service.metrics)


def _describe_limits(app: FastAPI, service: Service) -> None:
    plain = app.openapi

    def openapi() -> dict[str, Any]:
        return app.openapi_schema or with_limits(plain(), service.settings.limits)

    app.openapi = openapi  # type: ignore[method-assign]


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    service: Service = app.state.service
    service.start()
    try:
        yield
    finally:
        await service.stop()
