"""What flows through a graph: ranges and outlying tokens of the inputs of its matrix products, measured on samples."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import ModelProto

from densephrases.arrays import Floats
from densephrases.model.onnx import run_graph
from densephrases.model.padding import TokenBatch

# Shape suffixes: T tokens, H hidden size.

NARROW = 16  # layers with fewer outputs (the filter) cost nothing in float and lose most in int8
# A token is an outlier if its largest absolute value exceeds this many times the median of all tokens: with one scale
# for all, most tokens then have less than 16 of the 256 steps left. MPNet-base reaches 58 times, and int8 costs 5 EM;
# gte-small reaches 15, and a scale for each token gains nothing.
OUTLYING = 16

Range = tuple[float, float]
"""The smallest and the largest value."""


def activation_ranges(proto: ModelProto, path: Path, batches: Sequence[TokenBatch]) -> dict[str, Range]:
    """The smallest and the largest value of the input of each matrix product, over all tokens that are no padding."""
    stored = {tensor.name for tensor in proto.graph.initializer}
    products = [n for n in proto.graph.node if n.op_type in ("MatMul", "Gemm") and n.input[1] in stored]
    names = list(dict.fromkeys(node.input[0] for node in products))
    per_batch = [
        [(float(values.min()), float(values.max())) for values in found]
        for found in _activations(proto, path, batches, names)
    ]
    lows_highs = (zip(*each, strict=True) for each in zip(*per_batch, strict=True))
    return {name: (min(lows), max(highs)) for name, (lows, highs) in zip(names, lows_highs, strict=True)}


def _activations(
    proto: ModelProto, path: Path, batches: Sequence[TokenBatch], names: Sequence[str]
) -> Iterator[list[Floats]]:
    """For each batch the named activations of every token that is no padding, or of every row that has only one."""
    watched = ModelProto()
    watched.CopyFrom(proto)
    watched.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    onnx.save(watched, path)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    for batch in batches:
        seen = batch.mask.astype(bool)
        found = run_graph(session, batch, list(names))
        yield [values[seen] if values.ndim > seen.ndim else values for values in found]


def outlying_inputs(proto: ModelProto, path: Path, batches: Sequence[TokenBatch]) -> list[str]:
    """Names of the inputs of all feed-forward layers if any of them has an outlying token, else none.

    All of them, since errors add up over layers. The matrices of feed-forward layers are those that are not square; no
    token stands out in the inputs of attention.
    """
    matrices = {t.name for t in proto.graph.initializer if min(t.dims, default=0) >= NARROW and len(set(t.dims)) == 2}
    products = [node for node in proto.graph.node if node.op_type == "MatMul" and node.input[1] in matrices]
    names = list(dict.fromkeys(node.input[0] for node in products))
    per_batch = [
        [np.abs(values_TH).max(axis=1) for values_TH in found]
        for found in (_activations(proto, path, batches, names) if names else [])
    ]
    largest = [np.concatenate(parts_T) for parts_T in zip(*per_batch, strict=True)]
    return names if any(_has_outliers(largest_T) for largest_T in largest) else []


def _has_outliers(largest_T: Floats) -> bool:
    return bool(largest_T.max() > OUTLYING * np.median(largest_T))
