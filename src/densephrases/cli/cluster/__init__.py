"""`densephrases cluster`: commands that work on several machines with Ray, one file each."""

import typer

from densephrases.cli.cluster import build, serve, stop

app = typer.Typer(
    help="Build and serve indexes on several machines with Ray.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

app.command("build")(build.build)
app.command("serve")(serve.serve)
app.command("stop")(stop.stop)
