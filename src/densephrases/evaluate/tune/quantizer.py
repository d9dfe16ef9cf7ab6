"""The product quantizer of a model's vectors, learned from a SQuAD file, and the error of its scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from densephrases.arrays import Floats
from densephrases.data.squad import QuestionedPassage, questions_of
from densephrases.errors import DataError
from densephrases.index.vectors.store import VectorStore
from densephrases.model.encoder import Encoder
from densephrases.quantize.codebooks import ProductQuantizer
from densephrases.quantize.learn import learn_product_quantizer

_JUDGED_QUESTIONS = 1000
_JUDGED_TOKENS = 20_000

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class LearnedQuantizer:
    """Attributes:
    token_bytes: Bytes of each kept token.
    passage_bytes: Bytes of each passage's centroid.
    score_error: Root mean square error of scores on the training data, divided by the scores' standard deviation.
    """

    product_quantizer: ProductQuantizer
    token_bytes: int
    passage_bytes: int
    score_error: float


def learn_quantizer(
    encoder: Encoder,
    passages: list[QuestionedPassage],
    max_questions: int,
    max_passages: int,
    token_bytes: int | None = None,
) -> LearnedQuantizer:
    """Learned from a sample of the file's questions and passages, and the tokens that the model's filter keeps."""
    texts = [question.text for _, question in questions_of(passages)]
    if not texts:
        raise DataError("The file has no questions; give a SQuAD file with some.")
    asked = encoder.encode_questions(spread_out(texts, max_questions))
    read = encoder.encode_passages([p.passage for p in spread_out(passages, max_passages)])
    kept = [vectors.vectors_TD[vectors.kept(encoder.config.filter_threshold)] for vectors in read]
    queries_BD = np.concatenate([asked.start_BD, asked.end_BD])
    vectors_ND, tokens_P = np.concatenate(kept), np.array([len(each) for each in kept], dtype=np.int64)
    if not len(vectors_ND):
        raise DataError("The model's filter keeps no token of the file; choose another threshold or another file.")
    pq = learn_product_quantizer(queries_BD, vectors_ND, tokens_P, token_bytes)
    store = VectorStore.from_vectors(vectors_ND, tokens_P, "pq", pq)
    return LearnedQuantizer(
        pq,
        len(pq.residual.sizes_F),
        len(pq.centroid.sizes_F),
        _score_error(store, vectors_ND, queries_BD[:: -(-len(queries_BD) // _JUDGED_QUESTIONS)]),
    )


def _score_error(store: VectorStore, vectors_ND: Floats, queries_BD: Floats) -> float:
    rows_N = np.arange(0, len(vectors_ND), -(-len(vectors_ND) // _JUDGED_TOKENS))
    scores_BN = queries_BD @ vectors_ND[rows_N].T
    errors_BN = store.batch_scores(rows_N, queries_BD) - scores_BN
    return float(np.sqrt(np.square(errors_BN).mean()) / max(float(scores_BN.std(axis=1).mean()), 1e-12))


def spread_out(items: Sequence[Item], limit: int) -> Sequence[Item]:
    """At most `limit` items, evenly spaced: neighbours in a file are about the same article."""
    return items[:: -(-len(items) // limit)]
