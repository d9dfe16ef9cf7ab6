"""Requests and responses as OpenAPI describes them; limits are those of the running service."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from densephrases.search.relations import QUESTION
from densephrases.search.request import Unit

Value = str | int | float | bool


Task = Annotated[
    str | None,
    Field(description="Which query encoder of the model asks: null the default one, none given the service's own."),
]


class _Sent(BaseModel):
    """What a client sends: no unknown names, no numbers in quotation marks."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Asked(_Sent):
    """One question or several, and what is asked beside them."""

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
    questions: Annotated[list[str], Field(min_length=1, description="Several questions, answered in one go.")] = None  # type: ignore[assignment]
    k: Annotated[int, Field(ge=1, description="How many answers each question gets.")] = 10
    unit: Annotated[Unit, Field(description="What counts as one answer.")] = "phrase"
    where: Annotated[
        dict[str, Value | list[Value]] | None,
        Field(description="Only documents with this metadata; of a key any of the given values."),
    ] = None
    documents: Annotated[list[str] | None, Field(description="Only documents with these ids.")] = None
    min_confidence: Annotated[float, Field(ge=0, le=1, description="Leaves out answers with less.")] = 0.0
    effort: Annotated[float, Field(ge=0, le=1, description="From 0, fast, to 1, thorough.")] = 0.5
    exact: Annotated[
        bool | None, Field(description="Whether the answers must be the best of the whole collection, at any price.")
    ] = None
    words: Annotated[
        float | None,
        Field(ge=0, description="How much words count that question and passage share; null: what the model says."),
    ] = None
    truecase: Annotated[
        bool, Field(description="Gives capitals to questions without any, for models that know capitals.")
    ] = True
    task: Task = None


class Source(BaseModel):
    id: str
    title: str
    metadata: dict[str, Any]


class Place(BaseModel):
    """A phrase; offsets count the characters (Unicode code points) of the document's text."""

    text: str
    start: int
    end: int


class FoundAnswer(BaseModel):
    text: Annotated[str, Field(description="The phrase, sentence or passage; of a document, its best passage.")]
    score: float
    confidence: Annotated[
        float | None, Field(description="The probability that the phrase is right; null if the model cannot tell.")
    ]
    start: Annotated[int, Field(description="Where `text` begins in the document's text, in code points.")]
    end: int
    document: Source
    passage: str
    sentence: str
    phrase: Place
    passage_start: int
    sentence_start: int
    unit: Unit


class AnswersToOne(BaseModel):
    question: str
    answers: Annotated[list[FoundAnswer], Field(description="Best first.")]


class Answers(BaseModel):
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
                                }
                            ],
                        }
                    ],
                    "milliseconds": 7.1,
                }
            ]
        }
    )

    results: Annotated[list[AnswersToOne], Field(description="One for each question, in their order.")]
    milliseconds: Annotated[float, Field(description="From the request's arrival to its answers.")]


class AskedFacts(_Sent):
    """Subjects, and what is asked of each of them."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"subjects": ["Ada Lovelace", "Alfred Nobel"], "relation": "place of birth"}]}
    )

    subjects: Annotated[list[str], Field(min_length=1, description="Names.")]
    relation: Annotated[str, Field(min_length=1, description="Such as 'place of birth'.")]
    template: Annotated[
        str, Field(pattern=r"\{subject\}", description="How it is asked, with {subject} and {relation}.")
    ] = QUESTION
    prefer_titles: Annotated[
        bool, Field(description="Whether documents whose title is the subject come before others.")
    ] = True
    min_confidence: Annotated[float, Field(ge=0, le=1, description="Leaves out objects with less.")] = 0.0
    task: Task = None


class FoundFact(BaseModel):
    subject: str
    relation: str
    object: Annotated[str | None, Field(description="Null if no answer was sure enough.")]
    answer: Annotated[FoundAnswer | None, Field(description="Where the object stands.")]


class Facts(BaseModel):
    results: Annotated[list[FoundFact], Field(description="One for each subject, in their order.")]
    milliseconds: float


class SentDocument(_Sent):
    id: Annotated[str, Field(description="Any text; a document of the same id is the same document.")]
    text: str
    title: str = ""
    metadata: dict[str, Any] = Field(default_factory=dict)


class SentDocuments(_Sent):
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

    documents: Annotated[list[SentDocument], Field(min_length=1)]
    replace: Annotated[
        bool, Field(description="Whether documents of the same id are replaced; if not, they are refused with 409.")
    ] = False


class Added(BaseModel):
    added: int
    replaced: int
    unchanged: Annotated[int, Field(description="Documents that were there already with the same content.")]
    documents: Annotated[int, Field(description="What the index holds now.")]


class Deleted(BaseModel):
    deleted: int
    documents: Annotated[int, Field(description="What the index holds now.")]


class WholeDocument(Source):
    text: str
    phrase: Annotated[Place | None, Field(description="The characters that `start` and `end` name.")] = None


class IndexFacts(BaseModel):
    documents: int
    deleted: int
    passages: int
    rows: Annotated[int, Field(description="Token vectors.")]
    bytes: int
    segments: int
    building: bool
    package_version: str
    settings: Annotated[dict[str, Any], Field(description="How the index was made.")]


class ServiceFacts(BaseModel):
    version: str
    index: IndexFacts
    confidence: Annotated[bool, Field(description="Whether answers have a confidence.")]
    task: Annotated[str | None, Field(description="Whose query encoder asks if none is named; null: the default one.")]
    tasks: Annotated[list[str], Field(description="Query encoders the model has beside the default one.")]
    limits: dict[str, int]
    changes: Annotated[bool, Field(description="Whether the index can be changed, by holders of an admin key.")]


class Examples(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [{"questions": ["How deep is Lake Baikal?"]}]})

    questions: Annotated[list[str], Field(description="Questions this index answers; none if none were found.")]


class Health(BaseModel):
    status: str


class ProblemPlace(BaseModel):
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
                    "detail": "512 questions are waiting already; send the request again later.",
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
    code: Annotated[str, Field(description="For programs.")]
    request_id: Annotated[str, Field(description="Also in the header X-Request-Id and in the service's log.")]
    errors: list[ProblemPlace] | None = None
