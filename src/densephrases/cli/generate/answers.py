"""`densephrases generate answers`: find candidate answers in passages."""

from pathlib import Path
from typing import Annotated

import typer

from densephrases.cli.generate.options import NO_PASSAGES, Exclude, Kinds, Limit, Passages, Pipeline, Resume
from densephrases.cli.generate.progress import console, progress_bar, show_leaks
from densephrases.cli.lines import counted
from densephrases.data.generated.candidate_answers import PIPELINE, AnswerKind
from densephrases.errors import ConfigError


def answers(
    out: Annotated[Path, typer.Option("--out", "-o", help="Answers file to write (JSON lines).")],
    passages: Passages = None,
    kinds: Kinds = None,
    pipeline: Pipeline = PIPELINE,
    exclude: Exclude = None,
    limit: Limit = None,
    resume: Resume = True,
) -> None:
    """Find candidate answers in passages; needs spaCy but no GPU."""
    if not passages:
        raise ConfigError(NO_PASSAGES)
    write_answers(passages, out, kinds, pipeline, exclude, limit, resume)


def write_answers(
    passages: list[Path],
    out: Path,
    kinds: list[AnswerKind] | None,
    pipeline: str,
    exclude: list[Path] | None,
    limit: int | None,
    resume: bool,
) -> None:
    from densephrases.data.generated.answers_file import AnswerExtraction, extract_answers
    from densephrases.data.generated.resumable_lines import ResumableLines

    extraction = AnswerExtraction(
        passages=tuple(passages),
        kinds=tuple(kinds or [AnswerKind.entities]),
        pipeline=pipeline,
        exclude=tuple(exclude or ()),
        limit=limit,
    )
    if resume and ResumableLines.is_finished(out, extraction.settings()):
        console.print(f"Reusing the answers in {out}, which were found before.")
        return
    with progress_bar("passages with answers") as advance:
        report = extract_answers(extraction, out, resume, advance)
    show_leaks(report.leaks, exclude)
    shown = ", ".join(f"{name} {count:,}" for name, count in report.types.most_common())
    total = counted(report.types.total(), "candidate answer")
    typer.echo(f"{total} in {counted(report.passages, 'passage')} in {out}: {shown or 'none'}.")
