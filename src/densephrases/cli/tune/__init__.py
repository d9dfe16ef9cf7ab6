"""`densephrases tune`: commands that choose a setting on a dev set and store it in a model folder, one file each."""

import typer

from densephrases.cli.tune import (
    confidence,
    filter_threshold,
    length_penalty,
    lexical_weight,
    quantizer,
    ranking,
    verification,
)

app = typer.Typer(
    help="Choose settings of a model on annotated questions and store them in its folder.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
app.command("filter")(filter_threshold.filter_)
app.command("length")(length_penalty.length)
app.command("lexical")(lexical_weight.lexical)
app.command("ranking")(ranking.ranking)
app.command("quantizer")(quantizer.quantizer)
app.command("confidence")(confidence.confidence)
app.command("verification")(verification.verification)
