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

_UNAVAILABLE = 503
_BUSY = (429, _UNAVAILABLE)
# Codes of a 503 that say that the request was not begun. A proxy's 503 says nothing of the kind.
_NOT_BEGUN = ("too_many_connections", "writing")
LONGEST_WAIT = 30.0
_KEEP_ALIVE_SECONDS = 60.0  # shorter than the service keeps a connection open
# The service may close an idle connection just as the next request is sent on it.
_DROPPED = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a service; `content` is sent as JSON.

    Attributes:
        changes: Whether it changes the index; such a call is repeated only if it surely was not begun.
    """

    method: str
    path: str
    content: Any = None
    changes: bool = False


@dataclass(frozen=True, slots=True)
class Address:
    """Where a service listens and how it is called.

    Attributes:
        url: For example http://127.0.0.1:8080.
        api_key: Sent with every request.
        timeout: Seconds without a byte from the service after which a call fails.
        retries: How often a request is repeated after a 429 or 503.
        longest_wait: Most seconds to wait before a repetition, whatever the service asks for.
    """

    url: str
    api_key: str | None
    timeout: float
    retries: int
    longest_wait: float = LONGEST_WAIT

    def __post_init__(self) -> None:
        if not self.longest_wait >= 0:
            raise ConfigError(f"longest_wait={self.longest_wait} is out of range; expected seconds of at least 0.")
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

    def lost(self, error: httpx.HTTPError) -> ServiceError:
        return ServiceError(
            f"The connection to '{self.shown}' was lost ({_reason(error)}); whether the index was changed is unknown: "
            "look at its documents before you send the change again."
        )

    def failed(self, call: Call, error: httpx.HTTPError) -> ServiceError:
        """A change that could not be sent was not made; of one that was sent, only the service knows."""
        unsent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)
        return self.lost(error) if call.changes and not unsent else self.unreachable(error)

    def pause(self, call: Call, response: httpx.Response) -> float | None:
        """Seconds until the call may be repeated; None if it may not."""
        if response.status_code not in _BUSY or (call.changes and not _was_not_begun(response)):
            return None
        retry_after = response.headers.get("retry-after", "")
        return min(float(retry_after) if retry_after.isdecimal() else 1.0, self.longest_wait)

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
            pause = self._address.pause(call, response)
            if pause is None or left == 0:
                break
            time.sleep(pause)
        return self._address.parsed(response)

    def _response(self, call: Call) -> httpx.Response:
        try:
            try:
                return self._http.request(**_arguments(call))
            except _DROPPED:
                if call.changes:
                    raise
                return self._http.request(**_arguments(call))
        except httpx.HTTPError as error:
            raise self._address.failed(call, error) from error


class AsyncConnection:
    """Calls to be awaited, over at most `connections` connections."""

    def __init__(self, address: Address, connections: int) -> None:
        self._address = address
        self._http = httpx.AsyncClient(**address.options(connections))

    async def call(self, call: Call) -> Any:
        for left in range(self._address.retries, -1, -1):
            response = await self._response(call)
            pause = self._address.pause(call, response)
            if pause is None or left == 0:
                break
            await asyncio.sleep(pause)
        return self._address.parsed(response)

    async def close(self) -> None:
        await self._http.aclose()

    async def _response(self, call: Call) -> httpx.Response:
        try:
            try:
                return await self._http.request(**_arguments(call))
            except _DROPPED:
                if call.changes:
                    raise
                return await self._http.request(**_arguments(call))
        except httpx.HTTPError as error:
            raise self._address.failed(call, error) from error


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


def _was_not_begun(response: httpx.Response) -> bool:
    """Whether a refusal says so: a 429 does by its meaning, a 503 by its code."""
    if response.status_code != _UNAVAILABLE:
        return True
    try:
        content = json.loads(response.content)
    except ValueError:
        return False
    return isinstance(content, dict) and content.get("code") in _NOT_BEGUN
