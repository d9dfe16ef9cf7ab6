"""`densephrases serve`: the HTTP service."""

import logging
import sys
from pathlib import Path
from typing import Annotated

import typer

from densephrases.cli.extras import require
from densephrases.cli.flags import flags_named
from densephrases.cli.lines import counted
from densephrases.cli.options import IndexArgument, IndexModel, Task
from densephrases.errors import ConfigError
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
Workers = Annotated[int, typer.Option(help="Processes that share the port.")]
ApiKeyFile = Annotated[Path | None, typer.Option(help="API keys, one per line; without it anyone may search.")]
AdminKeyFile = Annotated[
    Path | None, typer.Option(help="Admin keys, one per line; without it the index cannot be changed.")
]
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
Pages = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Show pages of the indexed PDF files of this folder [default: no files]."),
]
LogQuestions = Annotated[bool, typer.Option("--log-questions", help="Write questions to the log.")]


def serve(
    folder: IndexArgument,
    model: IndexModel = None,
    task: Task = None,
    host: Host = "127.0.0.1",
    port: Port = 8080,
    workers: Workers = 1,
    api_key_file: ApiKeyFile = None,
    admin_key_file: AdminKeyFile = None,
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
    pages: Pages = None,
    log_questions: LogQuestions = False,
) -> None:
    """Serve an index over HTTP.

    The log goes to stderr, one JSON object per line. Changes to the index are served as soon as they are written.
    """
    require("serve", "fastapi", "uvicorn", "prometheus_client")
    if workers < 1:
        raise ConfigError(f"--workers={workers} is no number of processes; expected at least 1.")
    keys = Keys.read(api_key_file, admin_key_file)
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
            index=folder,
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
            pages=pages,
        )
    _run(settings, host, port, workers)


def _run(settings: ServiceSettings, host: str, port: int, workers: int) -> None:
    from densephrases.serve.runtime.service import open_index
    from densephrases.serve.server import bind
    from densephrases.serve.server import serve as run

    configure_log()
    index = open_index(settings)
    sockets = bind(host, port, workers)
    _warn_without_keys(host, settings.keys)
    _announce(len(index), host, sockets[0].getsockname()[1])
    run(settings, sockets, index, configure_log)


def _warn_without_keys(host: str, keys: Keys) -> None:
    if not is_loopback(host) and not keys.reading:
        logging.warning("anyone who can reach %s may search this index; give keys with --api-key-file", host)


def _announce(documents: int, host: str, port: int) -> None:
    address = f"[{host}]" if ":" in host else host
    typer.echo(f"Serving {counted(documents, 'document')} at http://{address}:{port}; Ctrl-C stops.")
    sys.stdout.flush()


def configure_log() -> None:
    """JSON lines on stderr, in place of the usual log of a command."""
    from densephrases.serve.runtime.logs import JsonLines

    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
