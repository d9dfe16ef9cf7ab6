"""Settings of a service and the limits of its requests."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

from densephrases.errors import ConfigError
from densephrases.serve.keys import Keys

LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of a request.

    Attributes:
        head_bytes: Size of the request line and the headers; a longer head gets a 431.
        body_bytes: Size of the body; a longer one gets a 413.
        question_characters: Length of a question, a subject or a relation.
        questions: Questions in a request.
        k: Answers per question.
        effort: Effort of a search, from 0 to 1.
        verify: Passages read again for a question.
        exact_vectors: Token vectors of the index up to which `exact` is allowed: it reads all of them.
        conditions: Values of metadata named in `where`.
        documents: Documents added, deleted or named by their ids in a request.
    """

    head_bytes: int = 64 << 10
    body_bytes: int = 4 << 20
    question_characters: int = 1000
    questions: int = 64
    k: int = 100
    effort: float = 1.0
    verify: int = 10
    exact_vectors: int = 1_000_000
    conditions: int = 1000
    documents: int = 1000

    def __post_init__(self) -> None:
        if not 0 <= self.effort <= 1:
            raise ConfigError(f"effort={self.effort} is no limit; expected a number from 0 to 1.")
        for each in fields(self):
            least = 0 if each.name == "verify" else 1
            if each.name != "effort" and getattr(self, each.name) < least:
                raise ConfigError(f"{each.name}={getattr(self, each.name)} is no limit; expected at least {least}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """How an index is served.

    Attributes:
        index: Folder of the index.
        model: The index's model, if it has moved; None takes the one named by the index.
        task: The task whose query encoder is used by default; None is the model's default query encoder.
        threads: Threads of a forward pass; None uses one per core.
        limits: Limits of a request.
        queue: Maximum number of waiting questions; a full queue returns 503.
        deadline_seconds: A request that takes longer gets a 503, and its search ends; a head or a body that takes
            longer to arrive, a 408. A change of the index that has begun is finished.
        connections: Maximum number of open connections; a new one takes the place of the one that has been idle
            longest, or gets a 503 if all are in use.
        reload_seconds: How often the manifest of the index and its fitted confidences are checked for changes.
        keys: API keys.
        log_questions: Whether questions are written to the log.
        hosts: Host names the service answers to; empty allows all.
        origins: Web origins allowed by CORS.
        pages: Folder whose indexed PDF files are shown page by page; None shows none.
    """

    index: Path
    model: str | None = None
    task: str | None = None
    threads: int | None = None
    limits: Limits = field(default_factory=Limits)
    queue: int = 512
    deadline_seconds: float = 10.0
    connections: int = 512
    reload_seconds: float = 1.0
    keys: Keys = field(default_factory=Keys)
    log_questions: bool = False
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    pages: Path | None = None

    def __post_init__(self) -> None:
        if self.pages is not None and not self.pages.is_dir():
            raise ConfigError(f"pages='{self.pages}' is no folder; expected the one whose PDF files are indexed.")
        for name in ("queue", "deadline_seconds", "connections", "reload_seconds"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name}={getattr(self, name)} is out of range; expected more than 0.")


def is_loopback(host: str) -> bool:
    return host in LOOPBACK or host.startswith("127.")


def host_names(host: str, allowed: Sequence[str], *, with_keys: bool) -> tuple[str, ...]:
    """Host names a service answers to: any if it is public or has keys, unless `allowed` lists some."""
    if not allowed and (with_keys or not is_loopback(host)):
        return ()
    return tuple(dict.fromkeys(name.lower() for name in (*LOOPBACK, host, *allowed)))
