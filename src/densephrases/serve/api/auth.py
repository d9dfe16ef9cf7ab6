"""Dependencies of the routes: the service, and the check of API keys."""

from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from densephrases.serve.problems import Problem
from densephrases.serve.runtime.service import Service

_bearer = HTTPBearer(auto_error=False, description="A key from the key files of the service.")
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]


async def service_of(request: Request) -> Service:
    service = request.app.state.service
    assert isinstance(service, Service)
    return service


TheService = Annotated[Service, Depends(service_of)]


async def require_key(service: TheService, credentials: Credentials) -> None:
    if not service.settings.keys.may_search(_key(credentials)):
        raise _unauthorized("This service needs an API key")


async def require_admin_key(service: TheService, credentials: Credentials) -> None:
    keys = service.settings.keys
    if not keys.admin:
        raise Problem(403, "read_only", "This service is read-only; start it with --admin-key-file to allow changes.")
    if keys.may_change(_key(credentials)):
        return
    if credentials is not None and keys.may_search(_key(credentials)):
        raise Problem(403, "not_admin", "This key may search the index but not change it; send an admin key.")
    raise _unauthorized("Changing the index needs an admin key")


def _key(credentials: HTTPAuthorizationCredentials | None) -> str | None:
    return None if credentials is None else credentials.credentials


def _unauthorized(sentence: str) -> Problem:
    detail = f"{sentence}; send one as 'Authorization: Bearer KEY'."
    return Problem(401, "unauthorized", detail, {"WWW-Authenticate": "Bearer"})
