"""`densephrases train queries`: fine-tune the query encoder on questions about an index."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from densephrases.cli.options import Cpu
from densephrases.cli.train.options import Resume, Settings, require_training
from densephrases.train.queries.target import Target


def queries(
    index: Annotated[Path, typer.Option(help="Folder of the index to retrieve from.")],
    data: Annotated[list[Path], typer.Option(help="Questions with answers, in any format of `eval open`; repeatable.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Model folder: a new one, or with --task also MODEL itself.")
    ],
    dev: Annotated[
        Path | None, typer.Option(help="Questions that select the best epoch [default: some of DATA].")
    ] = None,
    model: Annotated[str | None, typer.Option(help="Model to start from [default: the index's].")] = None,
    task: Annotated[str | None, typer.Option(help="Save as the query encoder of this task.")] = None,
    keep: Annotated[
        list[Path] | None, typer.Option(help="Questions whose vectors shall stay as they are; repeatable.")
    ] = None,
    rank: Annotated[
        int,
        typer.Option(help="Train matrices of this rank beside the shared backbone; 0: a backbone of its own."),
    ] = 0,
    target: Annotated[Target, typer.Option(help="What has to be retrieved.")] = "phrase",
    top_k: Annotated[int, typer.Option(help="Retrieved results per question that enter the loss.")] = 100,
    epochs: Annotated[int, typer.Option(help="Passes over the questions.")] = 10,
    learning_rate: Annotated[float, typer.Option(help="Peak learning rate.")] = 3e-5,
    batch_size: Annotated[int, typer.Option(help="Questions per step.")] = 12,
    refresh_every: Annotated[int, typer.Option(help="Steps between two retrievals with the current encoder.")] = 50,
    limit: Annotated[int | None, typer.Option(help="Train on a random sample of this size [default: all].")] = None,
    processes: Annotated[
        int | None, typer.Option(help="Processes for retrieval [default: one per core, 1 on a small machine].")
    ] = None,
    settings: Settings = None,
    resume: Resume = True,
    cpu: Cpu = False,
) -> None:
    """Fine-tune the query encoder to retrieve answers from an index, which does not change."""
    require_training()
    from densephrases.cli.show.training import watch_training
    from densephrases.index.folder import IndexFolder
    from densephrases.model.tasks import task_folder
    from densephrases.train.loop.recipes import override
    from densephrases.train.queries.recipe import QueryRecipe, train_queries
    from densephrases.train.queries.task import QuerySettings

    recipe = QueryRecipe(
        index=index,
        model=model or IndexFolder.open(index).settings.model,
        train=tuple(data),
        dev=dev,
        keep=tuple(keep or ()),
        rank=rank,
        task=task,
        target=target,
        top_k=top_k,
        batch_size=batch_size,
        refresh_every=refresh_every,
        limit=limit,
        processes=processes,
        loop=replace(QuerySettings().loop, epochs=epochs, learning_rate=learning_rate),
    )
    recipe = override(recipe, settings or [])
    with watch_training("queries", task_folder(out, task), recipe, cpu) as watch:
        watch.outcome = train_queries(recipe, out, watch.folder, watch.observers, resume, cpu)
