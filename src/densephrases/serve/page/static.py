"""The page at `/`; its parts are static files below `/page`."""

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
        response.headers["Cache-Control"] = "no-cache"  # asked again, answered with 304 while it is the same
        return response


def add_page(app: FastAPI, folder: Path = PAGE_FOLDER) -> None:
    """Not mounted at `/` itself, where it would take the place of every refusal of an address or a method."""
    page = _Page(directory=folder)

    async def index(request: Request) -> Response:
        return await page.get_response("index.html", request.scope)

    app.add_route("/", index, include_in_schema=False)
    app.mount("/page", page, name="page")
