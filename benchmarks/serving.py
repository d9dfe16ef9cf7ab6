"""Throughput and latency of the service compared with the library, and its behaviour under overload.

python benchmarks/serving.py [--index DIR] [--model M] [--clients 64] [--workers 1] [--workers 2] [--seconds 10]

Client and server share the machine's cores, so the client does little: one thread, requests prepared in advance,
responses read but not parsed. The library's rate is measured before and after every service, in a process of its own,
to reveal drifting load; on a shared machine, compare the processor time as well.
Without --index the bundled articles are indexed first.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from densephrases.data.squad import questions_of, read_squad, sample_path
from densephrases.sample import SAMPLE_QUESTIONS, articles_path
from densephrases.search.phrase_index import PhraseIndex
from densephrases.text.readers.read import read_documents

BATCH = 64
BAR = 0.8
K = 10
OVERLOAD_QUEUE = 16
OVERLOAD_CLIENTS = 256
WARM_UP_SECONDS = 1.0
LIBRARY = """
import json, resource, sys, time
from densephrases import PhraseIndex
folder, model, seconds, questions = json.load(sys.stdin)
index = PhraseIndex.open(folder, model)
batches = [questions[i:i + 64] for i in range(0, len(questions) - 63, 64)]
for batch in batches: index.search(batch, verify=0)
used = lambda: sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
begin, spent, asked = time.perf_counter(), used(), 0
while time.perf_counter() - begin < seconds:
    index.search(batches[asked // 64 % len(batches)], verify=0)
    asked += 64
elapsed = time.perf_counter() - begin
print(json.dumps({"rate": asked / elapsed, "processor": 1000 * (used() - spent) / asked}))
"""


@dataclass(slots=True)
class Outcome:
    """Of all clients together: the latency of each answered request, and the counts of other statuses."""

    elapsed: float = 0.0
    latencies: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    unclean: int = 0  # errors that are no problem details, or 503 without Retry-After

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.elapsed

    def percentile(self, percent: float) -> float:
        return 1000 * float(np.percentile(self.latencies, percent))


def main(
    index: Annotated[Path | None, typer.Option(help="Folder of an index [default: the bundled articles].")] = None,
    model: Annotated[str, typer.Option(help="A bundled model's name or an exported model's folder.")] = "small",
    clients: Annotated[int, typer.Option(help="Concurrent clients, each with one question at a time.")] = 64,
    workers: Annotated[list[int] | None, typer.Option(help="Processes of the service; may be repeated.")] = None,
    seconds: Annotated[float, typer.Option(help="Seconds of each measurement.")] = 10.0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the figures to this file.")] = None,
) -> None:
    """Prints questions per second, latencies and errors, with a short queue and with an overfull one."""
    console = Console(width=120)
    with TemporaryDirectory() as place:
        folder = index or built(Path(place) / "index", model)
        rows: list[dict[str, Any]] = []
        for count in workers or [1, 2]:
            rows.append(compared(folder, model, clients, count, seconds))
        overload = overloaded(folder, model, seconds)
    console.print(rates_table(rows, clients))
    console.print(
        f"{OVERLOAD_CLIENTS} clients, room for {OVERLOAD_QUEUE} waiting questions: {len(overload.latencies)} answered "
        f"({overload.rate:.0f}/s, p99 {overload.percentile(99):.0f} ms), {overload.statuses[503]} refused with 503, "
        f"{overload.statuses.total() - overload.statuses[503]} other errors, {overload.unclean} unclean"
    )
    if json_file is not None:
        refused = {str(status): count for status, count in overload.statuses.items()}
        values = {"answered": len(overload.latencies), "refused": refused, "unclean": overload.unclean}
        json_file.write_text(json.dumps({"rates": rows, "overload": values}, indent=1))


def built(folder: Path, model: str) -> Path:
    PhraseIndex.create(folder, read_documents([articles_path()]), model=model)
    return folder


def questions() -> list[str]:
    ours = [sample.question for sample in SAMPLE_QUESTIONS]
    return (ours + [question.text for _, question in questions_of(read_squad(sample_path()))])[: 4 * BATCH]


def compared(folder: Path, model: str, clients: int, workers: int, seconds: float) -> dict[str, Any]:
    before = library(folder, model, seconds / 2)
    with served(folder, model, "--workers", str(workers)) as (port, process):
        asyncio.run(load(port, clients, WARM_UP_SECONDS))
        spent = processor_seconds(process)
        outcome = asyncio.run(load(port, clients, seconds))
        spent = processor_seconds(process) - spent
        lone = asyncio.run(load(port, 1, seconds / 4))
    after = library(folder, model, seconds / 2)
    return {
        "workers": workers,
        "library": mean([before["rate"], after["rate"]]),
        "library_processor_ms": mean([before["processor"], after["processor"]]),
        "rate": outcome.rate,
        "share": outcome.rate / mean([before["rate"], after["rate"]]),
        "processor_ms": 1000 * spent / max(len(outcome.latencies), 1),
        "p50": outcome.percentile(50),
        "p99": outcome.percentile(99),
        "errors": outcome.statuses.total(),
        "lone_p50": lone.percentile(50),
        "lone_p99": lone.percentile(99),
    }


def library(folder: Path, model: str, seconds: float) -> dict[str, float]:
    sent = json.dumps([str(folder), model, seconds, questions()])
    done = subprocess.run([sys.executable, "-c", LIBRARY], input=sent, capture_output=True, text=True, check=True)  # noqa: S603
    values: dict[str, float] = json.loads(done.stdout)
    return values


def overloaded(folder: Path, model: str, seconds: float) -> Outcome:
    with served(folder, model, "--queue", str(OVERLOAD_QUEUE)) as (port, _):
        return asyncio.run(load(port, OVERLOAD_CLIENTS, seconds))


@contextmanager
def served(folder: Path, model: str, *options: str) -> Iterator[tuple[int, int]]:
    """The port and the process of a service that has answered its first request."""
    command = [sys.executable, "-m", "densephrases", "serve", str(folder), "--model", model, "--port", "0", *options]
    with (
        TemporaryDirectory() as place,
        (Path(place) / "log").open("w") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as process,  # noqa: S603
    ):
        assert process.stdout is not None
        found = re.search(r":(\d+);", process.stdout.readline())
        if found is None:
            raise SystemExit((Path(place) / "log").read_text() or "The service did not start.")
        port = int(found.group(1))
        asyncio.run(load(port, 1, 0.0))
        try:
            yield port, process.pid
        finally:
            process.terminate()


async def load(port: int, clients: int, seconds: float) -> Outcome:
    """Each client sends its next question when the last is answered; at least one."""
    outcome = Outcome()
    requests = [request(port, question) for question in questions()]
    begin = time.perf_counter()
    await asyncio.gather(*(client(port, requests, place, begin + seconds, outcome) for place in range(clients)))
    outcome.elapsed = time.perf_counter() - begin
    return outcome


def request(port: int, question: str) -> bytes:
    body = json.dumps({"question": question, "k": K, "verify": 0}).encode()
    head = f"POST /v1/answers HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def client(port: int, requests: Sequence[bytes], place: int, end: float, outcome: Outcome) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    turn = place * 7
    while True:
        begin = time.perf_counter()
        writer.write(requests[turn % len(requests)])
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        await reader.readexactly(int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0]))
        now = time.perf_counter()
        status = int(head[9:12])
        if status == 200:
            outcome.latencies.append(now - begin)
        else:
            outcome.statuses[status] += 1
            outcome.unclean += b"application/problem+json" not in head or b"retry-after: " not in head
            await asyncio.sleep(0.1)  # less than Retry-After, so that the service stays overloaded
        turn += 1
        if now >= end:
            break
    writer.close()


def processor_seconds(process: int) -> float:
    """Of a process and its children; nan where the system does not report it."""
    ticks = 0
    try:
        for number in [process, *children(process)]:
            fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    except OSError:
        return float("nan")
    return ticks / os.sysconf("SC_CLK_TCK")


def children(process: int) -> list[int]:
    return [
        int(number)
        for task in Path(f"/proc/{process}/task").iterdir()
        for number in (task / "children").read_text().split()
    ]


def rates_table(rows: Sequence[dict[str, Any]], clients: int) -> Table:
    table = Table(
        "workers",
        "library, 64 at once",
        f"service, {clients} clients",
        "share",
        "CPU ms a question",
        "p50 / p99 ms",
        "errors",
        "one client, p50 / p99 ms",
    )
    for row in rows:
        table.add_row(
            str(row["workers"]),
            f"{row['library']:.0f}/s",
            f"{row['rate']:.0f}/s",
            f"{row['share']:.0%} {'reached' if row['share'] >= BAR else 'missed'}",
            f"{row['processor_ms']:.1f} (library {row['library_processor_ms']:.1f})",
            f"{row['p50']:.0f} / {row['p99']:.0f}",
            str(row["errors"]),
            f"{row['lone_p50']:.1f} / {row['lone_p99']:.1f}",
        )
    return table


if __name__ == "__main__":
    typer.run(main)
