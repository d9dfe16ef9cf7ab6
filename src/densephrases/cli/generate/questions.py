"""`densephrases generate questions`: write a question for each candidate answer."""

from pathlib import Path
from typing import Annotated

import typer

from densephrases.cli.extras import quiet_transformers, require
from densephrases.cli.generate.answers import write_answers
from densephrases.cli.generate.options import Exclude, Kinds, Limit, Passages, Pipeline, Resume, SquadOut
from densephrases.cli.generate.progress import progress_bar, show_leaks
from densephrases.cli.lines import counted
from densephrases.cli.options import Cpu
from densephrases.data.generated.candidate_answers import PIPELINE
from densephrases.errors import ConfigError


def questions(
    model: Annotated[Path, typer.Option(help="Folder of a question generator (see: train questions).")],
    out: SquadOut,
    answers: Annotated[Path | None, typer.Option(help="Answers file, instead of --passages.")] = None,
    passages: Passages = None,
    kinds: Kinds = None,
    pipeline: Pipeline = PIPELINE,
    exclude: Exclude = None,
    per_passage: Annotated[int, typer.Option(help="Maximum number of questions per passage.")] = 10,
    beams: Annotated[int, typer.Option(help="Number of beams; 1 decodes greedily.")] = 1,
    sample: Annotated[bool, typer.Option("--sample", help="Sample tokens by their probability.")] = False,
    temperature: Annotated[float, typer.Option(help="Temperature of --sample.")] = 1.0,
    top_p: Annotated[float, typer.Option(help="Nucleus size of --sample.")] = 0.9,
    seed: Annotated[int, typer.Option(help="Seed of --sample and --per-passage.")] = 42,
    batch_tokens: Annotated[int, typer.Option(help="Prompt tokens per batch.")] = 65536,
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

    GeneratorConfig.load(model)  # refuses any other folder before passages are read
    decoding = Decoding(beams=beams, sample=sample, temperature=temperature, top_p=top_p, seed=seed)
    found = answers or out.with_name(f"{out.name}.answers.jsonl")
    if passages:
        write_answers(passages, found, kinds, pipeline, exclude, limit, resume)
    generation = Generation(
        answers=found,
        exclude=tuple(exclude or ()),
        per_passage=per_passage,
        decoding=decoding,
        tokens_per_batch=batch_tokens,
        limit=limit,
    )
    with progress_bar("passages") as advance:
        report = generate_questions(generation, model, out, resume, cpu, advance)
    show_leaks(report.leaks, exclude)
    typer.echo(
        f"{counted(report.kept, 'question')} for {counted(report.passages, 'passage')} in {out}. Of "
        f"{counted(report.candidates, 'candidate answer')}, {report.unfinished:,} gave an incomplete question "
        f"and {report.duplicates:,} a duplicate."
    )
