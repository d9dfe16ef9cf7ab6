"""The product quantizer of a model's vectors, learned from SQuAD files, and the error of its scores."""

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
from densephrases.quantize.learn import learn_new_codebooks, learn_product_quantizer

_JUDGED_QUESTIONS = 1000
_JUDGED_TOKENS = 20_000

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class LearnedQuantizer:
    """Attributes:
    product_quantizer: The small variant is one of its variants.
    score_errors: Root mean square error of scores on the training data, divided by the scores' standard deviation, by
        the bytes of each kept token: of the quantizer, and of its small variant.
    """

    product_quantizer: ProductQuantizer
    score_errors: dict[int, float]

    @property
    def token_bytes(self) -> int:
        """Of each kept token."""
        return len(self.product_quantizer.residual.sizes_F)

    @property
    def passage_bytes(self) -> int:
        """Of each passage's centroid."""
        return len(self.product_quantizer.centroid.sizes_F)


def learn_quantizer(
    encoder: Encoder,
    files: Sequence[list[QuestionedPassage]],
    max_questions: int,
    max_passages: int,
    token_bytes: int | None = None,
    anew: bool = False,
) -> LearnedQuantizer:
    """Learned from a sample of each file's questions and passages, and the tokens that the model's filter keeps.

    Args:
        encoder: Its product quantizer, if it has one, gives the components and stays as a variant.
        files: SQuAD files.
        max_questions: Of each file.
        max_passages: Of each file.
        token_bytes: Of each kept token; None takes an eighth of the vector size.
        anew: Learn the components as well, as if the encoder had no quantizer.
    """
    texts = [text for file in files for text in spread_out([q.text for _, q in questions_of(file)], max_questions)]
    if not texts:
        raise DataError("The data has no questions; give a SQuAD file with some.")
    asked = encoder.encode_questions(texts)
    read = encoder.encode_passages([p.passage for file in files for p in spread_out(file, max_passages)])
    kept = [vectors.vectors_TD[vectors.kept(encoder.config.filter_threshold)] for vectors in read]
    queries_BD = np.concatenate([asked.start_BD, asked.end_BD])
    vectors_ND, tokens_P = np.concatenate(kept), np.array([len(each) for each in kept], dtype=np.int64)
    if not len(vectors_ND):
        raise DataError("The model's filter keeps no token of the data; choose another threshold or other data.")
    former = None if anew else encoder.product_quantizer
    if former is None:
        pq = learn_product_quantizer(queries_BD, vectors_ND, tokens_P, token_bytes)
    else:
        pq = learn_new_codebooks(former, vectors_ND, tokens_P, token_bytes)
    some_BD = queries_BD[:: -(-len(queries_BD) // _JUDGED_QUESTIONS)]
    errors = {
        len(each.residual.sizes_F): _score_error(
            VectorStore.from_vectors(vectors_ND, tokens_P, "pq", each), vectors_ND, some_BD
        )
        for each in (pq, pq.small)
        if each is not None
    }
    return LearnedQuantizer(pq, errors)


def _score_error(store: VectorStore, vectors_ND: Floats, queries_BD: Floats) -> float:
    rows_N = np.arange(0, len(vectors_ND), -(-len(vectors_ND) // _JUDGED_TOKENS))
    scores_BN = queries_BD @ vectors_ND[rows_N].T
    errors_BN = store.batch_scores(rows_N, queries_BD) - scores_BN
    return float(np.sqrt(np.square(errors_BN).mean()) / max(float(scores_BN.std(axis=1).mean()), 1e-12))


def spread_out(items: Sequence[Item], limit: int) -> Sequence[Item]:
    """At most `limit` items, evenly spaced: neighbours in a file are about the same article."""
    return items[:: max(-(-len(items) // limit), 1)]
