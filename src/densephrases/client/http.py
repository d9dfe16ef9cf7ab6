"""HTTP calls to a service over httpx, with or without asyncio: kept connections, retries, errors."""

import asyncio
import json
import os
import ssl
import time
from dataclasses import dataclass
from typing import Any
from weakref import finalize

from densephrases.errors import ConfigError, MissingExtraError, ServiceError

try:
    import httpx
except ModuleNotFoundError as error:
    raise MissingExtraError(
        "The client needs the package 'httpx', which is not installed: pip install 'densephrases[client]'"
    ) from error

_BUSY = 503
_KEEP_ALIVE_SECONDS = 60.0  # shorter than the service keeps a connection open
# The service may close an idle connection just as the next request is sent on it.
_DROPPED = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a service; `content` is sent as JSON."""

    method: str
    path: str
    content: Any = None


@dataclass(frozen=True, slots=True)
class Address:
    """Where a service listens and how it is called.

    Attributes:
        url: For example http://127.0.0.1:8080.
        api_key: Sent with every request.
        timeout: Seconds without a byte from the service after which a call fails.
        retries: How often a request is repeated after a 503.
    """

    url: str
    api_key: str | None
    timeout: float
    retries: int

    def __post_init__(self) -> None:
        try:
            parsed = httpx.URL(self.url)
        except httpx.InvalidURL:
            parsed = httpx.URL()
        if parsed.scheme not in ("http", "https") or not parsed.host:
            raise ConfigError(
                f"url={self.url!r} is not the address of a service; expected for example 'http://127.0.0.1:8080'."
            )

    @property
    def shown(self) -> str:
        return self.url.rstrip("/")

    def options(self, connections: int | None = None) -> dict[str, Any]:
        """Arguments of an httpx client. Proxies and .netrc of the environment are not used."""
        headers = {"Content-Type": "application/json"}
        if self.api_key is not None:
            headers["Authorization"] = f"Bearer {self.api_key}"
        return {
            "base_url": self.shown,
            "headers": headers,
            "timeout": httpx.Timeout(self.timeout, pool=None),
            "limits": httpx.Limits(max_connections=connections, keepalive_expiry=_KEEP_ALIVE_SECONDS),
            "verify": ssl.create_default_context(),  # the certificates that the system trusts
            "trust_env": False,
        }

    def unreachable(self, error: httpx.HTTPError) -> ServiceError:
        return ServiceError(f"'{self.shown}' cannot be reached: {_reason(error)}; is the service running?")

    def parsed(self, response: httpx.Response) -> Any:
        """The JSON of a response; None if the index has no such document."""
        status = response.status_code
        try:
            content = json.loads(response.content)
        except ValueError:
            raise ServiceError(
                f"'{self.shown}' answered {status} and no JSON; is it a service of `densephrases serve`?"
            ) from None
        if status < 300:
            return content
        problem = content if isinstance(content, dict) else {}
        if problem.get("code") == "unknown_document" and status == 404:
            return None
        raise ServiceError(
            f"'{self.shown}' refused the request: {problem.get('detail', f'status {status}')} "
            f"(status {status}, request {problem.get('request_id', 'unknown')})"
        )


class Connection:
    """Calls that block; any number of threads may share it."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._http = httpx.Client(**address.options())
        self.close = finalize(self, self._http.close)  # also runs if the client is never closed

    def call(self, call: Call) -> Any:
        for left in range(self._address.retries, -1, -1):
            response = self._response(call)
            if response.status_code != _BUSY or left == 0:
                break
            time.sleep(_retry_seconds(response))
        return self._address.parsed(response)

    def _response(self, call: Call) -> httpx.Response:
        try:
            try:
                return self._http.request(**_arguments(call))
            except _DROPPED:
                return self._http.request(**_arguments(call))
        except httpx.HTTPError as error:
            raise self._address.unreachable(error) from error


class AsyncConnection:
    """Calls to be awaited, over at most `connections` connections."""

    def __init__(self, address: Address, connections: int) -> None:
        self._address = address
        self._http = httpx.AsyncClient(**address.options(connections))

    async def call(self, call: Call) -> Any:
        for left in range(self._address.retries, -1, -1):
            response = await self._response(call)
            if response.status_code != _BUSY or left == 0:
                break
            await asyncio.sleep(_retry_seconds(response))
        return self._address.parsed(response)

    async def close(self) -> None:
        await self._http.aclose()

    async def _response(self, call: Call) -> httpx.Response:
        try:
            try:
                return await self._http.request(**_arguments(call))
            except _DROPPED:
                return await self._http.request(**_arguments(call))
        except httpx.HTTPError as error:
            raise self._address.unreachable(error) from error


def _arguments(call: Call) -> dict[str, Any]:
    body = None if call.content is None else json.dumps(call.content)  # ASCII: texts may hold half a surrogate pair
    return {"method": call.method, "url": call.path, "content": body}


def _reason(error: BaseException) -> str:
    """What the socket says. httpx hides it, and asyncio words a refused connection in its own way."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ConnectionError) and cause.errno:
            return os.strerror(cause.errno)
        if isinstance(cause, OSError) and cause.strerror:
            return str(cause.strerror)
        cause = cause.__cause__ or cause.__context__
    return str(error) or type(error).__name__


def _retry_seconds(response: httpx.Response) -> float:
    retry_after = response.headers.get("retry-after", "")
    return float(retry_after) if retry_after.isdecimal() else 1.0
