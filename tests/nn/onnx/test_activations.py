"""Ranges and outliers of activations are those of real tokens, not of padding."""

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from densephrases.arrays import Floats
from densephrases.model.padding import token_batch
from densephrases.nn.onnx.activations import activation_ranges, outlying_inputs

OUTLIER = 100.0


def random_values(*shape: int) -> Floats:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def table_layer(table_VH: Floats) -> ModelProto:
    """Rows of a table by token, times a matrix, times another that is square."""
    hidden = table_VH.shape[1]
    made = [
        helper.make_node("Gather", ["table", "ids"], ["rows"], name="/embeddings/Gather"),
        helper.make_node("MatMul", ["rows", "first"], ["between"], name="/first/MatMul"),
        helper.make_node("Tanh", ["between"], ["bounded"], name="/tanh"),
        helper.make_node("MatMul", ["bounded", "second"], ["vectors"], name="/second/MatMul"),
    ]
    weights = {"table": table_VH, "first": random_values(hidden, 32), "second": random_values(32, 32)}
    graph = helper.make_graph(
        made,
        "layers",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["rows", "tokens"])],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["rows", "tokens", 32])],
        [numpy_helper.from_array(values, name) for name, values in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_feed_forward_inputs_with_an_outlying_token_are_found(tmp_path: Path) -> None:
    table = random_values(100, 48)
    table[7, 5] = OUTLIER
    ids = [np.array([1, 2, 3, 4]), np.array([5, 6])]
    batch = token_batch(ids, [np.zeros_like(row) for row in ids], pad_id=7)
    assert outlying_inputs(table_layer(table), tmp_path / "graph.onnx", [batch]) == []  # padding counts for nothing
    ids[1][1] = 7
    batch = token_batch(ids, [np.zeros_like(row) for row in ids], pad_id=7)
    assert outlying_inputs(table_layer(table), tmp_path / "graph.onnx", [batch]) == ["rows"]


def test_ranges_are_those_of_all_tokens_but_padding(tmp_path: Path) -> None:
    table = random_values(100, 48)
    table[7, 5] = OUTLIER
    table[4, 0], table[6, 0] = -9.0, 8.0
    ids = [np.array([1, 2, 3, 4]), np.array([5, 6])]
    batches = [token_batch([row, row[:1]], [np.zeros_like(row), np.zeros(1, np.int64)], pad_id=7) for row in ids]
    ranges = activation_ranges(table_layer(table), tmp_path / "graph.onnx", batches)
    assert ranges["rows"] == (-9.0, 8.0)
    assert ranges.keys() == {"rows", "bounded"}
    assert ranges["bounded"] == pytest.approx((-1, 1), abs=1e-3)
