"""Middleware around every request: request id, host and body limits, security headers, log and metrics."""

import asyncio
import logging
import re
import time
from typing import Any
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from densephrases.serve.problems import FAILED, Problem, problem_response
from densephrases.serve.runtime.metrics import Metrics
from densephrases.serve.settings import ServiceSettings

API_POLICY = "default-src 'none'; frame-ancestors 'none'"
# The search page loads files of this service only; it has no inline scripts or styles.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]*\]|[A-Za-z0-9._-]*)(?P<port>:[0-9]{0,5})?")  # IPv6 is in brackets
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")

log = logging.getLogger("densephrases.serve.requests")


class Middleware:
    """The outermost ASGI layer: whatever fails inside, the client gets one well-formed response."""

    def __init__(self, app: ASGIApp, settings: ServiceSettings, metrics: Metrics) -> None:
        self.app = app
        self._settings = settings
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        exchange = _Exchange(scope, receive, send, self._settings)
        try:
            exchange.refuse_bad_host()
            exchange.refuse_long_body()
            await self.app(scope, exchange.receive, exchange.send)
        except Problem as problem:  # before the application saw the request
            await exchange.fail(problem.status_code, problem.code, str(problem.detail))
        except Exception:
            log.exception("a request failed", extra={"fields": {"request_id": exchange.id}})
            await exchange.fail(500, "server_error", FAILED)
        finally:
            self._record(exchange)

    def _record(self, exchange: "_Exchange") -> None:
        seconds = time.perf_counter() - exchange.began
        self._metrics.requests.labels(exchange.route, exchange.status).inc()
        self._metrics.seconds.labels(exchange.route).observe(seconds)
        if log.isEnabledFor(logging.INFO):
            fields = {
                "request_id": exchange.id,
                "method": exchange.scope["method"],
                "route": exchange.route,
                "status": exchange.status,
                "milliseconds": round(1000 * seconds, 2),
                **exchange.state.get("logged", {}),
            }
            log.info("request", extra={"fields": fields})


class _Exchange:
    """One request and its response."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, settings: ServiceSettings) -> None:
        self.began = time.perf_counter()
        self.scope = scope
        self.status = 0
        self._receive = receive
        self._send = send
        self._settings = settings
        self._bytes = 0
        self._complete = False
        self.headers = Headers(scope=scope)
        self.state: dict[str, Any] = scope.setdefault("state", {})
        self.state["request_id"] = self.id = _request_id(self.headers.get("x-request-id"))
        self.state["began"] = self.began
        self.state["until"] = time.monotonic() + settings.deadline_seconds  # for the body and the answer together

    @property
    def route(self) -> str:
        """The declared path: actual paths contain document ids, or do not exist, and would have no bound as labels."""
        return str(getattr(self.scope.get("route"), "path", "none"))

    def refuse_bad_host(self) -> None:
        """Against DNS rebinding: no web page reaches a local service under a host name of its own."""
        given = self.headers.getlist("host")
        found = _HOST.fullmatch(given[0]) if len(given) == 1 else None
        if found is None and (given or self.scope["http_version"] == "1.1"):
            raise Problem(400, "bad_host", "The request needs one Host header with a host name and maybe a port.")
        hosts = self._settings.hosts
        if hosts and (found is None or found["name"].strip("[]").lower() not in hosts):
            raise Problem(
                421,
                "foreign_host",
                f"This service answers to the host names {', '.join(hosts)} only; allow others with --allowed-host.",
            )

    def refuse_long_body(self) -> None:
        length = self.headers.get("content-length", "")
        if length.isdecimal() and int(length) > self._settings.limits.body_bytes:
            raise self._too_long()

    async def receive(self) -> Message:
        if self._complete:
            return await self._receive()
        try:
            async with asyncio.timeout(max(self.state["until"] - time.monotonic(), 0)):
                message = await self._receive()
        except TimeoutError:
            seconds = self._settings.deadline_seconds
            raise Problem(408, "slow_body", f"The request body did not arrive within {seconds:g} seconds.") from None
        self._bytes += len(message.get("body", b""))
        self._complete = not message.get("more_body", False)
        if self._bytes > self._settings.limits.body_bytes:
            raise self._too_long()
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            _add_headers(MutableHeaders(scope=message), self.id, self.scope["path"])
        await self._send(message)

    async def fail(self, status: int, code: str, detail: str) -> None:
        if self.status:  # a response that has begun cannot be replaced: the connection is closed instead
            return
        response = problem_response(self.id, status, code, detail)
        if status == 408:
            response.headers["Connection"] = "close"  # the rest of the body is not read; after a 413 it is, and dropped
        await response(self.scope, self._receive, self.send)

    def _too_long(self) -> Problem:
        most = self._settings.limits.body_bytes
        return Problem(413, "over_limit", f"The request body has more than {most:,} bytes (limit: body_bytes).")


def _request_id(given: str | None) -> str:
    """The id given by the client or a proxy if it is safe in a header and a log, else a new one."""
    return given if given is not None and _REQUEST_ID.fullmatch(given) else uuid4().hex


def _add_headers(headers: MutableHeaders, request_id: str, path: str) -> None:
    headers["X-Request-Id"] = request_id
    for name, value in _HEADERS.items():
        headers[name] = value
    headers.setdefault("Content-Security-Policy", API_POLICY)
    if path.startswith("/v1/"):
        headers["Cache-Control"] = "no-store"
