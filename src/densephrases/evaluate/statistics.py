"""How a model's vectors are spread, measured on questions and passages of a file."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from densephrases.errors import DataError
from densephrases.evaluate.datasets import QuestionedPassage, questions_of
from densephrases.model.encoder import Encoder
from densephrases.model.statistics import Floats, VectorStatistics

SHARES = (0.5, 0.9, 0.99)

Item = TypeVar("Item")


def vector_statistics(
    encoder: Encoder, passages: list[QuestionedPassage], most_questions: int, most_passages: int
) -> VectorStatistics:
    """Of at most so many questions and passages, and of the tokens that the model's filter keeps."""
    texts = [question.text for _, question in questions_of(passages)]
    if not texts:
        raise DataError("The file has no questions; give a SQuAD file with some.")
    asked = encoder.encode_questions(spread_out(texts, most_questions))
    read = encoder.encode_passages([p.passage for p in spread_out(passages, most_passages)])
    kept = [vectors.vectors_TD[vectors.kept(encoder.config.filter_threshold)] for vectors in read]
    return VectorStatistics.of(asked.start_BD, asked.end_BD, np.concatenate(kept))


def spread_out(items: Sequence[Item], most: int) -> Sequence[Item]:
    """From all over the file: neighbours in it are about the same article."""
    return items[:: -(-len(items) // most)]


def directions_needed(matrix_DD: Floats) -> dict[str, int]:
    """For each share of a matrix's trace, as percent, how few directions hold it."""
    values_D = np.linalg.eigvalsh(matrix_DD.astype(np.float64))[::-1]
    held_D = np.cumsum(values_D) / max(float(values_D.sum()), np.finfo(float).tiny)
    return {f"{share:.0%}": min(int(np.count_nonzero(held_D < share)) + 1, len(held_D)) for share in SHARES}
