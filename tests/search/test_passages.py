"""Sentences around many phrases at once, like those around one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from densephrases.search.passages import FoundPassage, sentences_around
from densephrases.text.documents import Document
from densephrases.text.sentences import TextSpan
from tests.text.sentence_oracle import sentences_around as around_one

TEXTS = st.text(st.sampled_from("aB. ?\n中。1)"), max_size=40)


@given(st.lists(TEXTS, max_size=4), st.data())
def test_sentences_around(texts: list[str], data: st.DataObject) -> None:
    asked = [(number, start, end) for number, text in enumerate(texts) for start, end in data.draw(spans_in(text))]
    asked = data.draw(st.permutations(asked))
    passages = [FoundPassage(text, 0, Document("d", text)).sentences_S2 for text in texts]
    number_N, *spans = np.array(asked, dtype=np.int64).reshape(-1, 3).T
    found = sentences_around(passages, number_N, np.stack(spans, axis=1))
    assert [TextSpan(*span) for span in found.tolist()] == [around_one(texts[n], *span) for n, *span in asked]


def spans_in(text: str) -> st.SearchStrategy[list[tuple[int, int]]]:
    starts = st.integers(0, len(text))
    return st.lists(starts.flatmap(lambda start: st.tuples(st.just(start), st.integers(start, len(text)))), max_size=5)
