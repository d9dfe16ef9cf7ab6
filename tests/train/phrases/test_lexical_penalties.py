"""Penalties of training pairs are those that search subtracts."""

import numpy as np
import pytest

from densephrases.data.squad import QuestionedPassage
from densephrases.index.segment.passage_terms import SegmentTerms
from densephrases.search.scoring.lexical import QuestionTerms, TermWeights
from densephrases.train.phrases.lexical_penalties import NO_TERMS, LexicalPenalties, question_terms


@pytest.mark.parametrize("weight", [0.5, 2.0])
def test_as_search_computes_them(questioned: list[QuestionedPassage], weight: float) -> None:
    passages = [p.passage for p in questioned]
    asked = [q.text for p in questioned for q in p.questions]
    segment = SegmentTerms.from_passages(passages)
    searched = QuestionTerms.from_questions(asked, TermWeights.from_segments([segment]), weight)
    expected_QP = [
        searched.penalties(segment, np.full(len(passages), row), np.arange(len(passages))) for row in range(len(asked))
    ]
    found_QP = LexicalPenalties.from_passages(passages, weight).between(
        [question_terms(text) for text in asked], range(len(passages))
    )
    np.testing.assert_allclose(found_QP, np.stack(expected_QP), atol=1e-4)


def test_a_question_without_terms_pays_nothing(questioned: list[QuestionedPassage]) -> None:
    penalties = LexicalPenalties.from_passages([p.passage for p in questioned], 1.0)
    found_QP = penalties.between([NO_TERMS, question_terms("Zanzibar"), NO_TERMS], [0, 1])
    assert found_QP.shape == (3, 2)
    assert not found_QP[[0, 2]].any()
    assert (found_QP[1] > 0).all()
