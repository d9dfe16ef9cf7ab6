"""The settings of an index, which every later addition must agree with."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from typing import Self

from densephrases.errors import ConfigError, PhraseIndexError
from densephrases.index.kinds import CANDIDATE_KINDS, PRODUCT_QUANTIZERS, QUANTIZERS, CandidateKind, Quantizer
from densephrases.model.config import FINGERPRINT_DIGITS
from densephrases.model.encoder import Encoder
from densephrases.model.folders import resolve
from densephrases.quantize.codebooks import CODEBOOKS_FILE, ProductQuantizer
from densephrases.quantize.product import require_pq, require_small_pq

_MOST = 10_000_000
_LIMITS = ("passage_tokens", "overlap", "title_tokens", "max_words")


@dataclass(frozen=True, kw_only=True)
class IndexSettings:
    """The model, how its vectors are stored, and the limits of passages.

    Attributes:
        model: Name of a bundled model, or the folder where the model was found.
        fingerprint: Identifies the passage encoder of the model.
        tokenizer: Hash of its tokenizer.
        dim: Length of a vector.
        quantizer: How vectors are stored; by default as `default_quantizer` says.
        product_quantizer: Digest of the model's product quantizer if the quantizer is `pq` or `pq-small`, else empty.
        filter_threshold: Tokens whose filter logits are not above it are dropped; None keeps all.
        candidates: Kind of candidate index; None chooses by the number of token vectors.
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

    def __post_init__(self) -> None:
        if self.quantizer not in QUANTIZERS:
            raise ConfigError(f"quantizer={self.quantizer!r} is unknown; expected one of {list(QUANTIZERS)}.")
        if self.candidates is not None and self.candidates not in CANDIDATE_KINDS:
            raise ConfigError(f"candidates={self.candidates!r} is unknown; expected one of {list(CANDIDATE_KINDS)}.")
        for name, least in {"dim": 1, "passage_tokens": 1, "overlap": 0, "title_tokens": 0, "max_words": 1}.items():
            if not least <= getattr(self, name) <= _MOST:
                raise ConfigError(f"{name}={getattr(self, name)} is not a whole number from {least} to {_MOST:,}.")
        if self.candidates in ("passages", "clusters") and self.quantizer not in PRODUCT_QUANTIZERS:
            raise ConfigError(
                f"candidates={self.candidates!r} goes with quantizer='pq', not with {self.quantizer!r}; "
                "change one of them."
            )

    @classmethod
    def from_encoder(cls, encoder: Encoder, model: str, quantizer: Quantizer | None = None) -> Self:
        """Defaults for an encoder, its filter threshold included; `model` is where it was found."""
        refuse_split(encoder)
        quantizer = quantizer or default_quantizer(encoder)
        limits = {name: getattr(encoder.config, name) for name in _LIMITS}
        return cls(
            model=model,
            fingerprint=encoder.fingerprint,
            tokenizer=tokenizer_hash(encoder),
            dim=encoder.config.vector_size,
            quantizer=quantizer,
            product_quantizer="" if (pq := quantizer_of(quantizer, encoder.product_quantizer)) is None else pq.digest,
            filter_threshold=encoder.config.filter_threshold,
            **limits,
        )

    def with_threshold(self, threshold: float | None) -> Self:
        return replace(self, filter_threshold=threshold)

    def with_candidates(self, kind: CandidateKind | None) -> Self:
        return replace(self, candidates=kind)

    def refuse_other_model(self, encoder: Encoder) -> None:
        """The passage encoder must be the one of the index; the query encoder may differ."""
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
        self.resolve_pq(encoder.product_quantizer)

    def resolve_pq(self, given: ProductQuantizer | None) -> ProductQuantizer | None:
        """The product quantizer of the index, None if it has none: the given one, or that of the index's model."""
        if not self.product_quantizer:
            return None
        of_model = ProductQuantizer.read(resolve(self.model), self.dim) if given is None else given
        pq = None if of_model is None else of_model.find(self.product_quantizer)
        if pq is None:
            found = "none" if of_model is None else of_model.digest
            raise PhraseIndexError(
                f"The index's vectors are encoded by {CODEBOOKS_FILE} of model '{self.model}' "
                f"({self.product_quantizer}), but there is {found} now; open the index with that model, restore the "
                "file, or build a new index."
            )
        return pq

    def refuse_other_limits(self, encoder: Encoder) -> None:
        """New documents must be cut into passages like the others."""
        for name in _LIMITS:
            if (ours := getattr(self, name)) != (theirs := getattr(encoder.config, name)):
                raise PhraseIndexError(
                    f"The index was built with {name}={ours}, the given model of base '{encoder.config.base}' has "
                    f"{name}={theirs}; use the model '{self.model}' or build a new index."
                )

    def first_difference(self, other: Self) -> str:
        """The name of the first setting in which two differ, or an empty string."""
        return next((f.name for f in fields(self) if getattr(self, f.name) != getattr(other, f.name)), "")


def quantizer_of(quantizer: Quantizer, pq: ProductQuantizer | None) -> ProductQuantizer | None:
    """What a model with this product quantizer encodes vectors of new indexes with; None for scalar quantizers."""
    if quantizer not in PRODUCT_QUANTIZERS:
        return None
    return require_pq(pq) if quantizer == "pq" else require_small_pq(pq)


def default_quantizer(encoder: Encoder) -> Quantizer:
    """`pq` if the model has codebooks; those of the first vectors of an index would be too specific."""
    return "int8" if encoder.product_quantizer is None else "pq"


def tokenizer_hash(encoder: Encoder) -> str:
    return sha256(encoder.tokens.tokenizer.to_str().encode()).hexdigest()[:FINGERPRINT_DIGITS]


def refuse_split(encoder: Encoder) -> None:
    if encoder.config.split:
        raise PhraseIndexError(
            f"The model of base '{encoder.config.base}' has split=True: its coherency score cannot be searched by "
            "inner products; use a model without split."
        )
