"""The options of an HTTP service, which `serve` and `cluster serve` share."""

import logging
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from densephrases.cli.flags import flags_named
from densephrases.cli.options import IndexModel, Task
from densephrases.serve.keys import Keys
from densephrases.serve.settings import Limits, ServiceSettings, host_names, is_loopback

_DEFAULTS = ServiceSettings(index=Path())
_FLAGS = {  # by the names in the library, where they differ
    "head_bytes": "--max-head",
    "body_bytes": "--max-body",
    "question_characters": "--max-question",
    "questions": "--max-questions",
    "k": "--max-k",
    "effort": "--max-effort",
    "verify": "--max-verify",
    "exact_vectors": "--max-exact-vectors",
    "deadline_seconds": "--deadline",
    "connections": "--max-connections",
}

Host = Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 is every address of this machine.")]
Port = Annotated[int, typer.Option("--port", "-p", help="Port to listen on; 0 picks a free one.")]
ApiKeyFile = Annotated[Path | None, typer.Option(help="API keys, one per line; without it anyone may search.")]
Queue = Annotated[int, typer.Option(help="Waiting questions per process; a full queue returns 503.")]
Deadline = Annotated[float, typer.Option(help="Seconds until a request gets a 503 and its search ends.")]
MaxConnections = Annotated[
    int, typer.Option(help="Maximum open connections per process; those without a request are closed first.")
]
MaxHead = Annotated[int, typer.Option(help="Maximum bytes of a request line with its headers.")]
MaxBody = Annotated[int, typer.Option(help="Maximum bytes of a request body.")]
MaxQuestion = Annotated[int, typer.Option(help="Maximum characters of a question.")]
MaxQuestions = Annotated[int, typer.Option(help="Maximum questions in a request.")]
MaxK = Annotated[int, typer.Option(help="Maximum answers per question.")]
MaxEffort = Annotated[float, typer.Option(help="Maximum effort of a search, 0 to 1.")]
MaxVerify = Annotated[int, typer.Option(help="Maximum passages that are read again for a question; 0 reads none.")]
MaxExactVectors = Annotated[
    int, typer.Option(help="Token vectors of the index up to which an exact search is allowed.")
]
AllowedHost = Annotated[
    list[str] | None,
    typer.Option(help="A host name the service answers to [default: this machine's, or any with keys]."),
]
CorsOrigin = Annotated[
    list[str] | None, typer.Option(help="A web origin allowed by CORS, such as https://example.org.")
]
LogQuestions = Annotated[bool, typer.Option("--log-questions", help="Write questions to the log.")]


def service_options(
    model: IndexModel = None,
    task: Task = None,
    host: Host = "127.0.0.1",
    port: Port = 8080,
    api_key_file: ApiKeyFile = None,
    queue: Queue = _DEFAULTS.queue,
    deadline: Deadline = _DEFAULTS.deadline_seconds,
    max_connections: MaxConnections = _DEFAULTS.connections,
    max_head: MaxHead = _DEFAULTS.limits.head_bytes,
    max_body: MaxBody = _DEFAULTS.limits.body_bytes,
    max_question: MaxQuestion = _DEFAULTS.limits.question_characters,
    max_questions: MaxQuestions = _DEFAULTS.limits.questions,
    max_k: MaxK = _DEFAULTS.limits.k,
    max_effort: MaxEffort = _DEFAULTS.limits.effort,
    max_verify: MaxVerify = _DEFAULTS.limits.verify,
    max_exact_vectors: MaxExactVectors = _DEFAULTS.limits.exact_vectors,
    allowed_host: AllowedHost = None,
    cors_origin: CorsOrigin = None,
    log_questions: LogQuestions = False,
) -> tuple[str, int, ServiceSettings]:
    """Host, port, and the settings of the service, without its index."""
    keys = Keys.read(api_key_file, None)
    with flags_named(_FLAGS):
        limits = Limits(
            head_bytes=max_head,
            body_bytes=max_body,
            question_characters=max_question,
            questions=max_questions,
            k=max_k,
            effort=max_effort,
            verify=max_verify,
            exact_vectors=max_exact_vectors,
        )
        settings = ServiceSettings(
            index=Path(),
            model=model,
            task=task,
            limits=limits,
            queue=queue,
            deadline_seconds=deadline,
            connections=max_connections,
            keys=keys,
            log_questions=log_questions,
            hosts=host_names(host, allowed_host or (), with_keys=bool(keys.reading)),
            origins=tuple(cors_origin or ()),
        )
    return host, port, settings


def with_service_options(command: Callable[..., None]) -> Callable[..., None]:
    """A command that has those of `service_options`, in the place of its parameters `host`, `port` and `settings`."""
    shared = dict(signature(service_options).parameters)

    @wraps(command)
    def run(**given: Any) -> None:
        host, port, settings = service_options(**{name: given.pop(name) for name in shared})
        command(**given, host=host, port=port, settings=settings)

    own = signature(command).parameters.values()
    shown = [each for one in own if one.name not in ("host", "port") for each in _in_place(one, shared)]
    keywords = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in shown]
    run.__signature__ = Signature(keywords)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in keywords}
    return run


def _in_place(parameter: Parameter, shared: dict[str, Parameter]) -> list[Parameter]:
    return list(shared.values()) if parameter.name == "settings" else [parameter]


def warn_without_keys(host: str, keys: Keys) -> None:
    if not is_loopback(host) and not keys.reading:
        logging.warning("anyone who can reach %s may search this index; give keys with --api-key-file", host)


def address_of(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def configure_log() -> None:
    """JSON lines on stderr, in place of the usual log of a command."""
    from densephrases.serve.runtime.logs import JsonLines

    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
