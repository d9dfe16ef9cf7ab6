"""Transformers as a CPU runs them fastest: torch as they come, or exported to ONNX in full precision or 8 bits."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import onnxruntime

from densephrases.arrays import Floats
from densephrases.cli.extras import quiet_transformers
from densephrases.model.padding import TokenBatch

Engine = Literal["torch", "fp32", "int8"]
ENGINES: tuple[Engine, ...] = get_args(Engine)
Forward = Callable[[TokenBatch], Floats]

OPSET = 17
NARROW = 16  # layers with fewer outputs cost nothing in float and lose most in 8 bits
LOG_ERRORS = 3
_INPUTS = ("ids", "types", "mask")


def graph_path(folder: Path, engine: Engine) -> Path:
    return folder / f"graph.{engine}.onnx"


def onnx_forward(path: Path, threads: int) -> Forward:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = LOG_ERRORS
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [declared.name for declared in session.get_inputs()]

    def forward(batch: TokenBatch) -> Floats:
        values = {"ids": batch.ids, "types": batch.types, "mask": batch.mask}
        return np.asarray(session.run(None, {name: values[name] for name in names})[0], dtype=np.float32)

    return forward


def torch_reader_forward(reader_folder: Path, threads: int) -> Forward:
    import torch

    from densephrases.nn.device import inference, to_device, to_numpy
    from densephrases.nn.reader import Reader

    torch.set_num_threads(threads)
    reader = Reader.from_pretrained(reader_folder)
    device = torch.device("cpu")

    def forward(batch: TokenBatch) -> Floats:
        with inference(reader, device):
            return to_numpy(reader(*to_device(batch, device)))

    return forward


def reader_forward(reader_folder: Path, graphs: Path, engine: Engine, threads: int) -> Forward:
    if engine == "torch":
        return torch_reader_forward(reader_folder, threads)
    return onnx_forward(graph_path(graphs, engine), threads)


def export_reader(reader_folder: Path, graphs: Path) -> None:
    """The cross-attention reader's start and end logits, in both precisions."""
    import torch

    from densephrases.nn.backbone import additive_mask
    from densephrases.nn.reader import Reader

    class Logits(torch.nn.Module):
        def __init__(self, reader: Reader) -> None:
            super().__init__()
            self.reader = reader

        def forward(self, ids: Any, types: Any, mask: Any) -> Any:
            states = self.reader.backbone(ids, types, additive_mask(mask[:, None, None, :]))
            return self.reader.boundaries(states).transpose(1, 2)

    reader = Reader.from_pretrained(reader_folder)
    reader.backbone.encoder.set_attn_implementation("eager")
    _export(Logits(reader), graphs)


def export_sentence_encoder(base: Path, graphs: Path) -> None:
    """The mean over tokens, of length 1, as the sentence-transformers models named all-* are used."""
    import torch

    from densephrases.nn.backbone import additive_mask, load_backbone

    class Mean(torch.nn.Module):
        def __init__(self, backbone: Any) -> None:
            super().__init__()
            self.backbone = backbone

        def forward(self, ids: Any, types: Any, mask: Any) -> Any:
            states = self.backbone(ids, types, additive_mask(mask[:, None, None, :])) * mask[..., None].float()
            return torch.nn.functional.normalize(states.sum(dim=1), dim=-1)  # of unit length: sum or mean is one

    quiet_transformers()
    backbone = load_backbone(base)
    backbone.encoder.set_attn_implementation("eager")
    _export(Mean(backbone), graphs)


def _export(network: Any, graphs: Path) -> None:
    """In full precision first, then in 8 bits; a file is there only if it is whole."""
    import torch

    graphs.mkdir(parents=True, exist_ok=True)
    whole, partial = graph_path(graphs, "fp32"), graphs / "graph.partial"
    example = tuple(torch.ones((2, 8), dtype=torch.int64) for _ in _INPUTS)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # that a trace may not hold for other inputs: engines are compared later
        torch.onnx.export(
            network.eval(),
            example,
            str(partial),
            input_names=list(_INPUTS),
            output_names=["result"],
            dynamic_axes={name: {0: "rows", 1: "tokens"} for name in _INPUTS},
            opset_version=OPSET,
            dynamo=False,
        )
    _quantize(partial, graphs)
    partial.rename(whole)


def _quantize(source: Path, graphs: Path) -> None:
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.quantization.quant_utils import add_pre_process_metadata

    proto = onnx.load(source)
    width = {tensor.name: min(tensor.dims, default=0) for tensor in proto.graph.initializer}
    products = [node for node in proto.graph.node if node.op_type == "MatMul"]
    add_pre_process_metadata(proto)  # else the quantiser advises to simplify the graph first
    quantize_dynamic(
        proto,
        graph_path(graphs, "int8"),
        op_types_to_quantize=["MatMul"],
        per_channel=True,
        weight_type=QuantType.QInt8,
        nodes_to_exclude=[node.name for node in products if width.get(node.input[1], NARROW) < NARROW],
        extra_options={"MatMulConstBOnly": True},
    )
