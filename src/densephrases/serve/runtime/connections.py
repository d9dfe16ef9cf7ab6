"""Connections with limits: on the size and the time of a head, on idle and unread ones, and on their number."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from itertools import count
from typing import Any
from uuid import uuid4

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from densephrases.serve.problems import problem_response

_LINGER_SECONDS, _LINGER_BYTES = 2.0, 1 << 20  # in which what a refused client still sends is read and dropped
_order = count()
_MOST_PIPELINED = 32  # requests that wait on one connection for the response to the first


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """The limits of a connection.

    Attributes:
        head_bytes: Of a request line with its headers, of a chunk's head, or of the trailers.
        seconds: Until a head has arrived, until the rest of a body that nobody waits for has, and until the client
            has read what was sent to it.
        connections: Open at the same time.
    """

    head_bytes: int
    seconds: float
    connections: int


class LimitedConnection(HttpToolsProtocol):
    """A connection of uvicorn that no client can keep open, or fill, for nothing.

    uvicorn itself limits neither a head nor the time that it takes, and counts connections only once they have sent
    a request.
    """

    def __init__(self, limits: ConnectionLimits, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._limits = limits
        self._timer: asyncio.TimerHandle | None = None  # of the head, or of what follows the response
        self._stalled: asyncio.TimerHandle | None = None  # of a client that does not read
        self._unfinished = 0  # bytes of a head, of a chunk's head or of trailers that are not complete
        self._in_message = False  # between the begin of a head and the end of its body
        self._refused = False
        self.idle_since = 0  # in the order of such moments: several share a tick of the clock

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered: none has come, or not yet its whole head."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.idle_since = next(_order)
        self._await_head()
        if len(self.connections) > self._limits.connections:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timers()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()

    def data_received(self, data: bytes) -> None:
        if self._refused:
            self._unfinished += len(data)
            if self._unfinished > self._limits.head_bytes + _LINGER_BYTES:
                self._abort()
            return
        if self._timer is None and self.is_idle:
            self._await_head()
        first = 0
        while first < len(data) and not self._refused and not self.transport.is_closing():
            piece = data[first : first + self._limits.head_bytes - self._unfinished]
            first += len(piece)
            self._unfinished += len(piece)
            super().data_received(piece)
            if self._unfinished >= self._limits.head_bytes:
                most = f"{self._limits.head_bytes:,} bytes (limit: head_bytes)"
                self._refuse(431, "over_limit", f"The head of the request has more than {most}.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_message = True
        if len(self.pipeline) >= _MOST_PIPELINED:
            self._abort()

    def on_headers_complete(self) -> None:
        self._unfinished = 0
        self._stop_timer()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unfinished = 0
        super().on_body(body)

    def on_chunk_header(self) -> None:
        self._unfinished = 0

    def on_chunk_complete(self) -> None:
        self._unfinished = 0

    def on_message_complete(self) -> None:
        self._unfinished = 0
        self._in_message = False
        super().on_message_complete()
        if self.is_idle:  # the response came before the end of the body
            self._stop_timer()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.is_idle:
            self.idle_since = next(_order)
            if self._in_message or self.transport.is_closing():
                self._start_timer(self._abort)

    def timeout_keep_alive_handler(self) -> None:
        self._abort()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._stalled is None:
            self._stalled = self.loop.call_later(self._limits.seconds, self._abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def shutdown(self) -> None:
        super().shutdown()
        if self.transport.is_closing():
            self._start_timer(self._abort)

    def send_400_response(self, msg: str) -> None:
        """What uvicorn sends for something that is no HTTP."""
        self._refuse(400, "bad_request", msg)

    def _make_room(self) -> None:
        """Close the connection that has been idle longest, so that idle ones cannot keep others out."""
        others = [each for each in self.connections if isinstance(each, LimitedConnection) and each is not self]
        idle = [each for each in others if each.is_idle and not each.transport.is_closing()]
        if idle:
            min(idle, key=lambda each: each.idle_since)._abort()
        else:
            most = f"{self._limits.connections:,} connections (limit: connections)"
            self._refuse(503, "too_many_connections", f"All {most} are in use; try again later.", linger=False)

    def _await_head(self) -> None:
        self._start_timer(self._head_is_late)

    def _head_is_late(self) -> None:
        if not self._unfinished:
            self._abort()
        else:
            seconds = f"{self._limits.seconds:g} seconds"
            self._refuse(408, "slow_head", f"The head of the request did not arrive within {seconds}.")

    def _refuse(self, status: int, code: str, detail: str, *, linger: bool = True) -> None:
        """Answer before the application has seen a request, and close."""
        if self._refused or self.transport.is_closing():
            return
        self._refused = True
        if self.is_idle:  # else it would be taken for the response to the request before
            self.transport.write(_response(status, code, detail))
        if self.is_idle and linger and self.transport.can_write_eof():
            self.transport.write_eof()  # a close would drop the response as long as the client is sending
            self._start_timer(self._abort, min(self._limits.seconds, _LINGER_SECONDS))
        else:
            self.transport.close()
            self._start_timer(self._abort)

    def _abort(self) -> None:
        self._refused = True
        self._stop_timers()
        self.transport.abort()

    def _start_timer(self, then: Callable[[], None], seconds: float | None = None) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(self._limits.seconds if seconds is None else seconds, then)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _stop_timers(self) -> None:
        self._stop_timer()
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None


def _response(status: int, code: str, detail: str) -> bytes:
    headers = {"Connection": "close"} | ({"Retry-After": "1"} if status == 503 else {})
    response = problem_response(uuid4().hex, status, code, detail, headers)
    lines = [b"HTTP/1.1 %d %s" % (status, HTTPStatus(status).phrase.encode())]
    lines += [name + b": " + value for name, value in response.raw_headers]
    return b"\r\n".join([*lines, b"", bytes(response.body)])
