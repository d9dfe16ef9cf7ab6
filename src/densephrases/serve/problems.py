"""Errors as RFC 9457 problem details, with a machine-readable code and the request id."""

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException as AnyHTTPException

from densephrases.errors import ConfigError, DataError, DiskFullError, IndexBusyError, ShardsUnavailableError

MEDIA_TYPE = "application/problem+json"
_NAMES = {404: "not_found", 405: "method_not_allowed", 400: "bad_request", 500: "server_error"}
_SHOWN_ERRORS = 10
FAILED = "The service failed to answer; see its log under this request id."


class Problem(HTTPException):
    """Refuses a request. An HTTPException, so that FastAPI passes it on even while it reads the body."""

    def __init__(self, status: int, code: str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, detail, dict(headers or {}))
        self.code = code


def over_limit(limit: str, found: str, most: float) -> Problem:
    """422 with the limit's name and value."""
    return Problem(422, "over_limit", f"{found}; this service takes at most {most:,} (limit: {limit}).")


def problem_response(
    request_id: str,
    status: int,
    code: str,
    detail: str,
    headers: Mapping[str, str] | None = None,
    errors: Sequence[Mapping[str, str]] = (),
) -> Response:
    content: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
        "request_id": request_id,
    }
    if errors:
        content["errors"] = list(errors)
    return Response(json.dumps(content), status, dict(headers or {}), MEDIA_TYPE)


def request_id_of(request: Request) -> str:
    return str(getattr(request.state, "request_id", ""))


def add_problem_handlers(app: FastAPI) -> None:
    app.add_exception_handler(AnyHTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(IndexBusyError, _busy)
    app.add_exception_handler(DiskFullError, _disk_full)
    app.add_exception_handler(ShardsUnavailableError, _shards_unavailable)
    app.add_exception_handler(Exception, _failed)
    for kind in (ConfigError, DataError):
        app.add_exception_handler(kind, _user_error)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, AnyHTTPException)
    code = getattr(error, "code", None) or _NAMES.get(error.status_code, "refused")
    detail = str(error.detail)
    if error.status_code == 404 and not isinstance(error, Problem):
        detail = "This service has no such path; /openapi.json lists its paths."
    if error.status_code == 405:
        detail = f"This path does not take {request.method}."
    return problem_response(request_id_of(request), error.status_code, code, detail, error.headers)


async def _invalid(request: Request, error: Exception) -> Response:
    """What is wrong and where, without quoting the input: it may be private, or not valid Unicode."""
    assert isinstance(error, RequestValidationError)
    places = [{"place": _place(each["loc"]), "message": str(each["msg"])} for each in error.errors()[:_SHOWN_ERRORS]]
    detail = "; ".join(f"{each['place']}: {each['message']}" for each in places)
    return problem_response(request_id_of(request), 422, "invalid", detail, errors=places)


def _place(location: Sequence[Any]) -> str:
    """A dotted path of keys and indexes; a key sent by the client may be invalid Unicode."""
    return ".".join(str(each) for each in location).encode(errors="replace").decode()


async def _user_error(request: Request, error: Exception) -> Response:
    return problem_response(request_id_of(request), 422, "invalid", str(error))


async def _failed(request: Request, error: Exception) -> Response:
    """The error itself is logged by the middleware."""
    return problem_response(request_id_of(request), 500, "server_error", FAILED)


async def _busy(request: Request, error: Exception) -> Response:
    detail = "Another process is writing to the index; send the request again later."
    return problem_response(request_id_of(request), 409, "index_busy", detail, {"Retry-After": "5"})


async def _shards_unavailable(request: Request, error: Exception) -> Response:
    return problem_response(request_id_of(request), 503, "shards_unavailable", str(error), {"Retry-After": "1"})


async def _disk_full(request: Request, error: Exception) -> Response:
    """Without the path of the index, which is nothing to its clients."""
    detail = (
        "The disk of the service is full, and not all of the request was done; what was committed is kept. "
        "Free some space there and send the same request again."
    )
    return problem_response(request_id_of(request), 507, "disk_full", detail)
