"""`densephrases serve`: an index as an HTTP service."""

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from densephrases.cli.extras import require
from densephrases.cli.lines import counted
from densephrases.cli.options import IndexArgument, IndexModel, Task
from densephrases.errors import ConfigError

if TYPE_CHECKING:
    from densephrases.serve.keys import Keys


def serve(
    folder: IndexArgument,
    model: IndexModel = None,
    task: Task = None,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 is all of this machine's.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one.")] = 8080,
    workers: Annotated[int, typer.Option(help="Processes that share the port.")] = 1,
    api_key_file: Annotated[Path | None, typer.Option(help="Keys, one a line; without it everybody may ask.")] = None,
    admin_key_file: Annotated[
        Path | None, typer.Option(help="Keys of those who may change the index; without it nobody may.")
    ] = None,
    queue: Annotated[int, typer.Option(help="Questions that may wait in each process.")] = 512,
    deadline: Annotated[float, typer.Option(help="Seconds after which a request is given up.")] = 10.0,
    max_body: Annotated[int, typer.Option(help="Bytes of a request's body.")] = 4 << 20,
    max_question: Annotated[int, typer.Option(help="Characters of a question.")] = 1000,
    max_questions: Annotated[int, typer.Option(help="Questions of one request.")] = 64,
    max_k: Annotated[int, typer.Option(help="Answers to a question.")] = 100,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(help="A name the service may be called by [default: this machine's, or any with keys]."),
    ] = None,
    cors_origin: Annotated[
        list[str] | None, typer.Option(help="A web origin whose pages may ask, such as https://example.org.")
    ] = None,
    log_questions: Annotated[bool, typer.Option("--log-questions", help="Write questions to the log.")] = False,
) -> None:
    """Answer questions over HTTP until it is stopped.

    The log goes to stderr, one JSON object a line. A changed index is served as soon as it is written.
    """
    require("serve", "fastapi", "uvicorn", "prometheus_client")
    from densephrases.serve.keys import Keys
    from densephrases.serve.runtime.service import open_index
    from densephrases.serve.server import bind
    from densephrases.serve.server import serve as run
    from densephrases.serve.settings import Limits, ServiceSettings, host_names

    if workers < 1:
        raise ConfigError(f"--workers={workers} is no number of processes; expected at least 1.")
    keys = Keys.read(api_key_file, admin_key_file)
    settings = ServiceSettings(
        index=folder,
        model=model,
        task=task,
        limits=Limits(body_bytes=max_body, question_characters=max_question, questions=max_questions, k=max_k),
        queue=queue,
        deadline_seconds=deadline,
        keys=keys,
        log_questions=log_questions,
        hosts=host_names(host, allowed_host or (), with_keys=bool(keys.reading)),
        origins=tuple(cors_origin or ()),
    )
    configure_log()
    index = open_index(settings)
    sockets = bind(host, port, workers)
    _warn_of_strangers(host, keys)
    _announce(len(index), host, sockets[0].getsockname()[1])
    run(settings, sockets, index, configure_log)


def _warn_of_strangers(host: str, keys: "Keys") -> None:
    from densephrases.serve.settings import is_loopback

    if not is_loopback(host) and not keys.reading:
        logging.warning("everybody who reaches %s may ask this index: give keys with --api-key-file", host)


def _announce(documents: int, host: str, port: int) -> None:
    address = f"[{host}]" if ":" in host else host
    typer.echo(f"Serving {counted(documents, 'document')} at http://{address}:{port}; Ctrl-C stops.")
    sys.stdout.flush()


def configure_log() -> None:
    """JSON lines on stderr; in place of what the command logs otherwise."""
    from densephrases.serve.runtime.logs import JsonLines

    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
