"""An encoder whose vectors are hashes of the tokens around, documents for it, and codes of made-up vectors."""

from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from densephrases.arrays import Floats
from densephrases.index.kinds import Quantizer
from densephrases.index.settings import quantizer_of
from densephrases.index.vectors.store import VectorStore
from densephrases.model.config import ModelConfig
from densephrases.model.encoder import Encoder
from densephrases.model.padding import TokenBatch
from densephrases.model.tokenizer import Tokens
from densephrases.quantize.codebooks import ProductQuantizer
from densephrases.quantize.learn import learn_product_quantizer
from densephrases.text.documents import Document
from tests.conftest import WORDS, small_tokenizer

DIM = 12


class HashEncoder(Encoder):
    """A token's vector depends on its id, its left neighbour, and on the whole batch, as with int8 models."""

    tokens_per_batch = 16
    tokens_per_chunk = 64

    def __init__(self, **settings: Any) -> None:
        limits = {"passage_tokens": 40, "overlap": 8, "title_tokens": 3, "max_words": 4, "filter_threshold": 0.0}
        given = {"backbone": {"hidden_size": DIM}, "fingerprint": "abc"} | limits | settings
        config = ModelConfig(base="hash", **given)
        super().__init__(config, Tokens(small_tokenizer(), config))
        self.forwards = 0

    def forward_passages(self, batch: TokenBatch) -> tuple[Floats, Floats]:
        self.forwards += 1
        shifted = np.pad(batch.ids, ((0, 0), (1, 0)))[:, :-1]
        key = batch.ids * 31 + shifted * 17 + batch.ids.shape[0]
        vectors = np.sin(key[..., None] * np.linspace(0.1, 3.0, DIM)).astype(np.float32)
        return vectors, np.stack([np.cos(key * 0.7), np.cos(key * 1.3)], axis=2).astype(np.float32)

    def forward_questions(self, batch: TokenBatch) -> tuple[Floats, Floats, Floats | None]:
        start = np.sin(batch.ids.sum(axis=1)[:, None] * np.linspace(0.1, 3.0, DIM)).astype(np.float32)
        return start, -start, None


class CodedEncoder(HashEncoder):
    """The same, with a product quantizer of its vectors."""

    def __init__(self, pq: ProductQuantizer | None = None, **settings: Any) -> None:
        super().__init__(**settings)
        self._pq = pq or code_for(self.config.vector_size)

    @property
    def product_quantizer(self) -> ProductQuantizer:
        return self._pq


@cache
def code_for(dim: int) -> ProductQuantizer:
    """Of vectors whose numbers are normal, with passages of seven."""
    random = np.random.default_rng(dim)
    questions, vectors = (random.normal(size=(700, dim)).astype(np.float32) for _ in range(2))
    return learn_product_quantizer(questions, vectors, np.full(100, 7), min(max(-(-dim // 6), 2), dim), samples=500)


def passages_of(rows: int, size: int = 7) -> NDArray[np.int64]:
    """How many rows each passage has, if all but the last have `size`; one has none."""
    return np.array([0, *[size] * (rows // size), *([rows % size] if rows % size else [])], dtype=np.int64)


def store_of(vectors: Floats, quantizer: Quantizer) -> VectorStore:
    """Of passages of seven rows."""
    pq = quantizer_of(quantizer, code_for(vectors.shape[1]))
    return VectorStore.from_vectors(vectors, passages_of(len(vectors)), quantizer, pq)


WORD = st.sampled_from(WORDS.split()) | st.text("aé中😀\u0301 .x", min_size=1, max_size=5)
TEXT = st.lists(WORD, max_size=25).map(" ".join) | st.lists(WORD, max_size=8).map("\n\n".join)
METADATA = st.dictionaries(st.text(max_size=3), st.none() | st.integers() | st.text(max_size=3), max_size=2)


def documents(ids: list[str], texts: list[str]) -> list[Document]:
    return [Document(i, text, f"title {i}") for i, text in zip(ids, texts, strict=True)]


def collections(max_size: int = 8) -> st.SearchStrategy[list[Document]]:
    one = st.builds(Document, st.text(max_size=4), TEXT, st.sampled_from(["", "the city", "é"]), METADATA)
    return st.lists(one, max_size=max_size, unique_by=lambda document: document.id)


def long_text(number: int, words: int = 300) -> str:
    """Several passages of known words, other ones for each number."""
    known = WORDS.split()
    picked = np.random.default_rng(number).integers(len(known), size=words)
    return "".join(known[w] + ("\n\n" if i % 90 == 89 else ". " if i % 9 == 8 else " ") for i, w in enumerate(picked))
