"""One file from an address: resumed where a former attempt stopped, complete or not there at all."""

import http.client
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from densephrases.errors import DataError, first_line
from densephrases.json_input import read_json_file
from densephrases.version import __version__

Progress = Callable[[int, int | None], None]
"""Is told the bytes that are there, and how many there will be if that is known."""

ATTEMPTS = 5  # each goes on where the one before stopped
_BLOCK = 1 << 18
_PAUSE = 0.5  # seconds before the second attempt, doubled before each further one
_TIMEOUT = 60.0
_TOO_BUSY = (429, 500, 502, 503, 504)


class UnreachableError(DataError):
    """An address that does not answer, or not with the file."""


class _CutOffError(Exception):
    """A transfer that ended early; what is there stays, and another attempt goes on."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a server said about a file: from which byte it sends, how many it has in all, and which version."""

    begins: int
    total: int | None
    version: str | None


def part_of(path: Path) -> Path:
    """Where a file is until it is complete."""
    return path.with_name(f"{path.name}.part")


def fetch(address: str, path: Path, progress: Progress = lambda done, total: None, *, pause: float = _PAUSE) -> None:
    """Download a file to `part_of(path)`, going on with what is there if the server still has the same version."""
    part = part_of(path)
    for attempt in range(ATTEMPTS):
        try:
            return _go_on(address, part, progress)
        except _CutOffError as error:
            if attempt + 1 == ATTEMPTS:
                raise UnreachableError(
                    f"'{address}' was cut off {ATTEMPTS} times: {error}. "
                    "Give the command again; it goes on where it stopped."
                ) from error
            time.sleep(pause * 2**attempt)
    raise AssertionError("unreachable")


def read_small(address: str, most: int = 1 << 24) -> str:
    """The text at an address, such as a list of checksums."""
    with _opened(address, {}) as response:
        return bytes(response.read(most)).decode(errors="replace")


def forget_part(path: Path) -> None:
    for each in (part_of(path), _about(part_of(path))):
        each.unlink(missing_ok=True)


def _go_on(address: str, part: Path, progress: Progress) -> None:
    there = part.stat().st_size if part.is_file() else 0
    version = _version_of(part, address) if there else None
    headers = {"Range": f"bytes={there}-", "If-Range": version} if version is not None else {}
    try:
        with _opened(address, headers) as response:
            answer = _understood(response, resumed=version is not None)
            _write_about(part, address, answer.version)
            _receive(response, part, answer, progress)
    except HTTPError as error:
        if error.code in _TOO_BUSY:
            raise _CutOffError(f"the server answers {error.code} {error.reason}") from error
        if error.code != 416 or version is None:
            raise UnreachableError(f"'{address}' answers {error.code} {error.reason}, expected the file.") from error
        _restart_if_wrong(part, error.headers)


def _restart_if_wrong(part: Path, headers: Message) -> None:
    """The server has nothing after what is there: the file is complete, or it is another one."""
    _, _, total = str(headers.get("Content-Range", "")).partition("/")
    if total.strip() != str(part.stat().st_size):
        part.unlink()
        raise _CutOffError("what was there is longer than the file and was dropped")


def _understood(response: Any, *, resumed: bool) -> _Answer:
    headers: Message = response.headers
    version = headers.get("ETag") or headers.get("Last-Modified")
    if version is not None and version.startswith("W/"):  # may be another version, byte by byte
        version = headers.get("Last-Modified")
    if resumed and response.status == 206:
        span, _, total = str(headers.get("Content-Range", "")).removeprefix("bytes ").partition("/")
        first = span.partition("-")[0]
        if first.isdigit():
            return _Answer(int(first), int(total) if total.isdigit() else None, version)
    length = str(headers.get("Content-Length", ""))
    return _Answer(0, int(length) if length.isdigit() else None, version)


def _receive(response: IO[bytes], part: Path, answer: _Answer, progress: Progress) -> None:
    """A server that does not know ranges sends all of it: then it is written anew."""
    with part.open("r+b" if answer.begins else "wb") as file:
        file.seek(answer.begins)
        file.truncate()
        done = answer.begins
        progress(done, answer.total)
        for block in _blocks(response):
            file.write(block)
            done += len(block)
            progress(done, answer.total)
    if answer.total is not None and done < answer.total:
        raise _CutOffError(f"{done:,} of {answer.total:,} bytes arrived")


def _blocks(response: IO[bytes]) -> Iterator[bytes]:
    try:
        while block := response.read(_BLOCK):
            yield block
    except (TimeoutError, ConnectionError, http.client.HTTPException) as error:
        raise _CutOffError(first_line(error)) from error


@contextmanager
def _opened(address: str, headers: dict[str, str]) -> Iterator[Any]:
    """The answer to a request; errors of HTTP pass through, no answer at all is an UnreachableError."""
    if urlsplit(address).scheme not in ("http", "https"):
        raise UnreachableError(f"'{address}' is no address of the web; expected one that begins with https://.")
    request = Request(address, headers={"User-Agent": f"densephrases/{__version__}", **headers})  # noqa: S310
    try:
        response = build_opener(_NeverLessSecure()).open(request, timeout=_TIMEOUT)
    except HTTPError:
        raise
    except (URLError, TimeoutError, ConnectionError, http.client.HTTPException) as error:
        reason = error.reason if isinstance(error, URLError) else error
        raise UnreachableError(f"'{address}' cannot be reached: {_reason(reason)}.") from error
    with response:
        yield response


def _reason(error: object) -> str:
    return str(getattr(error, "strerror", None) or error) or type(error).__name__


class _NeverLessSecure(HTTPRedirectHandler):
    """Follows redirections, but not from https to an address that others could answer."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        if req.type == "https" and urlsplit(newurl).scheme != "https":
            raise UnreachableError(f"'{req.full_url}' redirects to '{newurl}', which is not https, and was refused.")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _about(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


def _write_about(part: Path, address: str, version: str | None) -> None:
    _about(part).write_text(json.dumps({"address": address, "version": version}))


def _version_of(part: Path, address: str) -> str | None:
    """Of the file that the part belongs to; None if that is unknown, and the part is of no use."""
    with suppress(OSError, ValueError):
        about = read_json_file(_about(part))
        if isinstance(about, dict) and about.get("address") == address and isinstance(about.get("version"), str):
            return str(about["version"])
    return None
