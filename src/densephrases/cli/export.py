"""`densephrases export` and `densephrases import-original`: models out of torch and into it."""

from pathlib import Path
from typing import Annotated

import typer

from densephrases.cli.extras import quiet_transformers, require

Out = Annotated[Path | None, typer.Option("--out", "-o", help="Folder for the exported model [default: MODEL itself].")]


def export(
    model: Annotated[Path, typer.Argument(help="Folder of a trained phrase model.")],
    out: Out = None,
    int8: Annotated[bool, typer.Option(help="Write graphs quantised to 8 bits.")] = True,
    fp32: Annotated[bool, typer.Option(help="Write graphs in full precision.")] = True,
) -> None:
    """Export a trained model to ONNX, for indexing and answering without torch."""
    require("train", "torch", "transformers", "onnx", "safetensors")
    quiet_transformers()
    from densephrases.model.card import read_card
    from densephrases.model.folders import writable_folder
    from densephrases.model.precision import PRECISIONS
    from densephrases.nn.adapted_folder import export_tasks
    from densephrases.nn.onnx.export import export_model
    from densephrases.nn.phrase_model import PhraseModel

    folder = writable_folder(out or model)
    wanted = {"fp32": fp32, "int8": int8}
    precisions = [name for name in PRECISIONS if wanted[name]]
    export_model(PhraseModel.from_pretrained(model), folder, precisions, read_card(model))
    export_tasks(model, folder)
    size = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()) / 1e6
    typer.echo(f"Exported {' and '.join(precisions)} to {folder} ({size:.1f} MB in total)")


def import_original(
    source: Annotated[Path, typer.Argument(help="Folder of a checkpoint published with the original code.")],
    out: Annotated[Path, typer.Argument(help="Folder for the converted model.")],
) -> None:
    """Convert a checkpoint of the original DensePhrases code, which has three encoders."""
    require("train", "torch", "transformers", "safetensors")
    quiet_transformers()
    from densephrases.nn.import_original import import_original as convert

    report = convert(source, out)
    typer.echo(f"Saved to {out}: {report.taken} tensors converted, {report.ignored} of other models ignored")
