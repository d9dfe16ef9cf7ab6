"""Which questions and passages a pq is learned from, and what is said of it."""

from dataclasses import replace

import numpy as np
import pytest

from densephrases.data.squad import QuestionedPassage, read_squad, sample_path
from densephrases.errors import DataError
from densephrases.evaluate.tune.quantizer import learn_quantizer, spread_out
from tests.index.made_up import DIM, CodedEncoder, HashEncoder


@pytest.fixture(scope="module")
def passages() -> list[QuestionedPassage]:
    return read_squad(sample_path())[:60]


@pytest.mark.parametrize(("count", "most", "expected"), [(5, 9, 5), (5, 5, 5), (6, 5, 3), (1, 1, 1)])
def test_items_come_from_all_over(count: int, most: int, expected: int) -> None:
    assert len(spread_out(range(count), most)) == expected


def test_the_error_is_that_of_scores(passages: list[QuestionedPassage]) -> None:
    found = learn_quantizer(HashEncoder(), [passages], 100, 100)
    assert (found.token_bytes, found.passage_bytes) == (
        len(found.product_quantizer.residual.sizes_F),
        len(found.product_quantizer.centroid.sizes_F),
    )
    assert len(found.product_quantizer.mean_D) == DIM
    assert list(found.score_errors) == [2, 1]
    assert 0 < found.score_errors[2] < found.score_errors[1] < 1


def test_former_codebooks_stay_for_indexes_that_need_them(passages: list[QuestionedPassage]) -> None:
    encoder = CodedEncoder()
    former = encoder.product_quantizer
    found = learn_quantizer(encoder, [passages, passages], 100, 30).product_quantizer
    assert found.digest != former.digest
    again = found.find(former.digest)
    assert again is not None
    np.testing.assert_array_equal(again.residual.centroids_KV, former.residual.centroids_KV)
    assert len(found.variants) == 1 + 1 + len(former.variants)
    anew = learn_quantizer(encoder, [passages], 100, 30, anew=True).product_quantizer
    assert anew.find(former.digest) is None


def test_files_without_questions_teach_nothing(passages: list[QuestionedPassage]) -> None:
    silent = [replace(passage, questions=()) for passage in passages]
    with pytest.raises(DataError, match="no questions"):
        learn_quantizer(HashEncoder(), [silent], 100, 100)
