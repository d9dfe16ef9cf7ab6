"""What an answer holds."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from densephrases.search.explain.explanation import Explanation
from densephrases.search.notebook import list_html, marked_html
from densephrases.search.request import Unit
from densephrases.text.layout import NO_LAYOUT, Layout

CONTEXT = 300  # characters shown on either side of a phrase: a "sentence" may be a whole table


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


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another result of the same place, with its character offsets in the document's text."""

    text: str
    start: int
    end: int
    score: float


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
    section: str = ""
    page: int | None = None
    alternatives: Sequence[Alternative] = ()
    items: Sequence[Alternative] = ()

    def __repr__(self) -> str:
        sure = "" if self.confidence is None else f", confidence={self.confidence:.2f}"
        return f"Answer({self.text!r}{sure}, title={self.document.title!r}, id={self.document.id!r})"

    def _repr_html_(self) -> str:
        """As notebooks show it."""
        before, after = around_phrase(self)
        sure = [] if self.confidence is None else [f"{self.confidence:.0%} sure"]
        return marked_html(before, self.phrase.text, after, [*source_parts(self), *sure])

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
            "alternatives": [asdict(each) for each in self.alternatives],
        }
        if self.items:
            shown["items"] = [asdict(each) for each in self.items]
        if self.explanation is not None:
            shown["explanation"] = self.explanation.to_dict()
        return shown if self.unit == "phrase" else shown | {"phrase": asdict(self.phrase)}


class AnswerList(list[Answer]):
    """The answers to a question, best first: a list that notebooks show as text with marked phrases.

    Attributes:
        complete: Whether all of the index was searched; else a shard of a cluster did not answer.
    """

    def __init__(self, answers: Iterable[Answer] = (), *, complete: bool = True) -> None:
        super().__init__(answers)
        self.complete = complete

    def _repr_html_(self) -> str:
        return list_html([answer._repr_html_() for answer in self])


def around_phrase(answer: Answer) -> tuple[str, str]:
    """The text before and after the phrase: of its sentence, clipped, or all of its passage if that is the answer."""
    if answer.unit == "passage":
        start, end = answer.phrase.start - answer.passage_start, answer.phrase.end - answer.passage_start
        return answer.passage[:start], answer.passage[end:]
    start, end = answer.phrase.start - answer.sentence_start, answer.phrase.end - answer.sentence_start
    return _last(answer.sentence[:start]), _first(answer.sentence[end:])


def source_parts(answer: Answer) -> list[str]:
    """The title and, if it is not the same, where the document comes from."""
    title, place = answer.document.title, source_path(answer)
    return [title, place] if title and place != title else [place]


def source_path(answer: Answer) -> str:
    """Where the document comes from: `path` or `url` of its metadata, else its id."""
    for key in ("path", "url"):
        if isinstance(value := answer.document.metadata.get(key), str) and value:
            return value
    return answer.document.id


def _last(text: str) -> str:
    return text if len(text) <= CONTEXT else "… " + text[-CONTEXT:].partition(" ")[2]


def _first(text: str) -> str:
    return text if len(text) <= CONTEXT else text[:CONTEXT].rpartition(" ")[0] + " …"
