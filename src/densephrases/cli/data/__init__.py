"""`densephrases data`: published data sets, one command per file."""

import typer

from densephrases.cli.data import get, list_data

app = typer.Typer(
    help="Get published data sets from their owners, in formats that the commands read.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
app.command("list")(list_data.list_data)
app.command("get")(get.get)
