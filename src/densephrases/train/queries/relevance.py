"""Which of the results for a question lead to what is sought."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from densephrases.data.matching.em_f1 import normalize_answer
from densephrases.data.matching.gold_answers import gold_answers_of, squeeze
from densephrases.data.questions import OpenQuestion
from densephrases.search.request import Unit
from densephrases.search.scoring.searchable import DocumentRecord

Target = Literal["phrase", "fact", "passage", "document"]

UNITS: Mapping[Target, Unit] = {"phrase": "phrase", "fact": "phrase", "passage": "passage", "document": "document"}
"""What counts as one result when a target is sought."""

_KEPT = 1 << 14  # the same phrases and passages are found for many questions, and again in every epoch

_normal = lru_cache(_KEPT)(normalize_answer)
_squeezed = lru_cache(_KEPT)(squeeze)


class Relevance:
    """Judges the results for one question as evaluation does.

    A phrase is right if it is an answer. A fact is a phrase that is right and stands in a relevant document, if any is
    known: what KILT counts. A passage is right if an answer stands in it and it is of a relevant
    document, if any is known; a document is right if it is relevant, and where none is known to be, if the passage
    that was found in it is right.
    """

    def __init__(self, question: OpenQuestion, target: Target, max_words: int) -> None:
        self.target = target
        self._regex = question.regex
        self._golds = gold_answers_of(question, max_words)
        self._normals = {_normal(answer) for answer in question.answers}
        self._relevant = {identifier for identifier, grade in question.documents.items() if grade > 0}

    def __call__(self, phrase: str, passage: str, document: DocumentRecord) -> bool:
        if self.target != "phrase" and self._relevant and document.id not in self._relevant:
            return False
        if self.target in ("phrase", "fact"):
            return self._golds.right(phrase) if self._regex else _normal(phrase) in self._normals
        if self._relevant and self.target == "document":
            return True
        return self._golds.occur_in(passage, _squeezed(passage))
