"""The first phrases of questions with the text around them, from which the features of a ranking are computed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from densephrases.arrays import Floats, Ints
from densephrases.search.passages import PassageTexts
from densephrases.search.scoring.lexical import QuestionTerms
from densephrases.search.scoring.pairs import Phrases
from densephrases.text.searched_text import SearchedText

CONTENDERS = 20  # of a question

# Shape suffixes: B questions, N phrases of all questions.


@dataclass(frozen=True)
class Contenders:
    """The first phrases of several questions, one question after the other, best first.

    Attributes:
        edges_B: The first phrase of each question; one more than questions.
        score_N: The score by which they are ranked before.
        lexical_N: Penalty of the question terms that the passage lacks.
        passage_N: Equal for phrases of one passage.
        spans_N2: Character offsets in the passage.
        texts: The passage of each phrase; one object for phrases of one passage.
        titles: Of its document, and the headings above it.
    """

    edges_B: Ints
    score_N: Floats
    lexical_N: Floats
    passage_N: Ints
    spans_N2: Ints
    texts: Sequence[SearchedText]
    titles: Sequence[SearchedText]

    @classmethod
    def from_phrases(cls, several: Sequence[Phrases], terms: QuestionTerms | None, texts: PassageTexts) -> Self:
        """Of each question's phrases, which may be none."""
        phrases = Phrases.joined(several)
        edges_B = np.cumsum([0, *map(len, several)])
        located = texts.locate(phrases)
        passages = [texts.passage(key) for key in located.passage_N.tolist()]
        question_N = np.repeat(np.arange(len(several)), np.diff(edges_B))
        return cls(
            edges_B,
            phrases.score_N,
            np.zeros(len(phrases), np.float32)
            if terms is None
            else texts.lexical_penalties(phrases, question_N, terms),
            located.passage_N,
            located.spans_N2,
            [passage.searched for passage in passages],
            [passage.titles(start) for passage, start in zip(passages, located.spans_N2[:, 0].tolist(), strict=True)],
        )

    def __len__(self) -> int:
        return len(self.score_N)

    @cached_property
    def sentences_N2(self) -> Ints:  # noqa: N802
        """Character offsets of the sentences around each phrase."""
        rows = zip(self.texts, self.spans_N2.tolist(), strict=True)
        around = [text.sentences_around(*span) for text, span in rows]
        return np.array([(each.start, each.end) for each in around], dtype=np.int64).reshape(-1, 2)

    @property
    def question_N(self) -> Ints:  # noqa: N802
        return np.repeat(np.arange(len(self.edges_B) - 1), np.diff(self.edges_B))

    @property
    def phrase_texts(self) -> list[str]:
        return [text.text[start:end] for text, (start, end) in zip(self.texts, self.spans_N2.tolist(), strict=True)]
