"""IDF and the penalties of missing and repeated terms, against sums over plain sets."""

import math
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.index.segment.passage_terms import SegmentTerms
from densephrases.search.scoring.lexical import REPETITION_SHARE, QuestionTerms, TermWeights
from densephrases.text.hashed_terms import TERMS, terms
from densephrases.text.searched_text import SearchedText
from tests.search.made_up import WORDS, MemoryIndex, MemoryTerms, SegmentMaker, as_segment, indexes

QUESTIONS = st.lists(st.lists(st.sampled_from([*WORDS, "title", "[SEP]", "new"]), max_size=5).map(" ".join), max_size=4)


def passages_of(index: MemoryIndex) -> list[set[int]]:
    return [each for segment in index.made for each in segment.terms.of_passages]


@given(indexes())
def test_rare_words_are_worth_more(index: MemoryIndex) -> None:
    values = TermWeights.from_segments([segment.terms for segment in index.segments]).idf_V
    passages = passages_of(index)
    assert len(values) == TERMS
    assert (values > 0).all()
    for term in {0, *passages[0]} if passages else {0}:
        having = sum(term in passage for passage in passages)
        expected = math.log(1 + (len(passages) - having + 0.5) / (having + 0.5))
        assert values[term] == pytest.approx(expected, rel=1e-6)


@given(indexes())
def test_deleted_documents_do_not_count(index: MemoryIndex) -> None:
    left = []
    for made, deleted in zip(index.made, index.deleted, strict=True):
        gone = np.zeros(made.documents, dtype=bool) if deleted is None else deleted
        pairs = zip(made.passage_documents.tolist(), made.terms.of_passages, strict=True)
        left.append(MemoryTerms([each for document, each in pairs if not gone[document]]))
    expected = TermWeights.from_segments([cast("SegmentTerms", each) for each in left])
    assert TermWeights.from_snapshot(index).idf_V.tolist() == expected.idf_V.tolist()


@given(indexes(), QUESTIONS, st.sampled_from([0.5, 2.0]), st.data())
def test_costs_of_passages(index: MemoryIndex, questions: list[str], weight: float, data: st.DataObject) -> None:
    values = TermWeights.from_segments([segment.terms for segment in index.segments])
    words = QuestionTerms.from_questions(questions, values, weight)
    chosen = data.draw(st.lists(st.integers(0, max(len(questions) - 1, 0)), max_size=4 if questions else 0))
    taken = words.take(np.array(chosen, dtype=np.int64))
    for made, segment in zip(index.made, index.segments, strict=True):
        for place, question in enumerate(chosen):
            asked = terms(questions[question].replace("[SEP]", " "))
            expected = [weight * sum(values.idf_V[t] for t in asked - own) for own in made.terms.of_passages]
            np.testing.assert_allclose(taken.penalties_of_all(segment.terms, place), expected, rtol=1e-5)
            np.testing.assert_array_equal(
                taken.penalties_of_all(segment.terms, place),
                words.penalties_of_all(segment.terms, question),
                strict=True,
            )


def test_costs_of_all_passages_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    maker = SegmentMaker(np.random.default_rng(0))
    maker.add("d", [["Ada"], ["wrote"], ["Ada", "wrote"], [], ["code."]], {})
    segment = as_segment(maker.made())
    words = QuestionTerms.from_questions(["Ada wrote what?"], TermWeights.from_segments([segment.terms]), 1.0)
    whole = words.penalties_of_all(segment.terms, 0)
    monkeypatch.setattr("densephrases.search.scoring.lexical._PASSAGES_AT_ONCE", 2)
    assert words.penalties_of_all(segment.terms, 0).tolist() == whole.tolist()
    assert len(whole) == 5


def test_the_separator_is_no_word() -> None:
    maker = SegmentMaker(np.random.default_rng(0))
    maker.add("d", [["Ada"]], {})
    values = TermWeights.from_segments([as_segment(maker.made()).terms])
    parted, plain = (QuestionTerms.from_questions([text], values, 1.0) for text in ("Ada [SEP] born", "Ada born"))
    assert parted.term_W.tolist() == plain.term_W.tolist()
    assert len(QuestionTerms.from_questions(["Ada[SEP]born"], values, 1.0).term_W) == 3


@given(st.data(), QUESTIONS)
def test_repeated_words_cost_a_share(data: st.DataObject, questions: list[str]) -> None:
    values = TermWeights(np.arange(TERMS, dtype=np.float32) % 7 + 1)
    words = QuestionTerms.from_questions(questions, values, 2.0)
    phrase = st.lists(st.sampled_from([*WORDS, "title", "other"]), max_size=4).map(" ".join)
    pairs = data.draw(st.lists(st.tuples(st.integers(0, max(len(questions) - 1, 0)), phrase), max_size=5))
    pairs = pairs if questions else []
    expected = [
        2
        * REPETITION_SHARE
        * sum(values.idf_V[term] for term in terms(questions[number].replace("[SEP]", " ")) & terms(text))
        for number, text in pairs
    ]
    question_N = np.array([number for number, _ in pairs], dtype=np.int64)
    spans = [(SearchedText(f"- {text} -"), 2, 2 + len(text)) for _, text in pairs]
    np.testing.assert_allclose(words.repetition_penalties(question_N, spans), expected, rtol=1e-5)
