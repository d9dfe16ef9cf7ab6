"""`densephrases cluster stop`: ends a service that was detached."""

from typing import Annotated

import typer

from densephrases.cli.cluster.serve import Name

Address = Annotated[str, typer.Option(help="Ray cluster as HOST:PORT, or 'auto' for that of this machine.")]


def stop(name: Name = "densephrases", address: Address = "auto") -> None:
    """Stop a service that `cluster serve --detach` has left running; others of the cluster go on."""
    from densephrases.cluster.connection import connected
    from densephrases.cluster.serve.rollout import stop_service

    with connected(address):
        stopped = stop_service(name)
    typer.echo(f"Stopped '{name}'." if stopped else f"No service '{name}' is running.")
