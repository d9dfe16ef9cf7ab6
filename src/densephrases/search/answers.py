"""What an answer holds."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from densephrases.search.explain.explanation import Explanation
from densephrases.search.request import Unit
from densephrases.text.layout import NO_LAYOUT, Layout


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """The document an answer comes from, without its text: `index.document(answer.document.id).text` has that."""

    id: str
    title: str
    metadata: Mapping[str, Any]
    layout: Layout = field(default=NO_LAYOUT, repr=False, compare=False)  # empty in answers over HTTP

    def section(self, position: int) -> str:
        """The headings above a character, outermost first, without the title."""
        return " \u2013 ".join(name for name in self.layout.path(position) if name != self.title)


@dataclass(frozen=True, slots=True)
class PhraseSpan:
    """A phrase and its character offsets in the document's text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """A result. All offsets count characters of the text of its document, `index.document(answer.document.id).text`.

    Attributes:
        text: The phrase, sentence or passage; for a document, its best passage. The document's text from `start` to
            `end`.
        score: Score of the best phrase in it.
        confidence: Probability that this phrase is right; None if the model has no calibration.
        phrase: The best phrase in it.
        unit: What `text` is.
        verified: Whether its passage was read again together with the question; its score is then that of the
            phrase by reader and search together, which compares with those of other verified answers only.
        explanation: Why it stands where it stands; None unless asked for.
        section: The headings above it, outermost first; empty if there are none.
        page: Its page in a PDF file, from 1; None in other documents.
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
    section: str = ""
    page: int | None = None

    def __repr__(self) -> str:
        sure = "" if self.confidence is None else f", confidence={self.confidence:.2f}"
        return f"Answer({self.text!r}{sure}, title={self.document.title!r}, id={self.document.id!r})"

    def _repr_html_(self) -> str:
        """As notebooks show it."""
        from densephrases.search.notebook import answer_html

        return answer_html(self)

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
            "section": self.section,
            "page": self.page,
        }
        if self.explanation is not None:
            shown["explanation"] = self.explanation.to_dict()
        return shown if self.unit == "phrase" else shown | {"phrase": asdict(self.phrase)}
