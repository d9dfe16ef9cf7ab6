"""The commands `densephrases train ...`, one module for each."""

import typer

from densephrases.cli.train.average import average
from densephrases.cli.train.by_recipe import add_recipe_commands
from densephrases.cli.train.queries import queries

app = typer.Typer(
    help="Train models (requires the extra 'train').", no_args_is_help=True, add_completion=False, rich_markup_mode=None
)
add_recipe_commands(app)
app.command()(queries)
app.command()(average)
