"""The description of the service: its errors, and its limits as they are set."""

from typing import Any

from densephrases.serve.api.schemas import ProblemDetails
from densephrases.serve.problems import MEDIA_TYPE
from densephrases.serve.settings import Limits

_MEANINGS = {
    400: "The body cannot be read",
    401: "No valid key",
    403: "The key does not suffice, or changes are not allowed",
    404: "Unknown id",
    408: "The body did not come in time",
    409: "The index is being written to, or has another document of this id",
    413: "The body is too long",
    421: "Called by a name that is not allowed",
    422: "Something is missing, malformed or beyond a limit",
    503: "Too many questions are waiting, or the answer took too long; Retry-After says when to come again",
}
_ALWAYS = (400, 408, 421)


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The refusals of a route, beside those that any route may give."""
    return {
        status: {"description": _MEANINGS[status], "model": ProblemDetails, "content": {MEDIA_TYPE: {}}}
        for status in sorted({*statuses, *_ALWAYS})
    }


def with_limits(schema: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """The limits of this service at their places, and errors under their media type alone."""
    schemas = schema["components"]["schemas"]
    asked = schemas["Asked"]["properties"]
    asked["question"]["maxLength"] = limits.question_characters
    asked["questions"]["maxItems"] = limits.questions
    asked["questions"]["items"]["maxLength"] = limits.question_characters
    for name in ("question", "questions"):
        asked[name].pop("default", None)  # there is none: one of them must be given
    asked["k"]["maximum"] = limits.k
    facts = schemas["AskedFacts"]["properties"]
    for each in (asked, facts):
        each["task"].pop("default", None)  # to leave it out is not the same as null
    facts["subjects"]["maxItems"] = limits.questions
    for text in (facts["subjects"]["items"], facts["relation"], facts["template"]):
        text["maxLength"] = limits.question_characters
    schemas["SentDocuments"]["properties"]["documents"]["maxItems"] = limits.documents
    for operation in (each for path in schema["paths"].values() for each in path.values()):
        for status, response in operation["responses"].items():
            if not status.startswith("2") and "application/json" in response.get("content", {}):
                response["content"] = {MEDIA_TYPE: response["content"]["application/json"]}
    return schema
