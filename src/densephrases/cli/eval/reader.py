"""`densephrases eval reader`: a cross-attention reader on a SQuAD file."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from densephrases.cli.extras import quiet_transformers, require
from densephrases.cli.options import AsJson, SquadData


def reader(
    data: SquadData,
    model: Annotated[Path, typer.Option(help="Folder of a trained reader.")],
    as_json: AsJson = False,
) -> None:
    """Exact match and F1 of a cross-attention reader; needs the extra 'train'."""
    require("train", "torch", "transformers", "safetensors")
    quiet_transformers()
    from densephrases.data.squad import read_squad
    from densephrases.evaluate.reading import ReadingScores
    from densephrases.nn.device import best_device, placed
    from densephrases.nn.reader import Reader
    from densephrases.train.reader import reader_predictions

    loaded = placed(Reader.from_pretrained(model), best_device())
    scores = ReadingScores.from_predictions(reader_predictions(loaded, read_squad(data)))
    if as_json:
        typer.echo(json.dumps(asdict(scores)))
    else:
        typer.echo(f"{scores.questions:,} questions: EM {scores.exact_match:.2f}, F1 {scores.f1:.2f}")
