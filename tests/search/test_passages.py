"""Sentences around many phrases at once, like those around one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from densephrases.search.passages import FoundPassage
from densephrases.text.documents import Document
from densephrases.text.sentences import TextSpan, sentences_around

TEXTS = st.text(st.sampled_from("aB. ?\n中。1)"), max_size=40)


@given(TEXTS, st.data())
def test_sentences_around(text: str, data: st.DataObject) -> None:
    starts = st.integers(0, len(text))
    spans = data.draw(st.lists(starts.flatmap(lambda start: st.tuples(st.just(start), st.integers(start, len(text))))))
    passage = FoundPassage(text, 0, Document("d", text))
    found = passage.sentences_around(np.array(spans, dtype=np.int64).reshape(-1, 2))
    expected = [sentences_around(text, start, end) for start, end in spans]
    assert [TextSpan(*span) for span in found.tolist()] == expected
