"""Encoders and encoded data sets, for the commands that measure or tune a model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console

from densephrases.cli.extras import quiet_transformers, require
from densephrases.model.precision import Precision

if TYPE_CHECKING:
    from densephrases.evaluate.reading import EncodedDataset
    from densephrases.model.encoder import Encoder

Runtime = Literal["onnx", "torch"]
RuntimeOption = Annotated[Runtime, typer.Option(help="onnx needs no torch; torch reads training checkpoints.")]
PrecisionOption = Annotated[Precision | None, typer.Option(help="Of the ONNX graphs [default: int8 if there].")]

progress_console = Console(stderr=True)


def load_encoder(model: str | Path, runtime: Runtime, precision: Precision | None) -> "Encoder":
    if runtime == "onnx":
        from densephrases.model.load import load

        return load(model, precision)
    require("train", "torch", "transformers", "safetensors")
    quiet_transformers()
    from densephrases.nn.device import best_device, placed
    from densephrases.nn.phrase_model import PhraseModel

    return placed(PhraseModel.from_pretrained(model), best_device()).encoder()


def encode_squad(
    data: Path, model: str | Path, runtime: Runtime, precision: Precision | None
) -> tuple["Encoder", "EncodedDataset"]:
    """The model's encoder, and the passages and questions of a SQuAD file as vectors."""
    from densephrases.data.squad import read_squad
    from densephrases.evaluate.reading import encode_dataset

    passages = read_squad(data)
    encoder = load_encoder(model, runtime, precision)
    with progress_console.status(f"encoding {len(passages):,} passages and their questions"):
        return encoder, encode_dataset(encoder, passages)
