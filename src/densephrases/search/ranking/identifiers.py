"""Whether the identifiers of a question stand near a phrase.

Settings, options and codes stand in rows and entries that are otherwise alike. So a phrase pays a penalty unless the
identifiers of the question stand in its own row or sentence, or in the heading right above it.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from densephrases.search.passages import PassageTexts
from densephrases.search.query.identifier_words import (
    heading_above,
    identifiers_of,
    is_heading,
    paragraph_around,
    whole_identifier,
)
from densephrases.search.ranking.contenders import Contenders
from densephrases.search.scoring.pairs import Phrases
from densephrases.text.searched_text import SearchedText

IDENTIFIED = 100  # first phrases of a question that are compared, since entries of many identifiers share a passage
IDENTIFIER_WEIGHT = 25.0  # penalty of a phrase with none of the question's identifiers near it
# How much identifiers count, chosen on the settings of the PostgreSQL manual; 1 for the heading above a phrase.
IN_SENTENCE = 0.75  # of one that the sentence or the title has: less than for what stands under it as a heading
IN_PASSAGE = 0.4  # of one that stands elsewhere in the passage
IN_HEADING = 0.25  # of one whose heading the phrase is of, which names the thing but says little of it

# The term of a definition, 'work_mem (integer): Sets the amount of memory.', which is a heading to the rest.
_TERM = re.compile(r"[^\n:]{1,120}: ")

# Shape suffix: N phrases.


def ranked_by_identifiers(questions: Sequence[str], found: Sequence[Phrases], texts: PassageTexts) -> list[Phrases]:
    """The phrases of each question, given best first, less their penalties and in their new order."""
    heads = [
        phrases.take(slice(IDENTIFIED if identifiers_of(question) else 0))
        for question, phrases in zip(questions, found, strict=True)
    ]
    if not any(map(len, heads)):
        return list(found)
    contenders = Contenders.from_phrases(heads, None, texts)
    penalties_N = IDENTIFIER_WEIGHT * (1 - identifier_shares(contenders, questions, texts.text_before))
    parts = np.split(contenders.score_N - penalties_N.astype(np.float32), contenders.edges_B[1:-1])
    return [phrases.rescored(score_N) for phrases, score_N in zip(found, parts, strict=True)]


def identifier_shares(
    contenders: Contenders, questions: Sequence[str], text_before: Callable[[int], str] = lambda _: ""
) -> NDArray[np.float64]:
    """(N,): the share of the question's identifiers that stand near the phrase; 0 without any.

    Args:
        contenders: The phrases.
        questions: Those that they belong to.
        text_before: The text before a passage, given by its key, in which the heading may stand.
    """
    patterns = [[whole_identifier(each) for each in identifiers_of(question)] for question in questions]

    @cache
    def heading(passage: int, text: str, first: int) -> str:
        """That above the paragraph that begins there."""
        return heading_above(f"{text_before(passage)}\n\n{text[:first]}") or ""

    @cache
    def occurring(question: int, passage: int, text: SearchedText, titles: SearchedText) -> list[re.Pattern[str]]:
        """Those in or right above the passage: most passages have none."""
        around = (text.text, titles.text, text_before(passage))
        return [pattern for pattern in patterns[question] if any(map(pattern.search, around))]

    shares_N = np.zeros(len(contenders))
    keys = zip(contenders.question_N.tolist(), contenders.passage_N.tolist(), strict=True)
    rows = zip(keys, contenders.texts, contenders.titles, strict=True)
    for row, ((question, passage), text, titles) in enumerate(rows):
        if found := occurring(question, passage, text, titles):
            shares_N[row] = sum(map(_near(contenders, row, heading), found)) / len(patterns[question])
    return shares_N


def _near(
    contenders: Contenders, row: int, heading_of: Callable[[int, str, int], str]
) -> Callable[[re.Pattern[str]], float]:
    """How much an identifier counts for a phrase, from 0 to 1."""
    text, (start, end) = contenders.texts[row].text, contenders.spans_N2[row].tolist()
    first, last = paragraph_around(text, start, end)
    if is_heading(text[first:last]):
        return lambda pattern: IN_HEADING if pattern.search(text, first, last) else 0.0
    heading = heading_of(int(contenders.passage_N[row]), text, first)
    term = _TERM.match(text, first, last)
    sentence = contenders.texts[row].sentences_around(start, end)

    def share(pattern: re.Pattern[str]) -> float:
        if term and pattern.search(term[0]):
            return IN_HEADING if start < term.end() else 1.0
        if pattern.search(heading):
            return 1.0
        if pattern.search(text, sentence.start, sentence.end) or pattern.search(contenders.titles[row].text):
            return IN_SENTENCE
        return IN_PASSAGE if pattern.search(text) else 0.0

    return share
