"""Options of several generation commands."""

from pathlib import Path
from typing import Annotated

import typer

from densephrases.data.generated.candidate_answers import AnswerKind

NO_PASSAGES = "No passages were given; name a file with --passages."

Exclude = Annotated[
    list[Path] | None, typer.Option(help="SQuAD file whose articles and passages are left out; repeatable.")
]
ExcludeQuestions = Annotated[
    list[Path] | None,
    typer.Option(
        "--exclude",
        help="SQuAD file whose articles, passages and questions are left out, or a file of such questions; repeatable.",
    ),
]
Passages = Annotated[
    list[Path] | None,
    typer.Option("--passages", help="SQuAD JSON (.json) or documents (.jsonl, .txt, ...); repeatable."),
]
Kinds = Annotated[
    list[AnswerKind] | None, typer.Option("--kind", help="Kind of candidate answers; repeatable [default: entities].")
]
Pipeline = Annotated[str, typer.Option(help="spaCy pipeline that finds entities and noun phrases.")]
Limit = Annotated[int | None, typer.Option(help="Use only the first passages, up to this number [default: all].")]
Resume = Annotated[bool, typer.Option(help="Continue an interrupted run.")]
SquadOut = Annotated[Path, typer.Option("--out", "-o", help="SQuAD JSON file to write; .gz or .xz compresses it.")]
GeneratedFile = Annotated[Path, typer.Argument(metavar="FILE", help="SQuAD JSON with generated questions.")]
