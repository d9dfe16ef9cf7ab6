"""Layers in 8 bits: a token with outlying numbers must not cost the others of its batch their precision."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from densephrases.arrays import Floats
from densephrases.model.padding import token_batch
from densephrases.nn.onnx.int8 import outlying_inputs, quantize

OUTLIER = 100.0


def layer(matrix_HD: Floats) -> ModelProto:
    """A graph of one product."""
    inside, outside = matrix_HD.shape
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["values", "matrix"], ["product"], name="/dense/MatMul")],
        "layer",
        [helper.make_tensor_value_info("values", TensorProto.FLOAT, ["rows", "tokens", inside])],
        [helper.make_tensor_value_info("product", TensorProto.FLOAT, ["rows", "tokens", outside])],
        [numpy_helper.from_array(matrix_HD, "matrix")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def quantized_product(values_BTH: Floats, matrix_HD: Floats, folder: Path, scaled: Sequence[str]) -> Floats:
    made = quantize(layer(matrix_HD), folder / "layer.onnx", scaled)
    assert [node.name for node in made.graph.node if node.op_type == "MatMulInteger"] == ["/dense/MatMul_quant"]
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, {"values": values_BTH})[0])


def errors(found_BTD: Floats, wanted_BTD: Floats) -> Floats:
    """Of each token's vector, as a share of its length."""
    return np.asarray(np.linalg.norm(found_BTD - wanted_BTD, axis=-1) / np.linalg.norm(wanted_BTD, axis=-1))


def random_values(*shape: int) -> Floats:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("sizes", [(32, 96), (96, 32)], ids=["into", "out of"])
@pytest.mark.parametrize("outlier", [OUTLIER, -OUTLIER])
def test_outliers_of_a_token_cost_no_other_its_precision(
    tmp_path: Path, sizes: tuple[int, int], outlier: float
) -> None:
    values, matrix = random_values(2, 7, sizes[0]), random_values(*sizes)
    values[1, 3, 5] = outlier
    assert errors(quantized_product(values, matrix, tmp_path, ["values"]), values @ matrix).max() < 0.03


def test_with_one_scale_they_do(tmp_path: Path) -> None:
    values, matrix = random_values(2, 7, 32), random_values(32, 96)
    assert errors(quantized_product(values, matrix, tmp_path, []), values @ matrix).max() < 0.03
    values[1, 3, 5] = OUTLIER
    assert np.median(errors(quantized_product(values, matrix, tmp_path, []), values @ matrix)) > 0.1


def test_small_numbers_and_zeros(tmp_path: Path) -> None:
    values, matrix = random_values(1, 3, 32), random_values(32, 96)
    values[0, 0] = 0
    values[0, 1] *= 1e-4
    found = quantized_product(values, matrix, tmp_path, ["values"])
    np.testing.assert_array_equal(found[0, 0], 0)
    assert errors(found[:, 1:], (values @ matrix)[:, 1:]).max() < 0.03


def test_the_given_graph_stays_as_it_is(tmp_path: Path) -> None:
    given = layer(random_values(32, 96))
    before = given.SerializeToString(deterministic=True)
    quantize(given, tmp_path / "layer.onnx", ["values"])
    assert given.SerializeToString(deterministic=True) == before


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
