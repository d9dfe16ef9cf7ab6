"""`densephrases generate`: questions that nobody asked, as further training data."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from densephrases.cli.extras import quiet_transformers, require
from densephrases.cli.lines import counted
from densephrases.cli.options import AsJson, Cpu
from densephrases.data.generated.candidate_answers import PIPELINE, Kind
from densephrases.errors import ConfigError

if TYPE_CHECKING:
    from densephrases.data.decontaminate import LeakReport
    from densephrases.data.generated.without_passages import Amount
    from densephrases.train.augment.round_trip import FilterReport

app = typer.Typer(
    help="Generate questions for training (needs the extras 'train' and 'questions').",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
console = Console(stderr=True, highlight=False)

NO_PASSAGES = "No passages were given; name a file with --passages."

Exclude = Annotated[
    list[Path] | None, typer.Option(help="A SQuAD file whose articles and passages may not enter; repeatable.")
]
Passages = Annotated[
    list[Path] | None, typer.Option("--passages", help="SQuAD JSON (.json) or documents (.jsonl, .txt, ...).")
]
Kinds = Annotated[list[Kind] | None, typer.Option("--kind", help="Candidate answers; repeatable [default: entities].")]
Pipeline = Annotated[str, typer.Option(help="The spaCy pipeline that finds entities and noun phrases.")]
Limit = Annotated[int | None, typer.Option(help="Take only the first so many passages [default: all].")]
Resume = Annotated[bool, typer.Option(help="Go on with a run that was stopped.")]


@app.command()
def answers(
    out: Annotated[Path, typer.Option(help="The answers file to write, JSON lines.")],
    passages: Passages = None,
    kinds: Kinds = None,
    pipeline: Pipeline = PIPELINE,
    exclude: Exclude = None,
    limit: Limit = None,
    resume: Resume = True,
) -> None:
    """Find the candidate answers of passages; needs no GPU, and what follows needs no spaCy."""
    if not passages:
        raise ConfigError(NO_PASSAGES)
    _extract(passages, out, kinds, pipeline, exclude, limit, resume)


@app.command()
def questions(
    model: Annotated[Path, typer.Option(help="Folder of a question generator (see: train questions).")],
    out: Annotated[Path, typer.Option(help="The SQuAD JSON file to write; .gz or .xz compresses it.")],
    answers: Annotated[Path | None, typer.Option(help="An answers file, instead of --passages.")] = None,
    passages: Passages = None,
    kinds: Kinds = None,
    pipeline: Pipeline = PIPELINE,
    exclude: Exclude = None,
    per_passage: Annotated[int, typer.Option(help="At most so many questions for a passage.")] = 10,
    beams: Annotated[int, typer.Option(help="Take the best of so many questions; 1 is greedy.")] = 1,
    sample: Annotated[bool, typer.Option("--sample", help="Draw words by their probabilities.")] = False,
    temperature: Annotated[float, typer.Option(help="Of --sample.")] = 1.0,
    top_p: Annotated[float, typer.Option(help="Of --sample.")] = 0.9,
    seed: Annotated[int, typer.Option(help="Decides what is drawn, for each passage by itself.")] = 42,
    batch_tokens: Annotated[int, typer.Option(help="Tokens of the passages read at once.")] = 65536,
    limit: Limit = None,
    resume: Resume = True,
    cpu: Cpu = False,
) -> None:
    """Write a question for each candidate answer."""
    if bool(passages) == bool(answers):
        raise ConfigError("Give either --passages or --answers, the passages with their candidate answers.")
    require("train", "torch", "transformers", "safetensors")
    quiet_transformers()
    from densephrases.model.prompts import GeneratorConfig
    from densephrases.nn.question_generator import Decoding
    from densephrases.train.augment.generate import Generation, generate_questions

    GeneratorConfig.load(model)  # anything else is refused before passages are read
    decoding = Decoding(beams=beams, sample=sample, temperature=temperature, top_p=top_p, seed=seed)
    found = answers or out.with_name(f"{out.name}.answers.jsonl")
    if passages:
        _extract(passages, found, kinds, pipeline, exclude, limit, resume)
    generation = Generation(
        answers=found,
        exclude=tuple(exclude or ()),
        per_passage=per_passage,
        decoding=decoding,
        tokens_per_batch=batch_tokens,
        limit=limit,
    )
    with _bar("passages") as advance:
        report = generate_questions(generation, model, out, resume, cpu, advance)
    _show_leaks(report.leaks, exclude)
    typer.echo(
        f"{counted(report.kept, 'question')} for {counted(report.passages, 'passage')} in {out}: of "
        f"{counted(report.candidates, 'candidate answer')} {report.unfinished:,} gave no whole question "
        f"and {report.duplicates:,} one that was asked before."
    )


@app.command("filter")
def filter_(
    file: Annotated[Path, typer.Argument(help="SQuAD JSON with generated questions.")],
    reader: Annotated[Path, typer.Option(help="Folder of a trained reader.")],
    out: Annotated[Path, typer.Option(help="The SQuAD JSON file to write; .gz or .xz compresses it.")],
    f1: Annotated[float | None, typer.Option(help="Keep from this F1 on [default: exact matches only].")] = None,
    exclude: Exclude = None,
    as_json: AsJson = False,
    cpu: Cpu = False,
) -> None:
    """Keep the questions that a reader answers with the answer they were made from."""
    require("train", "torch", "transformers", "safetensors")
    quiet_transformers()
    from densephrases.train.augment.round_trip import filter_questions

    with _bar("passages") as advance:
        report = filter_questions(file, reader, out, f1, exclude or [], cpu, advance)
    _show_leaks(report.leaks, exclude)
    if as_json:
        rows = {name: {"questions": read, "passed": passed} for name, read, passed in report.rows()}
        typer.echo(json.dumps({"types": rows, "leaks": asdict(report.leaks)}))
    else:
        Console(highlight=False).print(_table(report))


@app.command()
def detach(
    file: Annotated[Path, typer.Argument(help="SQuAD JSON with generated questions.")],
    out: Annotated[Path, typer.Option(help="The questions file to write, JSON lines; .xz compresses it.")],
) -> None:
    """Write questions without their passages: small, to be shared with all who have the passages."""
    from densephrases.data.generated.without_passages import detach_questions

    typer.echo(f"{_amount(detach_questions(file, out))} in {out}.")


@app.command()
def attach(
    file: Annotated[Path, typer.Argument(metavar="QUESTIONS", help="Questions without passages (see: detach).")],
    out: Annotated[Path, typer.Option(help="The SQuAD JSON file to write; .gz or .xz compresses it.")],
    passages: Passages = None,
) -> None:
    """Join questions to their passages again, for training."""
    if not passages:
        raise ConfigError(NO_PASSAGES)
    from densephrases.data.generated.without_passages import attach_questions

    with _bar("passages") as advance:
        report = attach_questions(file, passages, out, advance)
    typer.echo(f"{_amount(report.attached)} in {out}.")
    if report.missing.passages:
        names = ", ".join(path.name for path in passages)
        typer.echo(f"{_amount(report.missing)} left out: not in {names}.")


def _amount(amount: "Amount") -> str:
    return f"{counted(amount.questions, 'question')} about {counted(amount.passages, 'passage')}"


def _extract(
    passages: list[Path],
    out: Path,
    kinds: list[Kind] | None,
    pipeline: str,
    exclude: list[Path] | None,
    limit: int | None,
    resume: bool,
) -> None:
    from densephrases.data.generated.answers_file import Extraction, extract_answers
    from densephrases.data.generated.resumable_lines import PartialLines

    extraction = Extraction(
        passages=tuple(passages),
        kinds=tuple(kinds or [Kind.entities]),
        pipeline=pipeline,
        exclude=tuple(exclude or ()),
        limit=limit,
    )
    if resume and PartialLines.is_finished(out, extraction.settings()):
        console.print(f"The answers in {out} have been found before.")
        return
    with _bar("passages with answers") as advance:
        report = extract_answers(extraction, out, resume, advance)
    _show_leaks(report.leaks, exclude)
    shown = ", ".join(f"{name} {count:,}" for name, count in report.types.most_common())
    total = counted(report.types.total(), "candidate answer")
    typer.echo(f"{total} in {counted(report.passages, 'passage')} in {out}: {shown or 'none'}.")


@contextmanager
def _bar(name: str) -> Iterator[Callable[[int], None]]:
    """How many are done; nothing is shown before the first, so that a mistake is one sentence."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    bar = Progress(*columns, TimeElapsedColumn(), console=console)
    task = bar.add_task(name, total=None)

    def advance(count: int) -> None:
        if count:
            bar.start()
        bar.update(task, advance=count)

    try:
        yield advance
    finally:
        if bar.live.is_started:  # else it would end a line that was never begun
            bar.stop()


def _show_leaks(leaks: "LeakReport", exclude: list[Path] | None) -> None:
    if exclude:
        console.print(f"{leaks}.")
    else:
        console.print("Nothing was checked against test files: name them with --exclude.")


def _table(report: "FilterReport") -> Table:
    table = Table("type", "questions", "passed", "share %")
    for name, read, passed in report.rows():
        table.add_row(name, f"{read:,}", f"{passed:,}", f"{100 * passed / max(read, 1):.1f}")
    return table
