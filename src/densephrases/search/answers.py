"""What an answer holds."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from densephrases.search.explain.explanation import Explanation
from densephrases.search.request import Unit


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """The document an answer comes from."""

    id: str
    title: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PhraseSpan:
    """A phrase and its character offsets in the document's text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another result of the same place, with its character offsets in the document's text."""

    text: str
    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True)
class Answer:
    """A result. All offsets count characters of the document's text.

    Attributes:
        text: The phrase, sentence or passage; for a document, its best passage. Equals `document.text[start:end]`.
        score: Score of the best phrase in it.
        confidence: Probability that this phrase is right; None if the model has no calibration.
        phrase: The best phrase in it.
        unit: What `text` is.
        verified: Whether its passage was read again together with the question; its score is then that of the
            phrase by reader and search together, which compares with those of other verified answers only.
        explanation: Why it stands where it stands; None unless asked for.
        alternatives: Lower results that overlap it, best first; none if the request wants overlapping answers.
        items: The phrases in it that answer a question for a list, in the order of the text; none for others.
    """

    text: str
    score: float
    confidence: float | None
    start: int
    end: int
    document: SourceDocument
    passage: str
    sentence: str
    phrase: PhraseSpan
    passage_start: int
    sentence_start: int
    unit: Unit
    verified: bool = False
    explanation: Explanation | None = None
    alternatives: Sequence[Alternative] = ()
    items: Sequence[Alternative] = ()

    def to_dict(self) -> dict[str, Any]:
        """As `densephrases ask --json` prints it."""
        shown: dict[str, Any] = {
            "text": self.text,
            "score": self.score,
            "confidence": self.confidence,
            "start": self.start,
            "end": self.end,
            "document": {
                "id": self.document.id,
                "title": self.document.title,
                "metadata": dict(self.document.metadata),
            },
            "passage": self.passage,
            "sentence": self.sentence,
            "verified": self.verified,
            "alternatives": [asdict(each) for each in self.alternatives],
        }
        if self.items:
            shown["items"] = [asdict(each) for each in self.items]
        if self.explanation is not None:
            shown["explanation"] = self.explanation.to_dict()
        return shown if self.unit == "phrase" else shown | {"phrase": asdict(self.phrase)}
