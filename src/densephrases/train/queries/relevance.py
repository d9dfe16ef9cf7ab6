"""Which results are relevant to a question."""

from collections.abc import Mapping
from functools import lru_cache

from densephrases.data.matching.em_f1 import normalize_answer
from densephrases.data.matching.gold_answers import gold_answers_of, squeeze
from densephrases.data.questions import OpenQuestion
from densephrases.index.segment.document_record import DocumentRecord
from densephrases.search.request import Unit
from densephrases.train.queries.target import Target

UNITS: Mapping[Target, Unit] = {"phrase": "phrase", "fact": "phrase", "passage": "passage", "document": "document"}
"""The unit of retrieval for each target."""

_CACHED = 1 << 14  # the same phrases and passages are retrieved for many questions, and in every epoch

_normalized = lru_cache(_CACHED)(normalize_answer)
_squeezed = lru_cache(_CACHED)(squeeze)


class Relevance:
    """Decides for one question which results are relevant, by the rules of the evaluation.

    A phrase is relevant if it matches a gold answer. The other targets also require a relevant document, if the
    question lists any: a fact (as KILT counts it) is a matching phrase, a passage has to contain a gold answer, and a
    document needs nothing else. If no documents are listed, a document is relevant if the retrieved passage is.
    """

    def __init__(self, question: OpenQuestion, target: Target, max_words: int) -> None:
        self.target = target
        self._regex = question.regex
        self._gold_answers = gold_answers_of(question, max_words)
        self._normalized = {_normalized(answer) for answer in question.answers}
        self._relevant_documents = {identifier for identifier, grade in question.documents.items() if grade > 0}

    def __call__(self, phrase: str, passage: str, document: DocumentRecord) -> bool:
        if self.target != "phrase" and self._relevant_documents and document.id not in self._relevant_documents:
            return False
        if self.target in ("phrase", "fact"):
            return self._gold_answers.right(phrase) if self._regex else _normalized(phrase) in self._normalized
        if self._relevant_documents and self.target == "document":
            return True
        return self._gold_answers.occur_in(passage, _squeezed(passage))
