"""`densephrases mcp`: an index as a tool for assistants."""

from typing import Annotated

import typer

from densephrases.cli.extras import require
from densephrases.cli.options import IndexModel


def mcp(
    index: Annotated[str, typer.Argument(metavar="INDEX", help="Folder of an index, or URL of a service.")],
    model: IndexModel = None,
    api_key: Annotated[
        str | None, typer.Option(envvar="DENSEPHRASES_API_KEY", help="API key of the service, if it requires one.")
    ] = None,
) -> None:
    """Run a Model Context Protocol server on stdin and stdout, through which assistants ask the index."""
    require("mcp", "mcp")
    from densephrases.integrations.mcp import create_server
    from densephrases.integrations.source import Source

    create_server(Source(index, api_key, model)).run("stdio")
