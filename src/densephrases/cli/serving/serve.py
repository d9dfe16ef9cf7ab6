"""`densephrases serve`: the HTTP service."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from densephrases.cli.extras import require
from densephrases.cli.lines import counted
from densephrases.cli.options import IndexArgument
from densephrases.cli.serving.service_options import address_of, configure_log, warn_without_keys, with_service_options
from densephrases.errors import ConfigError
from densephrases.serve.keys import Keys
from densephrases.serve.settings import ServiceSettings

Workers = Annotated[int, typer.Option(help="Processes that share the port.")]
AdminKeyFile = Annotated[
    Path | None, typer.Option(help="Admin keys, one per line; without it the index cannot be changed.")
]
Pages = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Show pages of the indexed PDF files of this folder [default: no files]."),
]


@with_service_options
def serve(
    folder: IndexArgument,
    *,
    host: str,
    port: int,
    settings: ServiceSettings,
    workers: Workers = 1,
    admin_key_file: AdminKeyFile = None,
    pages: Pages = None,
) -> None:
    """Serve an index over HTTP.

    The log goes to stderr, one JSON object per line. Changes to the index are served as soon as they are written.
    """
    require("serve", "fastapi", "uvicorn", "prometheus_client")
    if workers < 1:
        raise ConfigError(f"--workers={workers} is no number of processes; expected at least 1.")
    keys = replace(settings.keys, admin=Keys.read(None, admin_key_file).admin)
    _run(replace(settings, index=folder, keys=keys, pages=pages), host, port, workers)


def _run(settings: ServiceSettings, host: str, port: int, workers: int) -> None:
    from densephrases.serve.runtime.service import open_index
    from densephrases.serve.server import bind
    from densephrases.serve.server import serve as run

    configure_log()
    index = open_index(settings)
    sockets = bind(host, port, workers)
    warn_without_keys(host, settings.keys)
    port = sockets[0].getsockname()[1]
    typer.echo(f"Serving {counted(len(index), 'document')} at {address_of(host, port)}; Ctrl-C stops.")
    sys.stdout.flush()
    run(settings, sockets, index, configure_log)
