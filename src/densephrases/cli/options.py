"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

SquadData = Annotated[Path, typer.Argument(metavar="DATA", help="SQuAD JSON, plain or compressed.")]
Model = Annotated[str, typer.Option(help="A bundled model's name or a model folder.")]
IndexArgument = Annotated[Path, typer.Argument(metavar="INDEX", help="Folder of an index.")]
IndexModel = Annotated[
    str | None, typer.Option("--model", help="Where the index's model is found now [default: where it was].")
]
Task = Annotated[str | None, typer.Option(help="Ask with the query encoder the model has for this task.")]
Effort = Annotated[float, typer.Option(help="From 0, fast, to 1, thorough.")]
LexicalWeight = Annotated[float | None, typer.Option(help="Weight of lexical overlap [default: the model's].")]
Truecase = Annotated[bool, typer.Option(help="Give capitals to questions without any, for models that know capitals.")]
PreferTitles = Annotated[bool, typer.Option(help="Prefer answers from documents whose title is the subject.")]
KiltFile = Annotated[Path | None, typer.Option(help="Write predictions in KILT's format to this file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
Cpu = Annotated[bool, typer.Option("--cpu", help="Use the CPU even where there is a GPU.")]
