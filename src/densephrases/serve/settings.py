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
        body_bytes: Size of the body; a longer one gets a 413.
        question_characters: Length of a question, a subject or a relation.
        questions: Questions in a request.
        k: Answers per question.
        documents: Documents added, deleted or named by their ids in a request.
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
        model: The index's model, if it has moved; None takes the one named by the index.
        task: The task whose query encoder is used by default; None is the model's default query encoder.
        threads: Threads of a forward pass; None uses one per core.
        limits: Limits of a request.
        queue: Maximum number of waiting questions; a full queue returns 503.
        deadline_seconds: A request that takes longer gets a 503; a body that takes longer to arrive, a 408.
        reload_seconds: How often the manifest of the index is checked for changes.
        keys: API keys.
        log_questions: Whether questions are written to the log.
        hosts: Host names the service answers to; empty allows all.
        origins: Web origins allowed by CORS.
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


def host_names(host: str, allowed: Sequence[str], *, with_keys: bool) -> tuple[str, ...]:
    """Host names a service answers to: any if it is public or has keys, unless `allowed` lists some."""
    if not allowed and (with_keys or not is_loopback(host)):
        return ()
    return tuple(dict.fromkeys(name.lower() for name in (*LOOPBACK, host, *allowed)))
