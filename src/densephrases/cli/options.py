"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated, Any

import typer

from densephrases.index.kinds import Device
from densephrases.search.request import Verify

SquadData = Annotated[Path, typer.Argument(metavar="DATA", help="SQuAD JSON, plain or compressed.")]
Model = Annotated[str, typer.Option(help="A bundled model's name or a model folder.")]
IndexArgument = Annotated[Path, typer.Argument(metavar="INDEX", help="Folder of an index.")]
IndexModel = Annotated[
    str | None,
    typer.Option(
        "--model", help="Name or folder of the index's model, if it has moved [default: as stored in the index]."
    ),
]
DeviceOption = Annotated[Device, typer.Option("--device", help="Encode passages on the CPU or on a GPU.")]
Task = Annotated[str | None, typer.Option(help="Use the model's query encoder for this task.")]
Effort = Annotated[float, typer.Option(help="From 0 (fast) to 1 (thorough).")]
LexicalWeight = Annotated[float | None, typer.Option(help="Weight of lexical overlap [default: the model's].")]
Truecase = Annotated[
    bool, typer.Option(help="Restore capitals in questions without any, if the model distinguishes case.")
]


def passages_to_verify(text: str) -> Verify:
    """A number, or the word that leaves it to the confidence of the first answer."""
    if text != "auto" and not text.isdecimal():
        raise typer.BadParameter(f"{text!r} is neither a number of passages nor 'auto'.")
    return "auto" if text == "auto" else int(text)


VerifyOption = Annotated[
    Any,
    typer.Option(
        "--verify",
        metavar="N|auto",
        parser=passages_to_verify,
        help="Read the first N passages again and put the best phrase first; auto: only where confidence is low "
        "[default: auto if the model reads, else 0].",
    ),
]
PreferTitles = Annotated[bool, typer.Option(help="Prefer answers from documents titled with the subject.")]
KiltFile = Annotated[Path | None, typer.Option(help="Write predictions in KILT's format to this file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
Cpu = Annotated[bool, typer.Option("--cpu", help="Use the CPU even if there is a GPU.")]
