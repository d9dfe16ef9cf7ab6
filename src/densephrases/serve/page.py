"""The page at `/`: static files, if there are any."""

from pathlib import Path

from fastapi import FastAPI
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from densephrases.serve.envelope import PAGE_POLICY

PAGE_FOLDER = Path(__file__).parent / "page"


class _Page(StaticFiles):
    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Content-Security-Policy"] = PAGE_POLICY
        response.headers["Cache-Control"] = "no-cache"  # asked again, answered with 304 while it is the same
        return response


def add_page(app: FastAPI, folder: Path = PAGE_FOLDER) -> None:
    if (folder / "index.html").is_file():
        app.mount("/", _Page(directory=folder, html=True), name="page")
