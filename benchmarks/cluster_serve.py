"""What scattering and gathering cost: an index served in one shard and in several, asked in turns.

Two services run on one Ray of this machine, over one index. Twenty questions are asked of one of them and then of the
other, in an order that changes; each of them is one HTTP request without verification. Then all questions are asked in
batches, and their answers are compared with those of `PhraseIndex`.

Wall times depend on what else the machine does, and on one machine all shards share its cores. So the processor time of
the ingress and of the shards is measured as well, and what every further shard costs the ingress is computed from it.
"""

import json
import os
import random
import re
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from densephrases.client.client import Client
from densephrases.cluster.connection import connected
from densephrases.cluster.serve.rollout import Rollout, needed_cpus
from densephrases.cluster.serve.settings import ClusterSettings
from densephrases.data.files import read_questions
from densephrases.data.squad import questions_of, read_squad, sample_path
from densephrases.index.folder import IndexFolder
from densephrases.sample import articles_path
from densephrases.search.answers import AnswerList
from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.settings import ServiceSettings
from densephrases.text.readers.read import read_documents

BAR_MS = 5.0
_BATCH = 64
_REPLICA = "ray::ServeReplica:"
_TURN = 20  # questions, so that a service is in the caches of the processors


def serve(
    index: Annotated[Path | None, typer.Argument(help="An index of as many segments; else the bundled sample.")] = None,
    data: Annotated[Path | None, typer.Argument(help="Questions, in any format of `eval open`.")] = None,
    shards: Annotated[int, typer.Option(help="Shards beside one.")] = 4,
    questions: Annotated[int, typer.Option(help="How many are asked.")] = 1000,
    timed: Annotated[int, typer.Option(help="How many of these are asked one by one.")] = 300,
    cpus: Annotated[float, typer.Option(help="Cores of a shard, as Ray counts them.")] = 1.0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures here as well.")] = None,
) -> None:
    """Prints p50 and p95 of both services, and how many answers are those of one machine."""
    texts = _texts(data)[:questions]
    with TemporaryDirectory() as place:
        folder = index or _sample(Path(place) / "index", shards)
        settings = [_settings(folder, name, count, cpus) for name, count in (("one", 1), ("several", shards))]
        with connected(None, sum(map(needed_cpus, settings))):
            port = _free_port()
            for each in settings:
                Rollout(each).start("127.0.0.1", port, f"/{each.name}")
            clients = [Client(f"http://127.0.0.1:{port}/{each.name}", timeout=120.0) for each in settings]
            before = _processor_seconds()
            one, several = _in_turns(clients, texts[:timed])
            spent = _spent(before, _processor_seconds(), len(one) + _TURN)
            equal = _equal(clients[1], PhraseIndex.open(folder), texts)
            for each in settings:
                Rollout(each).stop()
    _print(one, several, shards, equal, len(texts))
    _print_spent(spent, shards)
    if json_file is not None:
        values = {"one": one, "several": several, "shards": shards, "equal": equal, "questions": len(texts)}
        values["processor_ms"] = {" ".join(kind): each for kind, each in spent.items()}
        json_file.write_text(json.dumps(values, indent=1))


def _texts(data: Path | None) -> list[str]:
    if data is None:
        return [question.text for _, question in questions_of(read_squad(sample_path()))]
    return [question.text for question in read_questions(data).questions]


def _sample(folder: Path, shards: int) -> Path:
    PhraseIndex.create(folder, read_documents([articles_path()]))
    IndexFolder.open(folder).optimize(shards)
    return folder


def _settings(folder: Path, name: str, shards: int, cpus: float) -> ClusterSettings:
    service = ServiceSettings(index=Path(), deadline_seconds=60.0)
    return ClusterSettings(
        place=str(folder.resolve()), name=name, shards=shards, cpus=cpus, service=service, shard_seconds=30.0
    )


def _in_turns(clients: Sequence[Client], texts: Sequence[str]) -> list[list[float]]:
    """Milliseconds of each question, for each client."""
    order, milliseconds = random.Random(0), [list[float]() for _ in clients]  # noqa: S311
    for first in range(-_TURN, len(texts), _TURN):
        for number in order.sample(range(len(clients)), len(clients)):
            for text in texts[max(first, 0) : max(first, 0) + _TURN]:
                began = time.perf_counter()
                clients[number].search(text, verify=0)
                if first >= 0:  # the first turn warms up
                    milliseconds[number].append(1000 * (time.perf_counter() - began))
    return milliseconds


def _processor_seconds() -> dict[tuple[str, str], float]:
    """By service and deployment, of all its replicas, which Ray names; nothing may be asked meanwhile."""
    seconds: dict[tuple[str, str], float] = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            title = (process / "cmdline").read_bytes().partition(b"\0")[0].decode()
            if title.startswith(_REPLICA):
                application, deployment = title.removeprefix(_REPLICA).split(":")
                kind = re.split(r"[.-]", application)[0], deployment.partition("-")[0]
                fields = (process / "stat").read_text().rpartition(")")[2].split()
                ticks = int(fields[11]) + int(fields[12])
                seconds[kind] = seconds.get(kind, 0.0) + ticks / os.sysconf("SC_CLK_TCK")
    return seconds


def _spent(
    before: dict[tuple[str, str], float], after: dict[tuple[str, str], float], questions: int
) -> dict[tuple[str, str], float]:
    """Milliseconds a question."""
    return {kind: 1000 * (seconds - before[kind]) / questions for kind, seconds in after.items()}


def _equal(client: Client, index: PhraseIndex, texts: Sequence[str]) -> int:
    """Questions that have the same five answers, with the same scores and confidences."""
    equal = 0
    for first in range(0, len(texts), _BATCH):
        batch = list(texts[first : first + _BATCH])
        pairs = zip(client.search(batch), index.search(batch), strict=True)
        for question, (found, expected) in zip(batch, pairs, strict=True):
            if found.complete and _shown(found) == _shown(expected):
                equal += 1
            else:
                print(f"{question!r}: {_differing(found, expected)}", flush=True)
    return equal


def _differing(found: AnswerList, expected: AnswerList) -> str:
    if not found.complete:
        return "a shard did not answer"
    pairs = zip_longest(_shown(found), _shown(expected))
    return "; ".join(f"{ours} in place of {theirs}" for ours, theirs in pairs if ours != theirs)


def _shown(answers: Sequence[Any]) -> list[tuple[Any, ...]]:
    return [(a.document.id, a.start, a.end, a.text, a.score, a.confidence, a.verified) for a in answers]


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _print(one: Sequence[float], several: Sequence[float], shards: int, equal: int, questions: int) -> None:
    for name, values in (("1 shard", one), (f"{shards} shards", several)):
        print(f"{name}: p50 {median(values):.1f} ms, p95 {quantiles(values, n=20)[-1]:.1f} ms")
    added = median(several) - median(one)
    print(f"{shards} shards add {added:.1f} ms; at most {BAR_MS:g} is {'reached' if added <= BAR_MS else 'missed'}.")
    print(f"{equal} of {questions} questions have the answers of one machine.")


def _print_spent(spent: dict[tuple[str, str], float], shards: int) -> None:
    """Milliseconds of processor time a question, and how the ingress grows with the shards."""
    for name, count in (("one", 1), ("several", shards)):
        kinds = ", ".join(f"{kind} {spent[name, kind]:.1f}" for kind in ("ingress", "encoder", "shard"))
        print(f"processor time in {count} shards, ms a question: {kinds}")
    further = (spent["several", "ingress"] - spent["one", "ingress"]) / max(shards - 1, 1)
    computed = ", ".join(f"{n}: {spent['one', 'ingress'] + (n - 1) * further:.0f}" for n in (8, 16, 32, 100))
    print(f"each further shard costs the ingress {further:.1f} ms; computed for more of them: {computed}")
