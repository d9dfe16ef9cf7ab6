"""ONNX graphs in fewer bits: matrices, activations and embedding tables in int8, or matrices in float16.

The scales of activations are constants, measured on samples when a model is exported. Scales that are computed as a
graph runs depend on all rows of the batch, and so would the vectors of a question on the other questions.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import GraphProto, ModelProto, NodeProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.quant_utils import add_pre_process_metadata

from densephrases.nn.onnx.activations import NARROW, Range

# Shape suffixes: T tokens, H hidden size.

TABLE_ROWS = 64  # embeddings of fewer rows are not worth quantising
HALF = "_half"  # ends the name of a matrix that is stored in float16
SMALLEST_SCALE = 1e-6  # divides a row of zeros
SMALLEST_SCALE_NAME = "smallest_scale"
_SCALED = "_scaled"  # ends the name of an input whose rows are divided by their largest value
_STEPS = 255
_RUNTIME_DOMAIN = "com.microsoft"  # of operators that only onnxruntime has


def quantize(proto: ModelProto, path: Path, ranges: Mapping[str, Range], scaled: Collection[str] = ()) -> ModelProto:
    """Weights in int8: matrices with a scale per column, embeddings with a scale per row.

    Args:
        proto: The graph in float32; it is not changed.
        path: A file to work with.
        ranges: Of the input of each matrix product, from `activation_ranges`; values outside are clipped.
        scaled: Names of inputs that have one scale for each token instead.
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
    _fix_scales(made, ranges)
    quantize_tables(made)
    return made


def _narrow_layers(proto: ModelProto) -> list[str]:
    width = {tensor.name: min(tensor.dims, default=0) for tensor in proto.graph.initializer}
    return [
        node.name
        for node in proto.graph.node
        if node.op_type in ("MatMul", "Gemm") and width.get(node.input[1], NARROW) < NARROW
    ]


def _fix_scales(proto: ModelProto, ranges: Mapping[str, Range]) -> None:
    """Quantise activations by constant scales, and compute each product with its bias by one operator."""
    graph = proto.graph
    layers = list(_layers(graph))
    replaced = {layer.product.output[0]: layer for layer in layers}
    dropped = {name for layer in layers for name in layer.dropped}
    nodes: list[NodeProto] = []
    known: set[str] = set()
    for node in graph.node:
        if node.output[0] in replaced:
            layer = replaced[node.output[0]]
            if layer.values not in known:
                known.add(layer.values)
                nodes.append(_quantizer(graph, layer.values, ranges))
            nodes.append(layer.fused())
        elif node.output[0] not in dropped:
            nodes.append(node)
    replace_nodes(proto, nodes)
    proto.opset_import.append(helper.make_opsetid(_RUNTIME_DOMAIN, 1))


@dataclass(frozen=True)
class _Layer:
    """A product of integers as `quantize_dynamic` writes it, and what belongs to it."""

    product: NodeProto  # MatMulInteger
    values: str  # its input before quantisation
    scale: str  # of its matrix, per column
    bias: str
    output: str
    dropped: tuple[str, ...]  # outputs of nodes that the fused operator replaces

    def fused(self) -> NodeProto:
        _, matrix, _, zero = self.product.input
        return helper.make_node(
            "MatMulIntegerToFloat",
            [
                f"{self.values}_quantized",
                matrix,
                f"{self.values}_scale",
                self.scale,
                f"{self.values}_zero",
                zero,
                self.bias,
            ],
            [self.output],
            name=self.product.name,
            domain=_RUNTIME_DOMAIN,
        )


def _layers(graph: GraphProto) -> Iterator[_Layer]:
    """Each is DynamicQuantizeLinear, MatMulInteger, Cast, and Mul by the product of both scales; then Add, if any."""
    made_by = {name: node for node in graph.node for name in node.output}
    used_by: dict[str, list[NodeProto]] = defaultdict(list)
    for node in graph.node:
        for name in node.input:
            used_by[name].append(node)
    stored = {tensor.name for tensor in graph.initializer}
    for product in graph.node:
        if product.op_type != "MatMulInteger":
            continue
        quantizer = made_by[product.input[0]]
        (cast,) = used_by[product.output[0]]
        (rescale,) = used_by[cast.output[0]]
        scales = made_by[_other(rescale, cast.output[0])]
        output, dropped = rescale.output[0], [node.output[0] for node in (quantizer, cast, rescale, scales)]
        added = [node for node in used_by[output] if node.op_type == "Add" and _other(node, output) in stored]
        bias = ""
        if len(added) == len(used_by[output]) == 1:
            bias, output = _other(added[0], output), added[0].output[0]
            dropped.append(output)
        yield _Layer(product, quantizer.input[0], _other(scales, quantizer.output[1]), bias, output, tuple(dropped))


def _other(node: NodeProto, name: str) -> str:
    first, second = node.input
    return str(second if first == name else first)


def _quantizer(graph: GraphProto, values: str, ranges: Mapping[str, Range]) -> NodeProto:
    """Both ends of the range, and zero, are among the 256 values."""
    low, high = (-1.0, 1.0) if values.endswith(_SCALED) else ranges[values]
    low, high = min(low, 0.0), max(high, 0.0)
    scale = max((high - low) / _STEPS, SMALLEST_SCALE)
    scale_1, zero_1 = np.array(scale, np.float32), np.array(round(-low / scale), np.uint8)
    graph.initializer.append(numpy_helper.from_array(scale_1, f"{values}_scale"))
    graph.initializer.append(numpy_helper.from_array(zero_1, f"{values}_zero"))
    quantized = f"{values}_quantized"
    return helper.make_node(
        "QuantizeLinear", [values, f"{values}_scale", f"{values}_zero"], [quantized], name=quantized
    )


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
        f"{output}_{part}" for part in ("high", "low", "turned", "scale", "share", _SCALED[1:], "product")
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
