"""The configuration of a phrase model, as stored in the `config.json` of a model folder."""

import json
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, Self

from densephrases.checksums import read_verified, replace_listed
from densephrases.errors import ConfigError, ModelError
from densephrases.json_input import check_fields, parse_json, read_json_file

SCHEMA_VERSION = 2
CONFIG_FILE = "config.json"
FINGERPRINT_DIGITS = 16

QuestionBackbone = Literal["separate", "shared"]

_LEAST = {"passage_tokens": 1, "overlap": 0, "title_tokens": 0, "question_tokens": 3, "max_words": 1}
_MOST = 10_000_000  # of anything that is counted: larger numbers are mistakes, or made to exhaust the memory
_HIDDEN_SIZE_NAMES = ("hidden_size", "dim", "d_model")  # BERT and most others, DistilBERT, a few
ModelKind = Literal["phrases", "reader"]

# Keys of schema version 1, and what they are called now.
_FORMER_KEYS = {"trunk": "backbone", "question_trunk": "question_backbone", "word_weight": "lexical_weight"}
_SHIFTED = ("roberta", "xlm-roberta", "camembert", "mpnet")  # leave their first positions unused
_READER_ROOM = 16  # tokens of a reader's input beside the longest question


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """The architecture (paper §3.2 and the switches of Table 5) and the limits of its inputs.

    Attributes:
        base: Name of the pre-trained encoder all backbones start from.
        backbone: The Hugging Face configuration of that encoder.
        share: One backbone encodes both passages and questions.
        split: DenSPI's split of the hidden vector into start, end and coherency parts; needs `share`.
        dim: Size of a learned projection of all vectors; None keeps the backbone's hidden size.
        question_backbone: 'separate' has one backbone each for start and end vectors of a question, 'shared' one
            backbone with two linear heads.
        question_rank: Rank of the matrices that questions add to those of the backbone; 0: they add none.
        question_layers: Of how many of the backbone's last layers; None: of all.
        reads: The passage backbone also reads: question and passage as one input, with a head of two logits a token.
        reading_rank: Rank of the matrices that reading adds to those of the backbone; 0: it adds none.
        null_logit: What reads has learned to say that a passage does not answer, by the logits of the first token.
        passage_tokens: Longest input of the passage encoder; longer passages are encoded in windows.
        overlap: Tokens that neighbouring windows have in common.
        title_tokens: Tokens of the title that precede each window.
        question_tokens: Longest question, special tokens included; longer ones are cut.
        max_words: Longest phrase, the paper's L.
        filter_threshold: A token is stored if its start or its end filter logit exceeds this; None stores all.
        length_penalty: Subtracted from a phrase's score for each of its characters: start and end are scored
            independently, whatever their distance.
        lexical_weight: Weight of lexical overlap: score -= weight x sum of the IDFs of the question terms that the
            passage lacks.
        ranking: Weights of the features that rank a question's first phrases; None ranks by the score alone.
        fingerprint: Identifies the passage encoder, which made the vectors of an index. Models with the same
            fingerprint can search the same indexes. Set on export.
        confidence: Weights that turn the scores of a result list into probabilities; None if none were fitted.
        verification: How reader and search are weighed when a model that reads verifies answers; None takes defaults.
        kind: A phrase model, or a cross-attention reader (which has only the backbone and the limits).
    """

    base: str
    backbone: dict[str, Any] = field(repr=False)
    share: bool = False
    split: bool = False
    dim: int | None = None
    question_backbone: QuestionBackbone = "separate"
    question_rank: int = 0
    question_layers: int | None = None
    reads: bool = False
    reading_rank: int = 0
    null_logit: bool = False
    passage_tokens: int = 384
    overlap: int = 128
    title_tokens: int = 10
    question_tokens: int = 64
    max_words: int = 20
    filter_threshold: float | None = None
    length_penalty: float = 0.0
    lexical_weight: float = 0.0
    ranking: dict[str, float] | None = None
    fingerprint: str = ""
    confidence: dict[str, float] | None = None
    verification: dict[str, float] | None = None
    kind: ModelKind = "phrases"
    schema_version: int = SCHEMA_VERSION

    def __post_init__(self) -> None:
        self._check_switches()
        self._check_limits()

    def _check_switches(self) -> None:
        if self.split and not self.share:
            raise ConfigError("split=True needs share=True: DenSPI splits the vectors of one shared encoder.")
        if self.split and self.dim is not None:
            raise ConfigError(f"split=True excludes dim={self.dim}: the split already divides the hidden vector.")
        if self.question_backbone not in ("separate", "shared"):
            raise ConfigError(f"question_backbone={self.question_backbone!r} is neither 'separate' nor 'shared'.")
        for name in ("question_rank", "reading_rank"):
            if not isinstance(rank := getattr(self, name), int) or not 0 <= rank <= _MOST:
                raise ConfigError(f"{name}={rank!r:.60} is not a whole number from 0 to {_MOST:,}.")
        if self.question_rank and not self.one_question_backbone:
            raise ConfigError(f"question_rank={self.question_rank} needs one backbone for start and end of a question.")
        if self.question_layers is not None and not 1 <= self.question_layers <= _MOST:
            raise ConfigError(f"question_layers={self.question_layers} is not a number of layers from 1 to {_MOST:,}.")
        if self.dim is not None and not 1 <= self.dim <= _MOST:
            raise ConfigError(f"dim={self.dim} is not a number of dimensions from 1 to {_MOST:,}.")

    def _check_limits(self) -> None:
        for name in ("length_penalty", "lexical_weight"):
            if not getattr(self, name) >= 0:
                raise ConfigError(f"{name}={getattr(self, name)} is not a number of at least 0.")
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if not isinstance(value, int) or value < least:
                raise ConfigError(f"{name}={value!r:.60} is not a whole number of at least {least}.")
            if value > _MOST:
                raise ConfigError(f"{name}={value!r:.60} is more than {_MOST:,}.")
        if self.title_tokens + self.overlap + 8 >= self.passage_tokens:
            raise ConfigError(
                f"passage_tokens={self.passage_tokens} leaves no room beside overlap={self.overlap} "
                f"and title_tokens={self.title_tokens}; raise it or lower those."
            )
        least = self.question_tokens + _READER_ROOM
        if self.kind == "reader" and self.passage_tokens < least:
            raise ConfigError(
                f"passage_tokens={self.passage_tokens} leaves a reader no room beside questions of up to "
                f"{self.question_tokens} tokens; raise it to at least {least}."
            )
        self._check_positions()

    def _check_positions(self) -> None:
        if self.reads and (longest := self.passage_tokens + self.question_tokens) > self.positions:
            raise ConfigError(
                f"reads=True needs positions for a question and a passage, {longest} in all, and {self.base} has "
                f"{self.positions}; lower passage_tokens or question_tokens."
            )
        for name in ("passage_tokens", "question_tokens"):
            if (value := getattr(self, name)) > self.positions:
                raise ConfigError(f"{name}={value} exceeds the {self.positions} positions of {self.base}; lower it.")

    @property
    def positions(self) -> int:
        """The longest input for which the backbone has positions."""
        table = self._number("max_position_embeddings") or 1_000_000
        return table - (self._number("pad_token_id") + 1 if self.backbone.get("model_type") in _SHIFTED else 0)

    @property
    def hidden(self) -> int:
        for name in _HIDDEN_SIZE_NAMES:
            if size := self._number(name):
                return size
        raise ConfigError(f"The backbone's configuration names no hidden size: expected one of {_HIDDEN_SIZE_NAMES}.")

    def _number(self, name: str) -> int:
        """A whole number of the backbone's configuration, 0 if it has none of that name."""
        value = self.backbone.get(name)
        if value is not None and (type(value) is not int or not 0 <= value <= _MOST):
            raise ConfigError(f"The backbone's {name}={value!r:.60} is not a whole number from 0 to {_MOST:,}.")
        return value or 0

    @property
    def vector_size(self) -> int:
        """Length of a token vector and of each of a question's two vectors."""
        return self.dim or self.hidden

    @property
    def split_parts(self) -> tuple[slice, slice, slice, slice]:
        """With `split`, the start, end and two coherency parts of a hidden vector, in DenSPI's proportions."""
        coherency = max(self.hidden // 32, 1)
        boundary = (self.hidden - 2 * coherency) // 2
        edges = [0, boundary, 2 * boundary, 2 * boundary + coherency, 2 * boundary + 2 * coherency]
        start, end, left, right = (slice(a, b) for a, b in pairwise(edges))
        return start, end, left, right

    @property
    def one_question_backbone(self) -> bool:
        return self.share or self.question_backbone == "shared"

    def with_own_questions(self) -> Self:
        """The same model with a query encoder that shares no backbone with the passage encoder."""
        return replace(self, share=False, question_backbone="shared" if self.one_question_backbone else "separate")

    def with_threshold(self, threshold: float | None) -> Self:
        return replace(self, filter_threshold=threshold)

    def with_length_penalty(self, penalty: float) -> Self:
        return replace(self, length_penalty=penalty)

    def with_lexical_weight(self, weight: float) -> Self:
        return replace(self, lexical_weight=weight)

    def with_ranking(self, weights: dict[str, float] | None) -> Self:
        return replace(self, ranking=weights)

    def with_fingerprint(self, fingerprint: str) -> Self:
        return replace(self, fingerprint=fingerprint)

    def with_confidence(self, weights: dict[str, float] | None) -> Self:
        return replace(self, confidence=weights)

    def with_verification(self, weights: dict[str, float] | None) -> Self:
        return replace(self, verification=weights)

    def unfitted(self) -> Self:
        """Without what was fitted to the model's vectors, for a model that will make other ones."""
        return replace(self, ranking=None, fingerprint="", confidence=None, verification=None)

    def save(self, folder: Path) -> None:
        replace_listed(folder / CONFIG_FILE, json.dumps(asdict(self), indent=2) + "\n")

    @classmethod
    def load(cls, folder: Path, kind: ModelKind = "phrases") -> Self:
        path = folder / CONFIG_FILE
        if not folder.is_dir():
            raise ModelError(f"Model folder '{folder}' does not exist; give a folder made by training or export.")
        if not path.is_file():
            raise ModelError(f"Model folder '{folder}' has no {CONFIG_FILE}; it is incomplete or not a phrase model.")
        try:
            values = parse_json(read_verified(path))
        except ValueError as error:
            raise ModelError(f"'{path}' is not valid JSON ({error}); copy the model folder again.") from error
        config = cls.from_values(values, path)
        if config.kind != kind:
            raise ModelError(f"Model folder '{folder}' holds a model of kind '{config.kind}', expected '{kind}'.")
        return config

    @classmethod
    def describes(cls, folder: Path) -> bool:
        """Whether a folder holds a model of this package; Hugging Face models have a config.json too."""
        path = folder / CONFIG_FILE
        try:
            values = read_json_file(path) if path.is_file() else None
        except ValueError:
            return False
        return isinstance(values, dict) and "schema_version" in values

    @classmethod
    def from_values(cls, values: Any, path: Path) -> Self:
        if not isinstance(values, dict) or "schema_version" not in values:
            raise ModelError(f"'{path}' has no schema_version: it is not the configuration of a phrase model.")
        if values["schema_version"] == 1:
            values = {_FORMER_KEYS.get(key, key): value for key, value in values.items()} | {"schema_version": 2}
        if values["schema_version"] != SCHEMA_VERSION:
            raise ModelError(
                f"'{path}' has schema version {values['schema_version']}, this package reads {SCHEMA_VERSION}; "
                "use a matching version of densephrases or export the model again."
            )
        known = {f.name for f in fields(cls)}
        if unknown := sorted(values.keys() - known):
            raise ModelError(f"'{path}' has unknown settings {unknown}; expected some of {sorted(known)}.")
        if missing := sorted({"base", "backbone"} - values.keys()):
            raise ModelError(f"'{path}' lacks {missing}; the file is truncated or was edited.")
        try:
            check_fields(cls, values)
            return cls(**values)
        except ValueError as error:
            raise ModelError(f"'{path}' has an impossible setting: {error}") from error
