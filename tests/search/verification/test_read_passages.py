"""What is read of a passage, and the best phrase there, against trying all spans."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from densephrases.model.encoder import ReadingLogits
from densephrases.model.tokenizer import TokenizedPassage
from densephrases.search.verification.read_passages import READ_TOKENS, ReadPassage, reading_excerpt
from densephrases.text.passages import Passage
from densephrases.text.words import is_phrase
from tests.search.verification.made_up import MadeUpReader

WORDS = st.sampled_from(["the", "tower", "1889", "(built)", "in", "paris,", "--", "x-ray", "."])


def tokenized(encoder: MadeUpReader, text: str) -> TokenizedPassage:
    (passage,) = encoder.tokens.passages([Passage(text, "a tower")])
    return passage


HEADINGS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)).map(lambda span: (span[0], sum(span))), max_size=2)


@given(st.lists(WORDS, min_size=1, max_size=12).map(" ".join), st.integers(0, 2**32), HEADINGS)
def test_the_best_phrase_is_that_of_all_spans(text: str, seed: int, headings: list[tuple[int, int]]) -> None:
    passage = tokenized(MadeUpReader(max_words=3), text)
    logits_T2 = np.random.default_rng(seed).integers(-9, 9, (len(passage.offsets), 2)).astype(np.float32)
    read = ReadPassage.from_window(text, passage, passage.windows[0], ReadingLogits(logits_T2, None), headings)
    spans = [
        (logits_T2[i, 0] + logits_T2[j, 1], int(passage.offsets[i, 0]), int(passage.offsets[j, 1]))
        for i in range(len(logits_T2))
        for j in range(i, passage.max_span[i] + 1)
    ]
    phrases = [(score, start, end) for score, start, end in spans if is_phrase(text, start, end)]
    visible = [(begin, stop) for begin, stop in headings if text[begin:stop].strip()]
    phrases = [each for each in phrases if not any(begin < each[2] and stop > each[1] for begin, stop in visible)]
    found = read.best_phrase()
    if not phrases:
        assert found is None
        return
    assert found is not None
    start, end, score = found
    assert score == max(phrases)[0]
    assert (score, start, end) in phrases
    assert read.logit(start, end) == score


def test_a_phrase_that_was_not_read_has_no_logit() -> None:
    text = "the tower in paris"
    passage = tokenized(MadeUpReader(), text)
    tokens = MadeUpReader().tokens
    window = tokens.excerpt(passage.windows[0], 1, 3)  # "tower in"
    logits = ReadingLogits(np.array([[1, 2], [3, 4]], dtype=np.float32), 5.0)
    read = ReadPassage.from_window(text, passage, window, logits)
    assert read.null == 5.0
    assert read.logit(4, 12) == 1 + 4
    assert read.logit(0, 9) is None
    assert read.logit(4, 18) is None
    assert read.logit(5, 12) is None, "no token begins there"


def test_short_passages_are_read_as_they_were_indexed() -> None:
    encoder = MadeUpReader()
    passage = tokenized(encoder, "the tower in paris")
    assert reading_excerpt(encoder.tokens, passage, 4) is passage.windows[0]
    assert reading_excerpt(encoder.tokens, tokenized(encoder, ""), 0) is None


@given(st.integers(0, 899))
def test_of_long_passages_the_tokens_around_the_phrase_are_read(word: int) -> None:
    encoder = MadeUpReader()
    text = " ".join(["the", "tower", "in"] * 300)
    passage = tokenized(encoder, text)
    assert len(passage.windows) > 1
    window = reading_excerpt(encoder.tokens, passage, int(passage.offsets[word, 0]))
    assert window is not None
    assert window.start <= word < window.stop
    whole = next(each for each in passage.windows if each.own_start <= word < each.own_stop)
    length = min(READ_TOKENS, whole.stop - whole.start)
    assert window.stop - window.start == length
    assert whole.start <= window.start <= window.stop <= whole.stop
    inner = whole.ids[whole.first + window.start - whole.start : whole.first + window.stop - whole.start]
    assert window.ids.tolist() == [*whole.ids[: whole.first], *inner, whole.ids[-1]]
    assert window.types.tolist() == [0] * whole.first + [1] * (length + 1)
    around = min(word - whole.start, whole.stop - 1 - word, READ_TOKENS // 2 - 1)
    assert window.start <= word - around
    assert word + around < window.stop
