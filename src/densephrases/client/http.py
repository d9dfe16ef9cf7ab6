"""HTTP with the standard library: connections that are kept, used by one thread at a time each."""

import json
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from queue import Empty, LifoQueue
from typing import Any
from urllib.parse import urlsplit
from weakref import finalize

from densephrases.errors import ConfigError, ServiceError

_BUSY = 503


class Service:
    """Where a service is and how it is called.

    Args:
        url: Such as http://127.0.0.1:8080.
        api_key: Sent with every request.
        timeout: Seconds until a silent service is given up.
        retries: How often a request is repeated that a busy service has refused.
    """

    def __init__(self, url: str, api_key: str | None, timeout: float, retries: int) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"url={url!r} is no address of a service; expected for example 'http://127.0.0.1:8080'.")
        self.url = url.rstrip("/")
        self._address = parts.netloc.rpartition("@")[2]
        self._prefix = parts.path.rstrip("/")
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._headers = {"Content-Type": "application/json"}
        if api_key is not None:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._timeout = timeout
        self._retries = retries
        self._idle: LifoQueue[HTTPConnection] = LifoQueue()
        self._end = finalize(self, _close_all, self._idle)  # also of a client that nobody closes

    def call(self, method: str, path: str, content: Any = None) -> Any:
        """What the service answers; None if it has no such document."""
        body = None if content is None else json.dumps(content).encode()
        for left in range(self._retries, -1, -1):
            status, headers, answer = self._exchange(method, self._prefix + path, body)
            if status != _BUSY or left == 0:
                break
            time.sleep(_seconds(headers.get("retry-after", "")))
        return self._understood(status, answer)

    def close(self) -> None:
        _close_all(self._idle)

    def _exchange(self, method: str, path: str, body: bytes | None) -> tuple[int, dict[str, str], bytes]:
        with self._connection() as connection:
            was_used = connection.sock is not None
            try:
                return self._once(connection, method, path, body)
            except (HTTPException, ConnectionError) as error:
                connection.close()
                if not was_used:
                    raise self._unreachable(error) from error
            except OSError as error:
                connection.close()
                raise self._unreachable(error) from error
            try:  # the service may close a connection that was idle; nothing of the request was answered
                return self._once(connection, method, path, body)
            except (HTTPException, OSError) as error:
                connection.close()
                raise self._unreachable(error) from error

    def _once(
        self, connection: HTTPConnection, method: str, path: str, body: bytes | None
    ) -> tuple[int, dict[str, str], bytes]:
        connection.request(method, path, body, self._headers)
        response = connection.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()

    @contextmanager
    def _connection(self) -> Iterator[HTTPConnection]:
        try:
            connection = self._idle.get_nowait()
        except Empty:
            connection = self._new()
        try:
            yield connection
        finally:
            self._idle.put(connection)

    def _new(self) -> HTTPConnection:
        if self._tls is None:
            return HTTPConnection(self._address, timeout=self._timeout)
        return HTTPSConnection(self._address, timeout=self._timeout, context=self._tls)

    def _understood(self, status: int, answer: bytes) -> Any:
        try:
            content = json.loads(answer)
        except ValueError:
            raise ServiceError(
                f"'{self.url}' answered {status} and no JSON; is it a service of `densephrases serve`?"
            ) from None
        if status < 300:
            return content
        problem = content if isinstance(content, dict) else {}
        if problem.get("code") == "unknown_document" and status == 404:
            return None
        raise ServiceError(
            f"'{self.url}' refused the request: {problem.get('detail', f'status {status}')} "
            f"(status {status}, request {problem.get('request_id', 'unknown')})"
        )

    def _unreachable(self, error: BaseException) -> ServiceError:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return ServiceError(f"'{self.url}' cannot be reached: {reason}; is the service running?")


def _close_all(connections: "LifoQueue[HTTPConnection]") -> None:
    while not connections.empty():
        connections.get_nowait().close()


def _seconds(retry_after: str) -> float:
    return float(retry_after) if retry_after.isdecimal() else 1.0
