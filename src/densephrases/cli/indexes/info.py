"""`densephrases info`: the contents and settings of an index."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.filesize import decimal
from rich.table import Table

from densephrases.cli.lines import counted
from densephrases.cli.options import AsJson, IndexArgument

if TYPE_CHECKING:
    from densephrases.index.disk_usage import DiskUsage
    from densephrases.index.fitted_confidence import FittedConfidence
    from densephrases.index.info import IndexInfo


def info(
    folder: IndexArgument,
    storage: Annotated[
        bool, typer.Option("--storage", help="Show what the bytes are used for, in all and per token.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what an index contains and how it was made."""
    from densephrases.index.fitted_confidence import fitted_confidences
    from densephrases.index.folder import IndexFolder

    opened = IndexFolder.open(folder)
    found, usage = opened.info(), opened.disk_usage() if storage else None
    fits = fitted_confidences(folder)
    if as_json:
        fitted = {name: {"questions": each.questions, "date": each.date} for name, each in fits.items()}
        extra = {} if usage is None else {"storage": asdict(usage) | {"bytes_per_token": usage.bytes_per_token}}
        shown = asdict(found) | {"roots": opened.manifest.roots, "fitted_confidences": fitted}
        typer.echo(json.dumps(shown | extra))
        return
    *lines, state = _described(found).items()
    roots = [("root", f"{each.name}: {each.folder}, ids {each.prefix or 'as paths'}") for each in opened.roots.roots]
    confidences = [("confidence", _fit(name, each)) for name, each in fits.items()]
    for name, value in [*lines, *roots, *confidences, state]:
        typer.echo(f"{name:<17} {value}")
    if usage is not None:
        Console(highlight=False).print(_usage_table(usage))


def _fit(query_encoder: str, fitted: "FittedConfidence") -> str:
    of_task = f", task {query_encoder}" if query_encoder else ""
    return f"fitted to {counted(fitted.questions, 'own question')} on {fitted.date}{of_task}"


def _usage_table(usage: "DiskUsage") -> Table:
    """Bytes by purpose: in all, per kept token and per token of text."""
    title = f"{usage.vectors:,} of {counted(usage.tokens, 'token')} kept"
    table = Table("purpose", "bytes", "per kept token", "per token", title=title)
    for name, size in [*usage.purposes.items(), ("all", usage.bytes)]:
        rates = (f"{size / max(count, 1):.2f}" for count in (usage.vectors, usage.tokens))
        table.add_row(name, f"{size:,}", *rates, end_section=name == "deleted")
    return table


def _described(found: "IndexInfo") -> dict[str, str]:
    settings = found.settings
    threshold = settings.filter_threshold
    return {
        "documents": f"{found.documents:,}",
        "deleted": f"{found.deleted:,}",
        "passages": f"{found.passages:,}",
        "vectors": f"{found.vectors:,} of {settings.dim} dimensions as {settings.quantizer}",
        "size": f"{decimal(found.bytes)} in {counted(found.segments, 'segment')}",
        "model": f"{settings.model} ({settings.fingerprint})",
        "filter threshold": "none" if threshold is None else f"{threshold:g}",
        "candidates": settings.candidates or "chosen by size",
        "written by": f"densephrases {found.package_version}",
        "state": "unfinished: run the interrupted command again" if found.building else "complete",
    }
