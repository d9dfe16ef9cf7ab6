"""Layers in 8 bits: tokens neither change each other nor cost each other precision."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from densephrases.arrays import Floats
from densephrases.nn.onnx.int8 import quantize

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
    ranges = {"values": (float(values_BTH.min()), float(values_BTH.max()))}
    made = quantize(layer(matrix_HD), folder / "layer.onnx", ranges, scaled)
    assert [node.name for node in made.graph.node if node.op_type == "MatMulIntegerToFloat"] == ["/dense/MatMul_quant"]
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
    quantize(given, tmp_path / "layer.onnx", {"values": (-1.0, 1.0)}, ["values"])
    assert given.SerializeToString(deterministic=True) == before


@pytest.mark.parametrize("scaled", [[], ["values"]], ids=["one scale", "a scale for each token"])
def test_a_row_does_not_depend_on_the_others(tmp_path: Path, scaled: list[str]) -> None:
    values, matrix = 3 * random_values(8, 7, 32), random_values(32, 96)
    made = quantize(layer(matrix), tmp_path / "layer.onnx", {"values": (-13.0, 12.0)}, scaled)
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    together = session.run(None, {"values": values})[0]
    alone = [session.run(None, {"values": row[None]})[0][0] for row in values]
    np.testing.assert_array_equal(together, alone)
    assert errors(together, values @ matrix).max() < 0.05


@pytest.mark.parametrize("limits", [(0.0, 6.0), (-6.0, 0.0), (-6.0, 1.0), (2.0, 6.0)])
def test_both_ends_of_a_range_and_zero_are_kept(tmp_path: Path, limits: tuple[float, float]) -> None:
    values = np.array([0.0, *limits], dtype=np.float32).reshape(3, 1, 1)
    made = quantize(layer(np.ones((1, 32), dtype=np.float32)), tmp_path / "layer.onnx", {"values": limits})
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    found = session.run(None, {"values": values})[0]
    np.testing.assert_array_equal(found[0], 0)
    np.testing.assert_allclose(found[:, 0, 0], values[:, 0, 0], atol=6 / 255)
