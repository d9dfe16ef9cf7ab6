"""Retrievers of passages: terms by BM25, and dense vectors of whole passages."""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import faiss
import numpy as np
from numpy.typing import NDArray

from contest.corpus import Passages, searchable
from contest.engines import Forward, graph_path, onnx_forward
from contest.measures import folder_bytes
from densephrases.arrays import Floats
from densephrases.errors import MissingExtraError
from densephrases.model.padding import batches_by_length, token_batch
from densephrases.model.tokenizer import load_tokenizer

Rows = NDArray[np.int64]

LONGEST_INPUT = 256  # tokens; what all-MiniLM-L6-v2 is used with
BLOCK_PASSAGES = 512  # encoded, and kept, at once
TOKENS_PER_BATCH = 2048

# Shape suffixes: B questions, K passages of a question, N texts, D vector size.


class Retriever(Protocol):
    @property
    def bytes(self) -> int:
        """Of its files."""

    def search(self, questions: Sequence[str], k: int) -> tuple[Floats, Rows]:
        """Scores and numbers (B, K) of the best passages, best first."""


def require_benchmarks() -> None:
    if missing := [name for name in ("bm25s", "Stemmer") if find_spec(name) is None]:
        raise MissingExtraError(
            f"The contender 'bm25' needs {', '.join(missing)}: pip install 'densephrases[benchmarks]', "
            "or leave it out with --contender."
        )


class Bm25Passages:
    """bm25s as its documents recommend: English stop words and stemmer, Lucene's variant."""

    def __init__(self, folder: Path, threads: int) -> None:
        self._bm25s: Any = import_module("bm25s")
        self._stemmer = import_module("Stemmer").Stemmer("english")
        self._index = self._bm25s.BM25.load(folder, show_progress=False)
        self._threads = threads
        self.bytes = folder_bytes(folder)

    @staticmethod
    def build(passages: Passages, folder: Path) -> None:
        bm25s: Any = import_module("bm25s")
        stemmer = import_module("Stemmer").Stemmer("english")
        texts = [searchable(passage) for passage in passages]
        index = bm25s.BM25()
        index.index(bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False)
        partial = folder.with_name(f"{folder.name}.partial")
        index.save(partial, show_progress=False)
        partial.rename(folder)

    def search(self, questions: Sequence[str], k: int) -> tuple[Floats, Rows]:
        words = self._bm25s.tokenize(list(questions), stopwords="en", stemmer=self._stemmer, show_progress=False)
        threads = self._threads if len(questions) > self._threads else 0
        found, scores = self._index.retrieve(words, k=k, show_progress=False, n_threads=threads)
        return np.asarray(scores, dtype=np.float32), np.asarray(found, dtype=np.int64)


class SentenceEncoder:
    """One vector for a whole text."""

    def __init__(self, base: Path, forward: Forward) -> None:
        self._tokenizer = load_tokenizer(base)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(LONGEST_INPUT)
        self._forward = forward

    def encode(self, texts: Sequence[str]) -> Floats:
        ids = [np.array(encoding.ids, dtype=np.int64) for encoding in self._tokenizer.encode_batch(list(texts))]
        vectors: list[Floats] = [np.zeros(0, dtype=np.float32)] * len(ids)
        for rows in batches_by_length([len(row) for row in ids], TOKENS_PER_BATCH):
            batch = token_batch([ids[i] for i in rows], [np.zeros_like(ids[i]) for i in rows], pad_id=0)
            for row, vector_D in zip(rows, self._forward(batch), strict=True):
                vectors[row] = vector_D
        return np.stack(vectors)


class DensePassages:
    """Vectors of whole passages, all compared with the question's: exact, as DPR's own index."""

    def __init__(self, vectors: Path, encoder: SentenceEncoder) -> None:
        self._index = faiss.read_index(str(vectors))
        self._encoder = encoder
        self.bytes = vectors.stat().st_size

    @staticmethod
    def build(passages: Passages, encoder: SentenceEncoder, vectors: Path) -> None:
        """Block after block; what was stopped goes on after the last whole block."""
        partial = vectors.with_suffix(".partial")
        dim = encoder.encode(["size"]).shape[1]
        done = partial.stat().st_size // (4 * dim * BLOCK_PASSAGES) * BLOCK_PASSAGES if partial.exists() else 0
        with partial.open("r+b" if done else "wb") as file:
            file.truncate(4 * dim * done)
            file.seek(4 * dim * done)
            for first in range(done, len(passages), BLOCK_PASSAGES):
                block = range(first, min(first + BLOCK_PASSAGES, len(passages)))
                file.write(encoder.encode([searchable(passages[i]) for i in block]).tobytes())
        index = faiss.IndexFlatIP(dim)
        index.add(np.fromfile(partial, dtype=np.float32).reshape(-1, dim))
        faiss.write_index(index, str(vectors.with_suffix(".new")))
        vectors.with_suffix(".new").rename(vectors)
        partial.unlink()

    def search(self, questions: Sequence[str], k: int) -> tuple[Floats, Rows]:
        scores_BK, rows_BK = self._index.search(self._encoder.encode(questions), k)
        return scores_BK, rows_BK


def sentence_encoder(base: Path, graphs: Path, threads: int) -> SentenceEncoder:
    return SentenceEncoder(base, onnx_forward(graph_path(graphs, "fp32"), threads))
