"""Convert the published checkpoints of the original DensePhrases to phrase models of this package."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing
from torch import Tensor
from transformers import BertConfig

from densephrases.errors import ModelError, first_line
from densephrases.json_input import read_json_file
from densephrases.model.config import ModelConfig
from densephrases.nn.phrase_model import PhraseModel

PICKLED_WEIGHTS, SAFE_WEIGHTS = "pytorch_model.bin", "model.safetensors"
SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

# The original's names, in its releases and before them, and ours.
_MODULES = {
    "phrase_encoder.": "passage.encoder.",
    "bert_start.": "passage.encoder.",
    "query_start_encoder.": "question_start.encoder.",
    "bert_q_start.": "question_start.encoder.",
    "query_end_encoder.": "question_end.encoder.",
    "bert_q_end.": "question_end.encoder.",
    "filter_linear.": "filter.",
}
_TEACHER = ("cross_encoder.", "bert_qd.", "qa_outputs.")  # saved with the student, used in training only
_UNUSED = (".pooler.dense.weight", ".pooler.dense.bias", ".embeddings.position_ids")

State = dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class ImportReport:
    """Numbers of the checkpoint's tensors: converted, and ignored because the phrase model does not use them."""

    taken: int
    ignored: int


def import_original(folder: Path, out: Path) -> ImportReport:
    """Write the phrase model of an original checkpoint as a model folder."""
    if not folder.is_dir():
        raise ModelError(f"Checkpoint folder '{folder}' does not exist.")
    if out.resolve() == folder.resolve():
        raise ModelError(f"'{out}' is the checkpoint itself; give another folder for the imported model.")
    backbone = _read_backbone(folder)
    tokenizer = _read_tokenizer(folder, backbone["vocab_size"])
    weights = _read_weights(folder)
    state = _rename(weights, folder)
    model = PhraseModel(ModelConfig(base=folder.resolve().name, backbone=backbone), tokenizer)
    _load(model, state, folder)
    model.save_pretrained(out)
    return ImportReport(len(state), len(weights) - len(state))


def _read_backbone(folder: Path) -> dict[str, Any]:
    values = _read_json(folder / "config.json")
    kind = values.get("model_type", "bert")  # SpanBERT's own configuration does not say
    if kind != "bert":
        raise ModelError(f"'{folder}' holds a model of type '{kind}': the original's checkpoints are BERT models.")
    backbone = BertConfig.from_dict(values).to_dict()
    return {name: value for name, value in backbone.items() if name not in ("architectures", "_name_or_path")}


def _read_json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise ModelError(f"Checkpoint folder '{path.parent}' has no {path.name}; it is incomplete.")
    try:
        values = read_json_file(path)
    except ValueError as error:
        raise ModelError(f"'{path}' is not valid JSON ({error}); copy the checkpoint again.") from error
    if not isinstance(values, dict):
        raise ModelError(f"'{path}' is not an object of settings; copy the checkpoint again.")
    return values


def _read_tokenizer(folder: Path, most: int) -> Tokenizer:
    """The checkpoint's WordPiece tokenizer, with the original's token types: 1 throughout title and passage."""
    vocabulary = _read_vocabulary(folder / "vocab.txt", most)
    settings = folder / "tokenizer_config.json"
    lower_case = bool(settings.is_file() and _read_json(settings).get("do_lower_case", False))
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))  # noqa: S106
    tokenizer.normalizer = BertNormalizer(lowercase=lower_case)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.add_special_tokens(list(SPECIAL_TOKENS))
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:1 $A:1 [SEP]:1 $B:1 [SEP]:1",
        special_tokens=[(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")],
    )
    return tokenizer


def _read_vocabulary(path: Path, most: int) -> dict[str, int]:
    if not path.is_file():
        raise ModelError(f"Checkpoint folder '{path.parent}' has no {path.name}; copy that of its base model there.")
    try:
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise ModelError(f"'{path}' is not a vocabulary in UTF-8 ({error}).") from error
    vocabulary = {token.rstrip("\r"): number for number, token in enumerate(lines)}
    if missing := [token for token in SPECIAL_TOKENS if token not in vocabulary]:
        raise ModelError(f"'{path}' lacks the special tokens {missing}: it is not a BERT vocabulary.")
    if len(lines) > most:
        raise ModelError(f"'{path}' has {len(lines)} tokens, the model knows {most}: it belongs to another model.")
    return vocabulary


def _read_weights(folder: Path) -> State:
    safe, pickled = folder / SAFE_WEIGHTS, folder / PICKLED_WEIGHTS
    path = safe if safe.is_file() else pickled
    if not path.is_file():
        raise ModelError(f"Checkpoint folder '{folder}' has neither {SAFE_WEIGHTS} nor {PICKLED_WEIGHTS}.")
    try:
        state = load_file(path) if path == safe else _unpickle(path)
    except Exception as error:  # damaged bytes make the readers fail in every possible way
        raise ModelError(f"'{path}' cannot be read ({first_line(error)}); copy it again.") from error
    if not isinstance(state, dict) or not all(isinstance(tensor, Tensor) for tensor in state.values()):
        raise ModelError(f"'{path}' is not a dictionary of tensors: it is not a checkpoint of the original.")
    return state


def _unpickle(path: Path) -> Any:
    # The only pickle this package ever reads: the original's checkpoints exist in no other format.
    # `weights_only` loads tensors and plain containers and refuses everything else, so that a manipulated file
    # cannot run code.
    return torch.load(path, map_location="cpu", weights_only=True)


def _rename(weights: State, folder: Path) -> State:
    """The tensors of the phrase model under our names; an unknown tensor is an error."""
    state: State = {}
    unknown = []
    for full_name, tensor in weights.items():
        name = full_name.removeprefix("module.")
        prefix = name.partition(".")[0] + "."
        if prefix in _TEACHER or (prefix in _MODULES and name.endswith(_UNUSED)):
            continue
        if prefix in _MODULES:
            state[_MODULES[prefix] + name.removeprefix(prefix)] = tensor
        else:
            unknown.append(full_name)
    _refuse_strangers(state, unknown, folder)
    return state


def _refuse_strangers(state: State, unknown: list[str], folder: Path) -> None:
    has_passages, has_questions = (any(n.startswith(part) for n in state) for part in ("passage.", "question_"))
    if not has_passages and has_questions:
        raise ModelError(
            f"'{folder}' has question encoders only, as the original's query-side fine-tuning saves them; "
            "import the model whose phrases they search."
        )
    if not has_passages:
        raise ModelError(f"'{folder}' has no phrase_encoder: it is not a checkpoint of the original DensePhrases.")
    if unknown:
        raise ModelError(f"'{folder}' has {len(unknown)} tensors of unknown purpose: {_some(unknown)}.")


def _load(model: PhraseModel, state: State, folder: Path) -> None:
    expected = model.state_dict()
    if missing := sorted(expected.keys() - state.keys()):
        raise ModelError(f"'{folder}' lacks {len(missing)} tensors: {_some([_original_name(n) for n in missing])}.")
    if surplus := sorted(state.keys() - expected.keys()):
        names = _some([_original_name(n) for n in surplus])
        raise ModelError(f"'{folder}' has {len(surplus)} tensors more than its config.json describes: {names}.")
    for name, tensor in expected.items():
        if state[name].shape != tensor.shape:
            raise ModelError(
                f"'{folder}': {_original_name(name)} has shape {tuple(state[name].shape)}, "
                f"its config.json asks for {tuple(tensor.shape)}."
            )
    model.load_state_dict(state)


def _original_name(name: str) -> str:
    theirs, ours = next(pair for pair in _MODULES.items() if name.startswith(pair[1]))
    return theirs + name.removeprefix(ours)


def _some(names: list[str], shown: int = 3) -> str:
    return ", ".join(names[:shown]) + (", ..." if len(names) > shown else "")
