"""Which phrases of a passage count, one by one; `test_reading` compares the ranking with brute force."""

import numpy as np

from densephrases.evaluate.distinct_spans import FoundSpan, SpanRanking, distinct_spans
from densephrases.search.ranking.contenders import CONTENDERS
from densephrases.search.ranking.linear import PhraseRanking
from densephrases.search.scoring.in_passage import Span
from densephrases.text.passages import Passage


def test_whole_words_and_each_text_once() -> None:
    text = "The tower, the town !"
    offsets = np.array([(0, 3), (4, 6), (6, 9), (9, 10), (11, 14), (15, 19), (20, 21)])
    spans = [Span(1, 1, 9), Span(1, 2, 8), Span(0, 3, 7), Span(6, 6, 6), Span(4, 5, 5), Span(5, 5, 4), Span(2, 5, 3)]
    found = list(distinct_spans(7, text, offsets, spans))
    assert found == [FoundSpan(7, 4, 9, 8), FoundSpan(7, 11, 19, 5)]


def test_no_more_than_are_ranked_again() -> None:
    text = " ".join(map(str, range(30)))
    offsets = np.array([(text.index(str(n)), text.index(str(n)) + len(str(n))) for n in range(10)] * 3)
    texts = list(distinct_spans(0, text, offsets, (Span(n, m, 0.0) for n in range(10) for m in range(n, 10))))
    assert len(texts) == CONTENDERS


def test_questions_without_phrases_have_no_best() -> None:
    passages = [Passage("Ada Lovelace met Babbage in May.", "Ada")]
    ranking = SpanRanking(PhraseRanking({"cut_after": -5.0}), passages, None, None)
    half, whole = FoundSpan(0, 0, 3, 3.0), FoundSpan(0, 0, 12, 1.0)
    assert list(ranking.best([0, 1, 2], [[], [half, whole], []])) == [None, whole, None]
    assert list(ranking.best([0], [[]])) == [None]
