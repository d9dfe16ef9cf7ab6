"""`densephrases mcp`: an index as a tool of assistants."""

from typing import Annotated

import typer

from densephrases.cli.extras import require
from densephrases.cli.options import IndexModel


def mcp(
    index: Annotated[str, typer.Argument(metavar="INDEX", help="Folder of an index, or address of a service.")],
    model: IndexModel = None,
    api_key: Annotated[
        str | None, typer.Option(envvar="DENSEPHRASES_API_KEY", help="Key of the service, if it needs one.")
    ] = None,
) -> None:
    """Let an assistant ask an index: a Model Context Protocol server on stdin and stdout."""
    require("mcp", "mcp")
    from densephrases.integrations.mcp import create_server
    from densephrases.integrations.source import Source

    create_server(Source(index, api_key, model)).run("stdio")
