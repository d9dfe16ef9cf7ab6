"""The commands `densephrases generate ...`, one module for each."""

import typer

from densephrases.cli.generate.answers import answers
from densephrases.cli.generate.distant import distant
from densephrases.cli.generate.filter_questions import filter_questions
from densephrases.cli.generate.join_passages import join_passages
from densephrases.cli.generate.questions import questions
from densephrases.cli.generate.strip_passages import strip_passages

app = typer.Typer(
    help="Make questions for passages, and passages for questions (requires the extras 'train' and 'questions').",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
app.command()(answers)
app.command()(questions)
app.command()(distant)
app.command("filter")(filter_questions)
app.command()(strip_passages)
app.command()(join_passages)
