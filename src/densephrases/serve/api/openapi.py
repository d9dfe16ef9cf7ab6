"""The OpenAPI description: the errors of each route, and the limits of the running service."""

from typing import Any

from densephrases.serve.api.schemas import ProblemDetails
from densephrases.serve.problems import MEDIA_TYPE
from densephrases.serve.settings import Limits

_MEANINGS = {
    400: "The body is not readable",
    401: "No valid API key",
    403: "The key is no admin key, or the service is read-only",
    404: "Unknown id",
    408: "The body did not arrive in time",
    409: "Another process is writing to the index, or a document of this id has different content",
    413: "The body is too large",
    421: "The host name is not allowed",
    422: "A value is missing, invalid or over a limit",
    503: "The queue is full, or the deadline has passed; retry after the seconds in Retry-After",
    507: "The disk is full; what was committed is kept",
}
_ALWAYS = (400, 408, 421)


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a route, including those of every route."""
    return {
        status: {"description": _MEANINGS[status], "model": ProblemDetails, "content": {MEDIA_TYPE: {}}}
        for status in sorted({*statuses, *_ALWAYS})
    }


def with_limits(schema: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """Adds the limits of the service to its schemas, and lists errors under their media type only."""
    schemas = schema["components"]["schemas"]
    search = schemas["SearchBody"]["properties"]
    search["question"]["maxLength"] = limits.question_characters
    search["questions"]["maxItems"] = limits.questions
    search["questions"]["items"]["maxLength"] = limits.question_characters
    for name in ("question", "questions"):
        search[name].pop("default", None)  # there is none: one of them must be given
    search["k"]["maximum"] = limits.k
    search["effort"]["maximum"] = limits.effort
    extract = schemas["ExtractBody"]["properties"]
    for each in (search, extract):
        each["task"].pop("default", None)  # to leave it out is not the same as null
    extract["subjects"]["maxItems"] = limits.questions
    for text in (extract["subjects"]["items"], extract["relation"], extract["template"]):
        text["maxLength"] = limits.question_characters
    schemas["AddDocumentsBody"]["properties"]["documents"]["maxItems"] = limits.documents
    for operation in (each for path in schema["paths"].values() for each in path.values()):
        for status, response in operation["responses"].items():
            if not status.startswith("2") and "application/json" in response.get("content", {}):
                response["content"] = {MEDIA_TYPE: response["content"]["application/json"]}
    return schema
