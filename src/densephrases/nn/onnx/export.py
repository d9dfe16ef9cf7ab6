"""A phrase model as ONNX graphs: `passage`, `question` and, if it reads, `reading`.

Their weights are stored once, in a file that all refer to.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import ModelProto, numpy_helper
from onnx.external_data_helper import set_external_data
from torch import Tensor, nn

from densephrases.atomic_files import replace_file, replacing
from densephrases.checksums import remove_checksums, write_checksums
from densephrases.errors import ConfigError, ModelError
from densephrases.model.card import CARD_FILE
from densephrases.model.folders import writable_folder
from densephrases.model.onnx import (
    GRAPHS,
    OWN_QUESTION_GRAPH,
    OWN_QUESTION_WEIGHTS,
    PASSAGE_GRAPHS,
    exported_precisions,
    graph_file,
    weights_file,
)
from densephrases.model.precision import PRECISIONS
from densephrases.model.tokenizer import TOKENIZER_FILE, Tokens
from densephrases.nn.backbone import additive_mask
from densephrases.nn.onnx.activations import activation_ranges, outlying_inputs
from densephrases.nn.onnx.calibration import calibration_batches
from densephrases.nn.onnx.int8 import halve_matrices, quantize, quantize_tables, replace_nodes
from densephrases.nn.phrase_model import PhraseModel
from densephrases.nn.question_tower import QuestionTower

OPSET = 17
INPUTS = ("ids", "types", "mask")
SHARED_BYTES = 1024  # smaller tensors stay inside their graph
ALIGNMENT = 64
LARGEST_DIFFERENCE = 1e-3  # of an exported graph from torch, relative to the largest value


def export_model(model: PhraseModel, folder: Path, precisions: Sequence[str] = PRECISIONS, card: str = "") -> None:
    """Write a folder that `densephrases.load` reads without torch."""
    _refuse_unknown(precisions)
    writable_folder(folder).mkdir(parents=True, exist_ok=True)
    remove_checksums(folder)
    with TemporaryDirectory() as scratch:
        graphs = _trace_graphs(model, Path(scratch))
        for precision in precisions:
            made = graphs if precision == "fp32" else _quantized(graphs, model.tokens, Path(scratch))
            files = {graph_file(kind, precision): proto for kind, proto in made.items()}
            _write_graphs(files, folder, weights_file(precision))
    replace_file(folder / TOKENIZER_FILE, model.tokens.tokenizer.to_str(pretty=True))
    if model.product_quantizer is not None:
        model.product_quantizer.save(folder)
    if card:
        replace_file(folder / CARD_FILE, card)
    config = model.config.with_fingerprint(model.passage_fingerprint())
    config.save(folder)  # last: its presence means the folder is complete
    write_checksums(folder)


def export_questions(tower: QuestionTower, folder: Path) -> None:
    """Write the graph of a query encoder that was trained on its own; the caller writes the configuration.

    It computes in float32. Matrices are stored in float16, embeddings in int8.
    """
    folder.mkdir(parents=True, exist_ok=True)
    plain = tower.copy()  # modules that training has compiled or fused cannot be traced
    with TemporaryDirectory() as scratch, _exportable(plain):
        proto = _trace(_QuestionGraph(plain).eval(), Path(scratch) / "question.onnx")
    quantize_tables(proto)
    halve_matrices(proto)
    _write_graphs({OWN_QUESTION_GRAPH: proto}, folder, OWN_QUESTION_WEIGHTS)


def export_shared_questions(model: PhraseModel, source: Path, folder: Path) -> None:
    """Write the graphs of a model folder again, with the questions of a model that share its passages' backbone.

    The other graphs are those of the folder, so that passages get the vectors they had to the last digit.
    """
    for precision in exported_precisions(source):
        with TemporaryDirectory() as scratch:
            with _exportable(model):
                graphs = {"question": _trace(_QuestionGraph(model).eval(), Path(scratch) / "question.onnx")}
            made = graphs if precision == "fp32" else _quantized(graphs, model.tokens, Path(scratch))
        names = {kind: graph_file(kind, precision) for kind in dict.fromkeys((*GRAPHS, *PASSAGE_GRAPHS))}
        files = {
            name: made[kind] if kind in made else onnx.load(source / name)
            for kind, name in names.items()
            if kind in made or (source / name).is_file()
        }
        _write_graphs(files, folder, weights_file(precision))


def _refuse_unknown(precisions: Sequence[str]) -> None:
    if unknown := sorted(set(precisions) - set(PRECISIONS)):
        raise ConfigError(f"precisions={unknown} cannot be exported; expected some of {list(PRECISIONS)}.")
    if not precisions:
        raise ConfigError(f"precisions={precisions!r} leaves nothing to export; expected some of {list(PRECISIONS)}.")


class _PassageGraph(nn.Module):
    outputs = ("vectors", "filter")

    def __init__(self, model: PhraseModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        return self.model.passage_states(ids, types, additive_mask(mask[:, None, None, :]))


class _QuestionGraph(nn.Module):
    def __init__(self, model: PhraseModel | QuestionTower) -> None:
        super().__init__()
        self.model = model
        self.outputs = ("start", "end", "coherency") if model.config.split else ("start", "end")

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        states = self.model.question_states(ids, types, additive_mask(mask[:, None, None, :]))
        if states.coherency_B is None:
            return states.start_BD, states.end_BD
        return states.start_BD, states.end_BD, states.coherency_B


class _ReadingGraph(nn.Module):
    outputs = ("logits",)

    def __init__(self, model: PhraseModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        return self.model.reading_states(ids, types, additive_mask(mask[:, None, None, :]))


_Graph = _PassageGraph | _QuestionGraph | _ReadingGraph


def _trace_graphs(model: PhraseModel, scratch: Path) -> dict[str, ModelProto]:
    graphs: dict[str, _Graph] = {"passage": _PassageGraph(model), "question": _QuestionGraph(model)}
    if model.config.reads:
        graphs["reading"] = _ReadingGraph(model)
    with _exportable(model):
        return {kind: _trace(graph.eval(), scratch / f"{kind}.onnx") for kind, graph in graphs.items()}


@contextmanager
def _exportable(model: PhraseModel | QuestionTower) -> Iterator[None]:
    """Without dropout and with attention in plain operations; restored afterwards."""
    was_training = model.training
    before = [backbone.encoder.config._attn_implementation for backbone in model.backbones]
    model.eval()
    try:
        for backbone in model.backbones:
            backbone.encoder.set_attn_implementation("eager")
        with torch.no_grad():
            yield
    finally:
        for backbone, implementation in zip(model.backbones, before, strict=True):
            backbone.encoder.set_attn_implementation(implementation)
        model.train(was_training)


def _trace(graph: _Graph, path: Path) -> ModelProto:
    with warnings.catch_warnings():
        # The older exporter is ten times faster than the default and writes the same graph. It warns that a trace
        # may not hold for other inputs, which `_compare` checks.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            graph,
            _example(graph.model, rows=2, tokens=8),
            str(path),
            input_names=list(INPUTS),
            output_names=list(graph.outputs),
            dynamic_axes={name: {0: "rows", 1: "tokens"} for name in INPUTS},
            opset_version=OPSET,
            dynamo=False,
        )
    _compare(graph, path)
    proto = onnx.load(path)
    _skip_identities(proto)
    return proto


def _example(model: PhraseModel | QuestionTower, rows: int, tokens: int) -> tuple[Tensor, Tensor, Tensor]:
    """Random tokens of both types, the last row half as long as the others."""
    random = torch.Generator().manual_seed(0)
    ids = torch.randint(int(model.config.backbone["vocab_size"]), (rows, tokens), generator=random)
    mask = torch.ones_like(ids)
    mask[-1, tokens // 2 :] = 0
    ids[-1, tokens // 2 :] = model.tokens.pad_id
    types = torch.zeros_like(ids)
    types[:, tokens // 4 :] = model.tokens.specials.types[1]
    device = next(model.parameters()).device
    return ids.to(device), types.to(device), mask.to(device)


def _compare(graph: _Graph, path: Path) -> None:
    """Refuse a graph whose output differs from the model's on inputs of another size and with another mask."""
    model = graph.model
    inputs = _example(model, rows=3, tokens=model.config.passage_tokens)
    if isinstance(graph, _PassageGraph):
        expected = graph.model.passage_states(*inputs)[0]
    elif isinstance(graph, _ReadingGraph):
        expected = graph.model.reading_states(*inputs)
    else:
        expected = graph.model.question_states(*inputs).start_BD
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    feed = {i.name: inputs[INPUTS.index(i.name)].cpu().numpy() for i in session.get_inputs()}
    found = session.run([graph.outputs[0]], feed)[0]
    seen = inputs[2].cpu().numpy().astype(bool) if found.ndim == 3 else slice(None)
    wanted = expected.cpu().numpy()
    difference = float(np.abs(found - wanted)[seen].max() / np.abs(wanted[seen]).max())
    if not difference < LARGEST_DIFFERENCE:
        raise ModelError(
            f"The ONNX graph of base model '{model.config.base}' differs from torch by {difference:.2g} "
            f"(at most {LARGEST_DIFFERENCE:g} expected): encoders of type '{model.config.backbone['model_type']}' "
            "cannot be exported; use a BERT-like base model."
        )


def _skip_identities(proto: ModelProto) -> None:
    """The exporter stores equal weights once and copies them by Identity nodes, which hide them from quantisation."""
    graph = proto.graph
    stored = {tensor.name for tensor in graph.initializer}
    source = {n.output[0]: n.input[0] for n in graph.node if n.op_type == "Identity" and n.input[0] in stored}
    kept = [node for node in graph.node if node.output[0] not in source]
    for node in kept:
        node.input[:] = [source.get(name, name) for name in node.input]
    replace_nodes(proto, kept)


def _quantized(graphs: dict[str, ModelProto], tokens: Tokens, scratch: Path) -> dict[str, ModelProto]:
    batches = calibration_batches(tokens)
    made = {}
    for kind, proto in graphs.items():
        watched = scratch / f"{kind}.watched.onnx"
        ranges = activation_ranges(proto, watched, batches[kind])
        scaled = outlying_inputs(proto, watched, batches[kind])
        made[kind] = quantize(proto, scratch / f"{kind}.int8.onnx", ranges, scaled)
    return made


def _write_graphs(graphs: dict[str, ModelProto], folder: Path, location: str) -> None:
    """Graphs by file name, and the weights file they share; none is replaced before all are written."""
    offsets: dict[bytes, int] = {}
    with ExitStack() as files:
        weights = files.enter_context(files.enter_context(replacing(folder / location)).open("wb"))
        for name, proto in graphs.items():
            written = ModelProto()
            written.CopyFrom(proto)
            _move_weights(written, weights, location, offsets)
            new = files.enter_context(replacing(folder / name))
            new.write_bytes(written.SerializeToString(deterministic=True))


def _move_weights(proto: ModelProto, weights: BinaryIO, location: str, offsets: dict[bytes, int]) -> None:
    """Large tensors go to the weights file; equal ones are stored once. `offsets` has those written so far."""
    for tensor in proto.graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.nbytes < SHARED_BYTES:
            continue
        data = values.tobytes()
        key = sha256(data).digest()
        if key not in offsets:
            weights.write(bytes(-weights.tell() % ALIGNMENT))
            offsets[key] = weights.tell()
            weights.write(data)
        tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))  # raw_data, wherever the values were
        set_external_data(tensor, location, offset=offsets[key], length=len(data))
        tensor.ClearField("raw_data")
