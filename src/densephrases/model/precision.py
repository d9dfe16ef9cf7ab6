"""Precisions of exported graphs, named without importing ONNX Runtime."""

from typing import Literal, get_args

Precision = Literal["fp32", "int8"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)
