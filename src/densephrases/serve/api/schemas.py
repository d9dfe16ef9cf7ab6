"""Request and response bodies; OpenAPI adds the limits of the running service."""

from collections import deque
from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, FailFast, Field, create_model, model_validator

from densephrases.errors import ConfigError
from densephrases.search.facts.relations import RelationQuery
from densephrases.search.filtering.filters import Value
from densephrases.search.filtering.ranges import Bound, Comparison, ranges_from
from densephrases.search.request import MOST_VERIFIED, SearchRequest, Unit
from densephrases.serve.api.dataclass_fields import body_fields

Probability = {"ge": 0, "le": 1}
Task = Annotated[
    str | None,
    Field(description="Task whose query encoder is used; null is the default one. Left out: that of the service."),
]


_MOST_KEYS = 100
_SHOWN_KEY = 100  # characters of a key in a message
_MOST_CONDITIONS = 100_000  # the service's own limit is lower
_MOST_LEXICAL_WEIGHT = 1e6


def _first_wrong_condition(where: Any) -> Any:
    """Refuse at the first wrong value: pydantic would describe every one of a million."""
    if not isinstance(where, dict):
        return where
    if conditions_of(where) > _MOST_CONDITIONS:
        raise ValueError(f"has more than {_MOST_CONDITIONS:,} values")
    for key, values in where.items():
        if isinstance(values, dict):
            _refuse_wrong_range(key, values)
            continue
        for value in values if isinstance(values, list) else [values]:
            if not isinstance(value, Value):
                raise ValueError("has a value that is no text, number, true or false, a list of them, or a range")
    return where


def _refuse_wrong_range(key: str, conditions: dict[Any, Any]) -> None:
    try:
        deque(ranges_from(key[:_SHOWN_KEY], conditions), maxlen=0)
    except ConfigError as error:
        raise ValueError(str(error).removeprefix("where ")) from error


def conditions_of(where: Mapping[str, Any]) -> int:
    """How many values a filter on metadata names."""
    return sum(len(each) or 1 if isinstance(each, list | dict) else 1 for each in where.values())


class _Body(BaseModel):
    """A request body: unknown keys and numbers in quotation marks are errors.

    All lists fail at their first wrong item, and an object with very many keys at once: to describe a million errors
    would take minutes and gigabytes.
    """

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _refuse_many_keys(cls, values: Any) -> Any:
        if isinstance(values, dict) and len(values) > _MOST_KEYS:
            raise ValueError(f"has {len(values):,} keys; expected at most {_MOST_KEYS}")
        return values


class _FailFast(FailFast):
    """Hashable, as types in a union must be."""

    __hash__ = object.__hash__


Strings = Annotated[list[str], _FailFast()]
Conditions = Annotated[
    dict[str, Value | list[Value] | Annotated[dict[Comparison, Bound], Field(min_length=1)]],
    BeforeValidator(_first_wrong_condition),
]
Verify = Annotated[int, Field(ge=0, le=MOST_VERIFIED)] | Literal["auto"] | None
LexicalWeight = {"ge": 0, "le": _MOST_LEXICAL_WEIGHT}  # beyond it scores are no numbers any more

_SearchOptions: Any = create_model(
    "SearchOptions",
    __base__=_Body,
    **body_fields(
        SearchRequest,
        {"k": {"ge": 1}, "min_confidence": Probability, "effort": Probability, "lexical_weight": LexicalWeight},
        json_types={"where": Conditions | None, "documents": Strings | None, "verify": Verify},
    ),
)


class SearchBody(_SearchOptions):  # type: ignore[misc]  # made from a dataclass
    """One question or several, and the options of the search."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [{"required": ["question"]}, {"required": ["questions"]}],
            "examples": [
                {"question": "When was the Battle of Hastings?", "k": 1},
                {
                    "questions": ["How deep is Lake Baikal?", "What does the name Lego mean?"],
                    "k": 3,
                    "unit": "sentence",
                    "min_confidence": 0.2,
                },
            ],
        }
    )

    question: Annotated[str, Field(min_length=1, description="One question.")] = None  # type: ignore[assignment]
    questions: Annotated[Strings, Field(min_length=1, description="Several questions, answered as one batch.")] = None  # type: ignore[assignment]
    task: Task = None

    def request(self) -> SearchRequest:
        return SearchRequest(**{each.name: getattr(self, each.name) for each in fields(SearchRequest)})


class DocumentHeader(BaseModel):
    id: str
    title: str
    metadata: dict[str, Any]


class PhraseItem(BaseModel):
    """A phrase; offsets count the characters (Unicode code points) of the document's text."""

    text: str
    start: int
    end: int


class AlternativeItem(PhraseItem):
    """Another result of the same place."""

    score: float


class EvidenceItem(BaseModel):
    """Shares of the question's terms, weighted by IDF, that do not stand around the answer."""

    missing: float
    unstated: float
    names: float
    unknown: float


class ExplanationItem(BaseModel):
    """Why an answer stands where it stands."""

    start: float
    end: float
    penalties: float
    ranking: float
    rank: Annotated[int, Field(description="Place before the final ranking and verification, from 1.")]
    reader: float | None
    matched: list[str]
    missing: list[str]
    evidence: EvidenceItem


class AnswerItem(BaseModel):
    text: Annotated[str, Field(description="The phrase, sentence or passage; for the unit document, its best passage.")]
    score: float
    confidence: Annotated[
        float | None, Field(description="Probability that the phrase is correct; null if the model has no calibration.")
    ]
    start: Annotated[int, Field(description="Offset of `text` in the document's text, in code points.")]
    end: int
    document: DocumentHeader
    passage: str
    sentence: str
    phrase: PhraseItem
    passage_start: int
    sentence_start: int
    unit: Unit
    verified: Annotated[
        bool,
        Field(
            description="Whether the passage was read again together with the question; `score` is then that of reader "
            "and search together."
        ),
    ]

    section: Annotated[str, Field(description="The headings above it, outermost first; empty if there are none.")] = ""
    page: Annotated[int | None, Field(description="Its page in a PDF file, from 1; null in other documents.")] = None
    alternatives: Annotated[
        list[AlternativeItem],
        Field(description="Lower results that overlap it, best first; none if `overlapping` gives them apart."),
    ]
    items: Annotated[
        list[AlternativeItem],
        Field(description="The phrases in it that answer a question for a list, in the order of the text."),
    ]
    explanation: Annotated[
        ExplanationItem | None, Field(description="The parts of its score; null unless `explain` asks for it.")
    ] = None


class QuestionResult(BaseModel):
    question: str
    answers: Annotated[list[AnswerItem], Field(description="Best first.")]
    complete: Annotated[
        bool, Field(description="Whether all of the index was searched; false if a shard of a cluster did not answer.")
    ]


class AnswersResponse(BaseModel):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "results": [
                        {
                            "question": "When was the Battle of Hastings?",
                            "answers": [
                                {
                                    "text": "14 October 1066",
                                    "score": 541.2,
                                    "confidence": 0.93,
                                    "start": 31,
                                    "end": 46,
                                    "document": {"id": "hastings", "title": "Battle of Hastings", "metadata": {}},
                                    "passage": "The Battle of Hastings was on 14 October 1066 between two armies.",
                                    "sentence": "The Battle of Hastings was on 14 October 1066 between two armies.",
                                    "phrase": {"text": "14 October 1066", "start": 31, "end": 46},
                                    "passage_start": 0,
                                    "sentence_start": 0,
                                    "unit": "phrase",
                                    "verified": False,
                                    "section": "",
                                    "page": None,
                                }
                            ],
                            "complete": True,
                        }
                    ],
                    "milliseconds": 7.1,
                }
            ]
        }
    )

    results: Annotated[list[QuestionResult], Field(description="One per question, in their order.")]
    milliseconds: Annotated[float, Field(description="From the arrival of the request to its answers.")]


_ExtractOptions: Any = create_model(
    "ExtractOptions",
    __base__=_Body,
    **body_fields(
        RelationQuery,
        {"relation": {"min_length": 1}, "template": {"pattern": r"\{subject\}"}, "min_confidence": Probability},
    ),
)


class ExtractBody(_ExtractOptions):  # type: ignore[misc]  # made from a dataclass
    """Subjects, and the relation whose object is wanted for each of them."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"subjects": ["Ada Lovelace", "Alfred Nobel"], "relation": "place of birth"}]}
    )

    subjects: Annotated[Strings, Field(min_length=1, description="Names.")]
    task: Task = None

    def query(self) -> RelationQuery:
        return RelationQuery(**{each.name: getattr(self, each.name) for each in fields(RelationQuery)})


class FactItem(BaseModel):
    subject: str
    relation: str
    object: Annotated[str | None, Field(description="Null if no answer reached min_confidence.")]
    answer: Annotated[AnswerItem | None, Field(description="The answer that is the object.")]


class ExtractResponse(BaseModel):
    results: Annotated[list[FactItem], Field(description="One per subject, in their order.")]
    milliseconds: float


class DocumentItem(_Body):
    id: Annotated[str, Field(description="Identifies the document; any string.")]
    text: str
    title: str = ""
    metadata: dict[str, Any] = Field(default_factory=dict)


class AddDocumentsBody(_Body):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "documents": [
                        {"id": "tower", "title": "Eiffel Tower", "text": "It was opened in 1889.", "metadata": {}}
                    ],
                    "replace": True,
                }
            ]
        }
    )

    documents: Annotated[list[DocumentItem], _FailFast(), Field(min_length=1)]
    replace: Annotated[
        bool, Field(description="Whether to replace documents of the same id; if not, different content is a 409.")
    ] = False


class AddDocumentsResponse(BaseModel):
    added: int
    replaced: int
    unchanged: Annotated[int, Field(description="Documents that were already indexed with the same content.")]
    documents: Annotated[int, Field(description="Documents in the index after the change.")]


class DeleteDocumentsResponse(BaseModel):
    deleted: int
    documents: Annotated[int, Field(description="Documents in the index after the change.")]


class DocumentResponse(DocumentHeader):
    text: str
    phrase: Annotated[PhraseItem | None, Field(description="The text from `start` to `end`.")] = None
    page: Annotated[int | None, Field(description="The page of `start` in a PDF file, from 1.")] = None
    shown: Annotated[bool, Field(description="Whether the service shows pictures of its pages.")] = False


class BoxItem(BaseModel):
    """In shares of the page's width and height, from the upper left corner."""

    left: float
    top: float
    right: float
    bottom: float


class PageResponse(BaseModel):
    page: Annotated[int, Field(description="The page of `start`, from 1.")]
    pages: Annotated[int, Field(description="How many there are.")]
    boxes: Annotated[list[BoxItem], Field(description="One a line; empty if the file no longer has the text.")]


class IndexItem(BaseModel):
    documents: int
    deleted: int
    passages: int
    vectors: Annotated[int, Field(description="Token vectors.")]
    bytes: int
    segments: int
    building: bool
    package_version: str
    settings: Annotated[dict[str, Any], Field(description="Settings the index was built with.")]


class InfoResponse(BaseModel):
    version: str
    index: IndexItem
    confidence: Annotated[bool, Field(description="Whether answers have a confidence.")]
    reads: Annotated[bool, Field(description="Whether answers can be verified: whether the model reads.")]
    task: Annotated[str | None, Field(description="Default task of the service; null is the model's own default.")]
    tasks: Annotated[list[str], Field(description="Tasks of the model that have a query encoder of their own.")]
    limits: dict[str, float]
    changes: Annotated[bool, Field(description="Whether the index can be changed with an admin key.")]


class TitledDocument(BaseModel):
    id: str
    title: str


class ExamplesResponse(BaseModel):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"questions": ["How deep is Lake Baikal?"], "documents": [{"id": "baikal", "title": "Lake Baikal"}]}
            ]
        }
    )

    questions: Annotated[Strings, Field(description="Questions that this index answers; empty if none were found.")]
    documents: Annotated[list[TitledDocument], Field(description="A few documents with titles.")]


class HealthResponse(BaseModel):
    status: str


class ProblemItem(BaseModel):
    place: str
    message: str


class ProblemDetails(BaseModel):
    """RFC 9457."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "about:blank",
                    "title": "Service Unavailable",
                    "status": 503,
                    "detail": "The queue is full (512 questions); send the request again later.",
                    "code": "queue_full",
                    "request_id": "0f8fad5bd9cb469fa16570867728950e",
                }
            ]
        }
    )

    type: str
    title: str
    status: int
    detail: str
    code: Annotated[str, Field(description="Machine-readable.")]
    request_id: Annotated[str, Field(description="Also in the header X-Request-Id and in the log of the service.")]
    errors: list[ProblemItem] | None = None
