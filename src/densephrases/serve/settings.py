"""What a service may be asked, and how it behaves."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

from densephrases.errors import ConfigError
from densephrases.serve.keys import Keys

LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The largest request that is taken.

    Attributes:
        body_bytes: Of a request's body; more is answered with 413.
        question_characters: Of a question, a subject or a relation.
        questions: In one request.
        k: Answers to a question.
        documents: Added, deleted or searched by their ids in one request.
    """

    body_bytes: int = 4 << 20
    question_characters: int = 1000
    questions: int = 64
    k: int = 100
    documents: int = 1000

    def __post_init__(self) -> None:
        for each in fields(self):
            if getattr(self, each.name) < 1:
                raise ConfigError(f"{each.name}={getattr(self, each.name)} is no limit; expected at least 1.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """How an index is served.

    Attributes:
        index: Folder of the index.
        model: Where the index's model is found now; None: where it was.
        task: Which of the model's query encoders asks; None: the default one.
        threads: Of one forward pass of the model; None takes one for each core.
        queue: Questions that may wait; further ones are refused with 503.
        deadline_seconds: A request that takes longer is answered with 503; a body that takes longer to come, with 408.
        reload_seconds: How often the index's manifest is looked at.
        log_questions: Whether questions are written to the log.
        hosts: Names by which the service may be called; empty allows all.
        origins: Web origins whose pages may call it from a browser.
    """

    index: Path
    model: str | None = None
    task: str | None = None
    threads: int | None = None
    limits: Limits = field(default_factory=Limits)
    queue: int = 512
    deadline_seconds: float = 10.0
    reload_seconds: float = 1.0
    keys: Keys = field(default_factory=Keys)
    log_questions: bool = False
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("queue", "deadline_seconds", "reload_seconds"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name}={getattr(self, name)} is out of range; expected more than 0.")


def is_loopback(host: str) -> bool:
    return host in LOOPBACK or host.startswith("127.")


def own_names(host: str, allowed: Sequence[str], *, with_keys: bool) -> tuple[str, ...]:
    """Names a service may be called by; any where it is meant for others or wants keys, unless some are listed."""
    if not allowed and (with_keys or not is_loopback(host)):
        return ()
    return tuple(dict.fromkeys(name.lower() for name in (*LOOPBACK, host, *allowed)))
