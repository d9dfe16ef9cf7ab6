"""What tells the first phrases of a question apart, beside their scores."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Floats, Ints, Mask
from densephrases.search.ranking.contenders import Contenders
from densephrases.search.scoring.lexical import PenaltiesOfText, QuestionTerms
from densephrases.text.hashed_terms import terms as terms_of
from densephrases.text.normalize import normalize_answer

# Of the passage's terms, of the phrase, and of the words around it.
LEXICAL_FEATURES = ("lexical", "repetition", "sentence", "window", "title")
PHRASE_FEATURES = (*LEXICAL_FEATURES, "cut_before", "cut_after")
# Of the other phrases, by their shares in the softmax of the scores.
SHARE_FEATURES = ("overlap", "agreement")
FEATURES = (*PHRASE_FEATURES, *SHARE_FEATURES)

_SENTENCE_CHARACTERS = 300  # of a sentence that are read on each side of a phrase
_WINDOW_WORDS = 8  # on each side of a phrase
_WINDOW_CHARACTERS = 100  # among which those words are looked for
_LAST_WORD = re.compile(r"\w+ \Z")
_FIRST_WORD = re.compile(r" (\w+)")

Numbers = NDArray[np.float64]
Span = Sequence[int]
"""The first character and the one after the last."""

# Shape suffixes: N phrases, F features, K phrases of one question.


def phrase_features(contenders: Contenders, terms: QuestionTerms | None) -> Numbers:
    """The features that each phrase has by itself: (N, F), in the order of `PHRASE_FEATURES`.

    lexical: penalty of the question terms that the passage lacks; repetition, sentence, window, title: that of the
    terms that the phrase repeats, and that the rest of its sentences, eight words on each side, and the title have.
    Without `terms` these are 0. cut_before, cut_after: 1 if the phrase begins or ends with a capitalised word and
    another one stands beside it, as in half a name.
    """
    columns = [*_lexical_features(contenders, terms), *_boundary_features(contenders)]
    return np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=1)


def share_features(contenders: Contenders, temperature: float) -> Numbers:
    """The features that depend on the other phrases of the question: (N, F), in the order of `SHARE_FEATURES`.

    With shares p of a question's phrases in the softmax of their scores: overlap is the logarithm of the sum of p over
    the phrases that overlap with this one, agreement that of the sum over the phrases with the same normalised text,
    relative to its own p.
    """
    normalized = [normalize_answer(text) for text in contenders.phrase_texts]
    _, text_N = np.unique(np.array(normalized, dtype=object), return_inverse=True)
    features_NF = np.zeros((len(contenders), len(SHARE_FEATURES)))
    for first, last in zip(contenders.edges_B[:-1].tolist(), contenders.edges_B[1:].tolist(), strict=True):
        if first == last:
            continue
        here = slice(first, last)
        features_NF[here, 0], features_NF[here, 1] = _shares(
            contenders.score_N[here].astype(np.float64) / temperature,
            _overlaps(contenders.passage_N[here], contenders.spans_N2[here]),
            text_N[here, None] == text_N[here],
        )
    return features_NF


def _shares(logits_K: Numbers, overlaps_KK: Mask, same_KK: Mask) -> tuple[Numbers, Numbers]:
    logits_K = logits_K - logits_K.max()
    weights_K = np.exp(logits_K)
    total = np.log(weights_K.sum())
    overlap_K = np.log(np.where(overlaps_KK, weights_K, 0.0).sum(axis=1)) - total
    return overlap_K, np.log(np.where(same_KK, weights_K, 0.0).sum(axis=1)) - logits_K


def _overlaps(passage_K: Ints, spans_K2: Ints) -> Mask:
    start_K, end_K = spans_K2.T
    return np.asarray(
        (passage_K[:, None] == passage_K) & (start_K[:, None] < end_K) & (start_K < end_K[:, None]), dtype=bool
    )


def _lexical_features(contenders: Contenders, terms: QuestionTerms | None) -> Sequence[Floats | Numbers]:
    if terms is None:
        return [np.zeros(len(contenders))] * len(LEXICAL_FEATURES)

    occurring = list(map(terms.occurring, range(len(contenders.edges_B) - 1)))
    spans = zip(contenders.spans_N2.tolist(), contenders.sentences_N2.tolist(), strict=True)
    rows = zip(contenders.question_N.tolist(), contenders.texts, contenders.titles, spans, strict=True)
    matched = [
        (*_matched(occurring[question](text), text.text, *both), sum(lost for lost, _ in occurring[question](title)))
        for question, text, title, both in rows
    ]
    return [contenders.lexical_N, *np.array(matched, dtype=np.float64).reshape(-1, len(LEXICAL_FEATURES) - 1).T]


def _matched(found: PenaltiesOfText, text: str, phrase: Span, sentences: Span) -> tuple[float, float, float]:
    """The penalties of terms in the phrase, and beside it in its sentences and among some words."""
    (start, end), (left, right) = phrase, _window(text, *phrase)
    # not all of a table without sentence ends
    first, last = max(sentences[0], start - _SENTENCE_CHARACTERS), min(sentences[1], end + _SENTENCE_CHARACTERS)
    repetition = sentence = window = 0.0
    for penalty, positions in found:
        inside = beside = near = False
        for at in positions:
            if start <= at < end:
                inside = True
            else:
                beside = beside or first <= at < last
                near = near or left <= at < right
        repetition += penalty * inside
        sentence += penalty * beside
        window += penalty * near
    return repetition, sentence, window


def _window(text: str, start: int, end: int) -> tuple[int, int]:
    """The characters from the first of some words before the phrase to the last of some after it."""
    before, after = text[max(start - _WINDOW_CHARACTERS, 0) : start], text[end : end + _WINDOW_CHARACTERS]
    further = before.rsplit(maxsplit=_WINDOW_WORDS)[:-_WINDOW_WORDS]
    later = after.split(maxsplit=_WINDOW_WORDS)[_WINDOW_WORDS:]
    return start - len(before) + sum(map(len, further)), end + len(after) - sum(map(len, later))


def _boundary_features(contenders: Contenders) -> Sequence[Numbers]:
    texts = (each.text for each in contenders.texts)
    pairs = list(zip(texts, contenders.spans_N2.tolist(), strict=True))
    return [
        np.array([_is_cut_before(text, start) for text, (start, _) in pairs], dtype=np.float64),
        np.array([_is_cut_after(text, start, end) for text, (start, end) in pairs], dtype=np.float64),
    ]


def _is_cut_before(text: str, start: int) -> bool:
    if not text[start : start + 1].isupper():
        return False
    word = _LAST_WORD.search(text[max(start - _WINDOW_CHARACTERS, 0) : start])
    return word is not None and _may_be_of_a_name(word.group())


def _is_cut_after(text: str, start: int, end: int) -> bool:
    last = text[start:end].rsplit(maxsplit=1)[-1:]
    if not last or not last[0][:1].isupper():
        return False
    word = _FIRST_WORD.match(text, end)
    return word is not None and _may_be_of_a_name(word.group(1))


def _may_be_of_a_name(word: str) -> bool:
    """Capitalised, and not only because it is the first word of a sentence: such are mostly stop words."""
    return word[:1].isupper() and bool(terms_of(word))
