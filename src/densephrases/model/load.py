"""Load the encoder of a bundled model or of any exported model folder."""

from pathlib import Path

from densephrases.model.folders import resolve
from densephrases.model.onnx import OnnxEncoder
from densephrases.model.precision import Precision


def load(
    model: str | Path = "small",
    precision: Precision | None = None,
    threads: int | None = None,
    task: str | None = None,
) -> OnnxEncoder:
    """A bundled model by its name, or any exported model by its folder.

    Args:
        model: A name such as 'small', or the folder of an exported model.
        precision: 'int8' or 'fp32'; None takes int8 where the folder has it.
        threads: Threads of one forward pass; None takes one for each core.
        task: Name of the query encoder of a task; None takes the default one.
    """
    return OnnxEncoder.load(resolve(model), precision, threads, task)
