"""From an exported graph back to a network in torch; int8 weights become the floats they stand for.

The exporter keeps the names of embeddings, biases and norms. A matrix is found by the node that multiplies with it,
which is named after its module. The network is accepted if it computes what the graph does.
"""

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import NodeProto, numpy_helper
from torch import Tensor, nn

from densephrases.errors import ModelError
from densephrases.model.onnx import OWN_QUESTION_GRAPH, OnnxEncoder, exported_precisions
from densephrases.model.padding import token_batch
from densephrases.nn.backbone import build_backbone
from densephrases.nn.checkpoint import WEIGHTS_FILE
from densephrases.nn.device import to_device, to_numpy
from densephrases.nn.low_rank import linear_layers
from densephrases.nn.onnx.int8 import HALF
from densephrases.nn.passage_tower import PassageTower
from densephrases.nn.phrase_model import PhraseModel
from densephrases.nn.question_tower import QuestionTower
from densephrases.nn.towers import READING_ROLE
from densephrases.text.passages import Passage

logger = logging.getLogger(__name__)

# Difference of the vectors of sample questions or passages relative to their length: fp32 graphs differ by rounding,
# int8 graphs also by the activations they quantise as they run (0.07 for the bundled model).
LARGEST_DIFFERENCE = {"fp32": 1e-3, "fp16": 0.02, "int8": 0.25}
_QUESTIONS = ["who built the tower in paris", "when was the city on the river founded", "what is it"]
_NODE = re.compile(r"/(?P<scope>.+)/(?P<operation>MatMul|Add|Gather|LayerNormalization)(_\d+)?(_quant)?")
_LOW_RANK = re.compile(r"\b((?:down|up)\.\d+\.weight)")  # in the names of layers to which a role adds them
_PREFIX = "model."  # the exporter's, before the names of weights

Array = NDArray[Any]


def restore_questions(encoder: OnnxEncoder) -> QuestionTower:
    """The query encoder of an exported model, to be trained."""
    path = encoder.question_path
    tower = QuestionTower(encoder.config, encoder.tokens)
    _load(tower, tower.state_of(_with_low_rank(_tensors(path), "question_matrices")), path)
    precision = "fp16" if path.name == OWN_QUESTION_GRAPH else encoder.precision
    _refuse_difference(path, _difference(tower, encoder), precision)
    return tower


def restore_passages(encoder: OnnxEncoder) -> PassageTower:
    """The passage encoder of an exported model."""
    path = encoder.passage_path
    tower = PassageTower(encoder.config, encoder.tokens)
    _load(tower, _tensors(path), path)
    _refuse_difference(path, _passage_difference(tower, encoder), encoder.precision)
    return tower


def read_model(folder: Path) -> PhraseModel:
    """The checkpoint's weights if the folder has them, else the weights of its exported graphs."""
    if (folder / WEIGHTS_FILE).is_file():
        return PhraseModel.from_pretrained(folder)
    return restore_model(finest_graphs(folder))


def finest_graphs(folder: Path, task: str | None = None) -> OnnxEncoder:
    """The fp32 graphs of an exported model if it has them, from which the network is restored exactly; else int8."""
    found = OnnxEncoder.load(folder, "fp32" if "fp32" in exported_precisions(folder) else None, task=task)
    logger.info("'%s' has no %s: its weights are restored from %s graphs.", folder, WEIGHTS_FILE, found.precision)
    return found


def restore_model(encoder: OnnxEncoder) -> PhraseModel:
    """Both towers of an exported model, to be trained."""
    model = PhraseModel(encoder.config, encoder.tokens.tokenizer)
    towers = restore_passages(encoder).state_dict() | restore_questions(encoder).state_dict()
    if encoder.config.reads:
        towers |= _reading_role(encoder)
    expected = model.state_dict().keys()  # a shared backbone belongs to the passage tower
    model.load_state_dict({name: tensor for name, tensor in towers.items() if name in expected})
    model.product_quantizer = encoder.product_quantizer
    if encoder.config.reads:
        _refuse_difference(encoder.reading_path, _reading_difference(model, encoder), encoder.precision)
    return model


def _reading_role(encoder: OnnxEncoder) -> dict[str, Tensor]:
    """The only weights of the reading graph that the passage graph lacks: the head, and low-rank matrices if any."""
    path = encoder.reading_path
    tensors = _with_low_rank(_tensors(path), "reading_matrices")
    found = {name: tensor for name, tensor in tensors.items() if name.startswith(READING_ROLE)}
    layers = len(linear_layers(build_backbone(encoder.config.backbone))) if encoder.config.reading_rank else 0
    if len(found) != 2 + 2 * layers:
        raise ModelError(
            f"'{path}' does not name the weights of its reading head: it was exported by another version; use the "
            "checkpoint it was exported from."
        )
    return found


def _with_low_rank(found: dict[str, Tensor], role: str) -> dict[str, Tensor]:
    """Low-rank matrices under the names they have in a model, whatever layers they are added to."""
    named = {}
    for name, tensor in found.items():
        matrix = _LOW_RANK.search(name)
        named[f"{role}.{matrix[1]}" if matrix else name] = tensor
    return named


def _refuse_difference(path: Path, difference: float, precision: str) -> None:
    if not difference < LARGEST_DIFFERENCE[precision]:
        raise ModelError(
            f"The network made from '{path}' does not compute what the graph does (vectors differ by {difference:.2g} "
            "of their length): it was exported by another version; use the checkpoint it was exported from."
        )


def _tensors(path: Path) -> dict[str, Tensor]:
    return {name: torch.from_numpy(values.copy()) for name, values in _weights(path).items()}


def _load(tower: nn.Module, found: dict[str, Tensor], path: Path) -> None:
    expected = tower.state_dict()
    taken = {name: tensor for name, tensor in found.items() if name in expected}
    if missing := sorted(expected.keys() - taken.keys()):
        raise ModelError(
            f"'{path}' does not name the weights of {missing[0]} (and {len(missing) - 1} others): it was exported by "
            "another version; use the checkpoint it was exported from."
        )
    try:
        tower.load_state_dict(taken)
    except RuntimeError as error:
        raise ModelError(f"'{path}' does not fit its config.json: {str(error).splitlines()[-1].strip()}") from error


def _weights(path: Path) -> dict[str, Array]:
    """All weights of a graph as floats, by the names of the parameters they were exported from."""
    graph = onnx.load(path).graph
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    stored = {n.removesuffix(HALF): v.astype(np.float32) if n.endswith(HALF) else v for n, v in stored.items()}
    named = {name.removeprefix(_PREFIX): _values(name, stored) for name in stored if name.startswith(_PREFIX)}
    for node in graph.node:
        for name, values in _of_node(node, stored):
            named.setdefault(name, values)  # a graph stores equal weights once, under one of their names
    return named


def _of_node(node: NodeProto, stored: dict[str, Array]) -> Iterator[tuple[str, Array]]:
    """The parameters among a node's inputs; the node's name gives their module."""
    label = node.name or node.output[0].removesuffix("_int8").removesuffix("_output_0")
    match = _NODE.fullmatch(label)
    taken = [name for name in node.input if name in stored]
    if match is None or not taken:
        return
    module = match["scope"].replace("/", ".")
    if match["operation"] == "MatMul":
        yield f"{module}.weight", _values(taken[0].removesuffix("_quantized"), stored).T
        if node.op_type == "MatMulIntegerToFloat" and node.input[-1] in stored:  # its last input may be a bias
            yield f"{module}.bias", stored[node.input[-1]]
    elif match["operation"] == "Add":
        yield f"{module}.bias", stored[taken[0]]
    elif match["operation"] == "Gather":
        yield f"{module}.weight", _values(taken[0], stored)
    elif len(taken) == 2:
        yield f"{module}.weight", stored[taken[0]]
        yield f"{module}.bias", stored[taken[1]]


def _values(name: str, stored: dict[str, Array]) -> Array:
    """Floats unchanged; int8 matrices times a scale per column, int8 embeddings times a scale per row."""
    if f"{name}_quantized" in stored:
        codes, zero = stored[f"{name}_quantized"].astype(np.float32), stored[f"{name}_zero_point"].astype(np.float32)
        return np.asarray((codes - zero) * stored[f"{name}_scale"], dtype=np.float32)
    if f"{name}_scales" in stored:
        return np.asarray(stored[name].astype(np.float32) * stored[f"{name}_scales"], dtype=np.float32)
    return stored[name]


def _difference(tower: QuestionTower, encoder: OnnxEncoder) -> float:
    expected = encoder.encode_questions(_QUESTIONS).start_BD
    tower.eval()
    with torch.inference_mode():
        found = np.concatenate(
            [
                to_numpy(tower.question_states(ids, torch.zeros_like(ids), torch.ones_like(ids)).start_BD)
                for ids in (torch.from_numpy(row)[None] for row in tower.tokens.questions(_QUESTIONS))
            ]
        )
    return _relative(found, expected)


def _passage_difference(tower: PassageTower, encoder: OnnxEncoder) -> float:
    tokenized = tower.tokens.passages([Passage(text, "towers and cities") for text in _QUESTIONS])
    windows = [passage.windows[0] for passage in tokenized]
    batches = [token_batch([window.ids], [window.types], tower.tokens.pad_id) for window in windows]
    expected = [encoder.forward_passages(batch)[0].reshape(1, -1) for batch in batches]
    tower.eval()
    with torch.inference_mode():
        found = [tower.passage_states(*to_device(batch, torch.device("cpu")))[0] for batch in batches]
    return max(_relative(to_numpy(f).reshape(1, -1), e) for f, e in zip(found, expected, strict=True))


def _reading_difference(model: PhraseModel, encoder: OnnxEncoder) -> float:
    passages = encoder.tokens.passages([Passage(text, "towers and cities") for text in _QUESTIONS])
    questions = encoder.tokens.questions(_QUESTIONS)
    pairs = [(question, passage.windows[0]) for question, passage in zip(questions, passages, strict=True)]
    found, expected = (
        np.concatenate([logits.tokens_T2.ravel() for logits in reader.read(pairs)])[None]
        for reader in (model.encoder(), encoder)
    )
    return _relative(found, expected)


def _relative(found: Array, expected: Array) -> float:
    return float((np.linalg.norm(found - expected, axis=1) / np.linalg.norm(expected, axis=1)).max())
