"""`densephrases eval`: commands that measure a model or an index and change nothing, one file each."""

import typer

from densephrases.cli.eval import confidence, open_domain, own, reader, reading, slots

app = typer.Typer(
    help="Measure models and indexes on annotated questions.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
app.command("reading")(reading.reading)
app.command("open")(open_domain.open_domain)
app.command("own")(own.own)
app.command("slots")(slots.slots)
app.command("confidence")(confidence.confidence)
app.command("reader")(reader.reader)
