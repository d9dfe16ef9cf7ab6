"""What an index was made with and every later addition must agree with."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from typing import Self

from densephrases.errors import ConfigError, PhraseIndexError
from densephrases.index.kinds import CANDIDATE_KINDS, QUANTIZERS, CandidateKind, Quantizer
from densephrases.model.config import FINGERPRINT_DIGITS
from densephrases.model.encoder import Encoder
from densephrases.model.folders import resolve
from densephrases.quantize.codebooks import CODEBOOKS_FILE, ProductQuantizer
from densephrases.quantize.product import refuse_none
from densephrases.text.passages import LONGEST, SHORTEST

_LIMITS = ("passage_tokens", "overlap", "title_tokens", "max_words")


@dataclass(frozen=True, kw_only=True)
class IndexSettings:
    """The model, how its vectors are kept, and the limits by which text was cut.

    Attributes:
        model: A bundled model's name or a folder: where the model was found, for whoever opens the index.
        fingerprint: Names the passage encoder of the model.
        tokenizer: Hash of its tokenizer.
        dim: Length of a vector.
        quantizer: How vectors are stored; by default as `default_quantizer` says.
        product_quantizer: Digest of the model's product quantizer, if vectors are stored by it.
        filter_threshold: Tokens with a lower filter logit are left out; None keeps all.
        candidates: Kind of candidate index; None chooses by the number of rows.
    """

    model: str
    fingerprint: str
    tokenizer: str
    dim: int
    quantizer: Quantizer = "int8"
    product_quantizer: str = ""
    filter_threshold: float | None = None
    candidates: CandidateKind | None = None
    passage_tokens: int = 384
    overlap: int = 128
    title_tokens: int = 10
    max_words: int = 20
    shortest_passage: int = SHORTEST
    longest_passage: int = LONGEST

    def __post_init__(self) -> None:
        if self.quantizer not in QUANTIZERS:
            raise ConfigError(f"quantizer={self.quantizer!r} is unknown; expected one of {list(QUANTIZERS)}.")
        if self.candidates is not None and self.candidates not in CANDIDATE_KINDS:
            raise ConfigError(f"candidates={self.candidates!r} is unknown; expected one of {list(CANDIDATE_KINDS)}.")
        if self.candidates == "passages" and self.quantizer != "pq":
            raise ConfigError(
                f"candidates='passages' goes with quantizer='pq', not with {self.quantizer!r}; change one of them."
            )

    @classmethod
    def of(cls, encoder: Encoder, model: str, quantizer: Quantizer | None = None) -> Self:
        """What an encoder found as `model` asks for, its own filter threshold included."""
        refuse_split(encoder)
        quantizer = quantizer or default_quantizer(encoder)
        limits = {name: getattr(encoder.config, name) for name in _LIMITS}
        return cls(
            model=model,
            fingerprint=encoder.fingerprint,
            tokenizer=tokenizer_hash(encoder),
            dim=encoder.config.vector_size,
            quantizer=quantizer,
            product_quantizer=refuse_none(encoder.product_quantizer).digest if quantizer == "pq" else "",
            filter_threshold=encoder.config.filter_threshold,
            **limits,
        )

    def with_threshold(self, threshold: float | None) -> Self:
        return replace(self, filter_threshold=threshold)

    def with_candidates(self, kind: CandidateKind | None) -> Self:
        return replace(self, candidates=kind)

    def refuse_other_model(self, encoder: Encoder) -> None:
        """The model must be the index's in all that shapes passage vectors; its query encoder may differ."""
        refuse_split(encoder)
        expected: list[tuple[str, object, Callable[[], object]]] = [
            ("vector size", self.dim, lambda: encoder.config.vector_size),
            ("tokenizer", self.tokenizer, lambda: tokenizer_hash(encoder)),
            ("fingerprint", self.fingerprint, lambda: encoder.fingerprint),
        ]
        for name, ours, theirs in expected:
            if ours != (found := theirs()):
                raise PhraseIndexError(
                    f"The index was built with model '{self.model}' ({name} {ours}), not with the given model of "
                    f"base '{encoder.config.base}' ({name} {found}); use that model or build a new index."
                )
        self.code_from(encoder.product_quantizer)

    def code_from(self, given: ProductQuantizer | None) -> ProductQuantizer | None:
        """The code of the vectors: the one that is given, or that of the model which the index names."""
        if not self.product_quantizer:
            return None
        pq = ProductQuantizer.read(resolve(self.model), self.dim) if given is None else given
        if pq is None or pq.digest != self.product_quantizer:
            found = "none" if pq is None else pq.digest
            raise PhraseIndexError(
                f"The index's vectors are coded by {CODEBOOKS_FILE} of model '{self.model}' as it was "
                f"({self.product_quantizer}), and there is {found} now; open the index with that model, restore the "
                "file, or build a new index."
            )
        return pq

    def refuse_other_limits(self, encoder: Encoder) -> None:
        """What is added must be cut as the rest was."""
        for name in _LIMITS:
            if (ours := getattr(self, name)) != (theirs := getattr(encoder.config, name)):
                raise PhraseIndexError(
                    f"The index was built with {name}={ours}, the given model of base '{encoder.config.base}' has "
                    f"{name}={theirs}; use the model '{self.model}' or build a new index."
                )

    def first_difference(self, other: Self) -> str:
        """The name of a setting in which two differ, or nothing."""
        return next((f.name for f in fields(self) if getattr(self, f.name) != getattr(other, f.name)), "")


def default_quantizer(encoder: Encoder) -> Quantizer:
    """Short codes must be learned beforehand: an index's first rows say too little of how vectors are spread."""
    return "int8" if encoder.product_quantizer is None else "pq"


def tokenizer_hash(encoder: Encoder) -> str:
    return sha256(encoder.tokens.tokenizer.to_str().encode()).hexdigest()[:FINGERPRINT_DIGITS]


def refuse_split(encoder: Encoder) -> None:
    if encoder.config.split:
        raise PhraseIndexError(
            f"The model of base '{encoder.config.base}' has split=True: its coherency score cannot be searched by "
            "inner products; use a model without split."
        )
