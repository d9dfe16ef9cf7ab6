"""ONNX graphs in fewer bits: matrices, activations and embedding tables in int8, or matrices in float16."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import ModelProto, NodeProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.quant_utils import add_pre_process_metadata

from densephrases.arrays import Floats
from densephrases.model.onnx import run_graph
from densephrases.model.padding import TokenBatch

# Shape suffixes: T tokens, H hidden size.

TABLE_ROWS = 64  # embeddings of fewer rows are not worth quantising
NARROW = 16  # layers with fewer outputs (the filter) cost nothing in float and lose most in int8
HALF = "_half"  # ends the name of a matrix that is stored in float16
# A token is an outlier if its largest absolute value exceeds this many times the median of all tokens: with one scale
# for all, most tokens then have less than 16 of the 256 steps left. MPNet-base reaches 58 times, and int8 costs 5 EM;
# gte-small reaches 15, and a scale for each token gains nothing.
OUTLYING = 16
SMALLEST_SCALE = 1e-6  # divides a row of zeros
SMALLEST_SCALE_NAME = "smallest_scale"


def quantize(proto: ModelProto, path: Path, scaled: Collection[str] = ()) -> ModelProto:
    """Weights in int8: matrices with a scale per column, embeddings with a scale per row.

    The input of a matrix product has one scale, or one for each token if it is named in `scaled`.
    """
    prepared = ModelProto()
    prepared.CopyFrom(proto)
    if scaled:
        _scale_rows(prepared, scaled)
    add_pre_process_metadata(prepared)  # or onnxruntime logs advice to simplify the graph first
    quantize_dynamic(
        prepared,
        path,
        op_types_to_quantize=["MatMul", "Gemm"],
        per_channel=True,
        weight_type=QuantType.QInt8,
        nodes_to_exclude=_narrow_layers(prepared),
        extra_options={"MatMulConstBOnly": True},
    )
    made = onnx.load(path)
    quantize_tables(made)
    return made


def _narrow_layers(proto: ModelProto) -> list[str]:
    width = {tensor.name: min(tensor.dims, default=0) for tensor in proto.graph.initializer}
    return [
        node.name
        for node in proto.graph.node
        if node.op_type in ("MatMul", "Gemm") and width.get(node.input[1], NARROW) < NARROW
    ]


def outlying_inputs(proto: ModelProto, path: Path, batches: Sequence[TokenBatch]) -> list[str]:
    """Names of the inputs of all feed-forward layers if any of them has an outlying token, else none.

    All of them, since errors add up over layers. The matrices of feed-forward layers are those that are not square; no
    token stands out in the inputs of attention.
    """
    matrices = {t.name for t in proto.graph.initializer if min(t.dims, default=0) >= NARROW and len(set(t.dims)) == 2}
    products = [node for node in proto.graph.node if node.op_type == "MatMul" and node.input[1] in matrices]
    names = list(dict.fromkeys(node.input[0] for node in products))
    watched = ModelProto()
    watched.CopyFrom(proto)
    watched.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    onnx.save(watched, path)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    per_batch = [_largest_values(session, batch, names) for batch in batches] if names else []
    largest = [np.concatenate(parts_T) for parts_T in zip(*per_batch, strict=True)]
    return names if any(_has_outliers(largest_T) for largest_T in largest) else []


def _largest_values(session: Any, batch: TokenBatch, names: list[str]) -> list[Floats]:
    """For each of the named activations, the largest absolute value (T) of every token that is no padding."""
    seen = batch.mask.astype(bool)
    found = run_graph(session, batch, names)
    tokens = (values[seen] if values.ndim > seen.ndim else values for values in found)
    return [np.abs(values_TH).max(axis=1) for values_TH in tokens]


def _has_outliers(largest_T: Floats) -> bool:
    return bool(largest_T.max() > OUTLYING * np.median(largest_T))


def _scale_rows(proto: ModelProto, scaled: Collection[str]) -> None:
    """Divide each token by its largest absolute value before a matrix product, and multiply by it afterwards."""
    graph = proto.graph
    stored = {tensor.name for tensor in graph.initializer}
    graph.initializer.append(numpy_helper.from_array(np.array(SMALLEST_SCALE, np.float32), SMALLEST_SCALE_NAME))
    nodes: list[NodeProto] = []
    for node in graph.node:
        is_layer = node.op_type == "MatMul" and node.input[0] in scaled and node.input[1] in stored
        nodes.extend(_with_scaled_rows(node) if is_layer else [node])
    replace_nodes(proto, nodes)


def _with_scaled_rows(node: NodeProto) -> list[NodeProto]:
    values, matrix, output = node.input[0], node.input[1], node.output[0]
    high, low, turned, scale, share, scaled, product = (
        f"{output}_{part}" for part in ("high", "low", "turned", "scale", "share", "scaled", "product")
    )
    return [
        helper.make_node("ReduceMax", [values], [high], name=high, axes=[-1]),
        helper.make_node("ReduceMin", [values], [low], name=low, axes=[-1]),
        helper.make_node("Neg", [low], [turned], name=turned),
        helper.make_node("Max", [high, turned, SMALLEST_SCALE_NAME], [scale], name=scale),
        helper.make_node("Reciprocal", [scale], [share], name=share),
        helper.make_node("Mul", [values, share], [scaled], name=scaled),
        helper.make_node("MatMul", [scaled, matrix], [product], name=node.name),
        helper.make_node("Mul", [product, scale], [output], name=f"{output}_unscaled"),
    ]


def quantize_tables(proto: ModelProto) -> None:
    """A scale for each row: the single one that onnxruntime chooses for a table is too coarse for most of its rows."""
    graph = proto.graph
    gathered = {node.input[0] for node in graph.node if node.op_type == "Gather"}
    tables = {
        tensor.name: tensor
        for tensor in graph.initializer
        if tensor.name in gathered and len(tensor.dims) == 2 and tensor.dims[0] >= TABLE_ROWS
    }
    for name, tensor in tables.items():
        values = numpy_helper.to_array(tensor)
        scales = np.maximum(np.abs(values).max(axis=1, keepdims=True), np.finfo(np.float32).tiny) / 127
        tensor.CopyFrom(numpy_helper.from_array(np.rint(values / scales).astype(np.int8), name))
        graph.initializer.append(numpy_helper.from_array(scales.astype(np.float32), f"{name}_scales"))
    replace_nodes(proto, [made for node in graph.node for made in _read_rows(node, tables)])


def _read_rows(node: NodeProto, tables: dict[str, Any]) -> list[NodeProto]:
    if node.op_type != "Gather" or node.input[0] not in tables:
        return [node]
    table, rows, output = node.input[0], node.input[1], node.output[0]
    return [
        helper.make_node("Gather", [table, rows], [f"{output}_int8"]),
        helper.make_node("Cast", [f"{output}_int8"], [f"{output}_float"], to=onnx.TensorProto.FLOAT),
        helper.make_node("Gather", [f"{table}_scales", rows], [f"{output}_scales"]),
        helper.make_node("Mul", [f"{output}_float", f"{output}_scales"], [output]),
    ]


def halve_matrices(proto: ModelProto) -> None:
    """Store matrices in float16; they are cast back to float32 once, when the graph is opened."""
    graph, casts = proto.graph, []
    for tensor in graph.initializer:
        if (
            tensor.data_type == onnx.TensorProto.FLOAT
            and min(tensor.dims, default=0) >= NARROW
            and len(tensor.dims) == 2
        ):
            name = tensor.name
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float16), f"{name}{HALF}"))
            casts.append(helper.make_node("Cast", [tensor.name], [name], to=onnx.TensorProto.FLOAT))
    replace_nodes(proto, [*casts, *graph.node])


def replace_nodes(proto: ModelProto, nodes: list[NodeProto]) -> None:
    copies = [NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del proto.graph.node[:]
    proto.graph.node.extend(copies)
