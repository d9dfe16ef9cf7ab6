"""Serves the search page at `/`, the description of the API at `/docs`, and their static files below `/page`."""

from pathlib import Path

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from densephrases.serve.runtime.middleware import PAGE_POLICY

PAGE_FOLDER = Path(__file__).parent / "assets"


class _Page(StaticFiles):
    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Content-Security-Policy"] = PAGE_POLICY
        response.headers["Cache-Control"] = "no-cache"  # revalidated each time; 304 while unchanged
        return response


def add_page(app: FastAPI, folder: Path = PAGE_FOLDER) -> None:
    """Mounted below `/page`: at `/` it would answer unknown paths and methods in place of the API."""
    page = _Page(directory=folder)

    async def index(request: Request) -> Response:
        return await page.get_response("index.html", request.scope)

    async def docs(request: Request) -> Response:
        return await page.get_response("docs.html", request.scope)

    app.add_route("/", index, include_in_schema=False)
    app.add_route("/docs", docs, include_in_schema=False)
    app.mount("/page", page, name="page")
