"""How much of the encoder's own speed an index build keeps, and how long merging and candidates take after it.

python benchmarks/indexing.py [--model small] [--corpus FILE] [--documents 53] [--rounds 3] [--json FILE]

Both run over the same passages in the same length-sorted batches, in turn, because a machine has good and bad moments:
'forward' is the encoder alone on batches made beforehand, 'build' is everything from reading the corpus to committed
parts. Tokens are those of the passages, without titles, special tokens, overlaps and padding. Where others use the
machine, the ratio of processor time tells more than that of time.
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated, Self

import typer
from rich.console import Console
from rich.table import Table

from densephrases.index.build import CHARACTERS_PER_TOKEN, chunks
from densephrases.index.folder import IndexFolder
from densephrases.index.identity import PreparedDocument
from densephrases.index.ledger import Ledger
from densephrases.index.parts import PartBuilder
from densephrases.index.settings import IndexSettings
from densephrases.model.batches import TokenBatch, batches_by_length, token_batch
from densephrases.model.bundled import load
from densephrases.model.encoder import Encoder
from densephrases.sample import articles_path
from densephrases.text.documents import Document
from densephrases.text.readers import read_documents

BAR = 0.85


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Tokens a second of both, their seconds of processor time, and the seconds that follow a build."""

    tokens: int
    rows: int
    forward: float
    build: float
    forward_cpu_seconds: float
    build_cpu_seconds: float
    finish_seconds: float

    @property
    def ratio(self) -> float:
        return self.build / self.forward

    @property
    def cpu_ratio(self) -> float:
        return self.forward_cpu_seconds / self.build_cpu_seconds


@dataclass(frozen=True, slots=True)
class Corpus:
    path: Path
    documents: int | None

    def read(self) -> Iterator[Document]:
        return islice(read_documents([self.path]), self.documents)


@dataclass(frozen=True, slots=True)
class Work:
    """The batches of a build, made beforehand, and how many tokens of passages they hold."""

    batches: list[TokenBatch]
    tokens: int

    @classmethod
    def of(cls, corpus: Corpus, encoder: Encoder) -> Self:
        batches: list[TokenBatch] = []
        tokens = 0
        prepared = map(PreparedDocument.of, corpus.read())
        for chunk in chunks(prepared, CHARACTERS_PER_TOKEN * encoder.tokens_per_chunk):
            tokenized = encoder.tokens.passages([p for piece in chunk.pieces for p in piece.passages()])
            tokens += sum(len(passage.offsets) for passage in tokenized)
            windows = [window for passage in tokenized for window in passage.windows]
            for rows in batches_by_length([len(window.ids) for window in windows], encoder.tokens_per_batch):
                ids, types = [windows[i].ids for i in rows], [windows[i].types for i in rows]
                batches.append(token_batch(ids, types, encoder.tokens.pad_id))
        return cls(batches, tokens)

    @property
    def padding(self) -> float:
        """The share of padding in what the encoder computes."""
        real = sum(int(batch.mask.sum()) for batch in self.batches)
        return 1 - real / sum(int(batch.mask.size) for batch in self.batches)

    def forward(self, encoder: Encoder) -> None:
        for batch in self.batches:
            encoder.forward_passages(batch)


def main(
    model: Annotated[str, typer.Option(help="A bundled model's name or an exported model's folder.")] = "small",
    corpus: Annotated[Path | None, typer.Option(help="Anything that can be indexed; else the bundled sample.")] = None,
    documents: Annotated[int | None, typer.Option(help="Only the first so many.")] = None,
    rounds: int = 3,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures here as well.")] = None,
) -> None:
    """Prints tokens a second of the encoder and of whole builds, and their ratio."""
    encoder = load(model)
    source = Corpus(corpus or articles_path(), documents)
    work = Work.of(source, encoder)
    encoder.forward_passages(work.batches[-1])  # opens the model
    results = [measure(source, work, encoder) for _ in range(rounds)]
    print_table(results, work)
    if json_file is not None:
        values = {"model": model, "padding": work.padding, "ratio": median(r.ratio for r in results), "bar": BAR}
        json_file.write_text(json.dumps(values | {"rounds": [asdict(r) for r in results]}, indent=1))


def measure(corpus: Corpus, work: Work, encoder: Encoder) -> Round:
    forward, forward_cpu = seconds_of(lambda: work.forward(encoder))
    with TemporaryDirectory() as place:
        folder = Path(place) / "index"
        index = IndexFolder.create(folder, IndexSettings.of(encoder, "measured"))
        builder = PartBuilder(Ledger(folder), encoder, lambda _: None, replacing=False)
        build, build_cpu = seconds_of(lambda: builder.run(corpus.read()))
        finish, _ = seconds_of(index.optimize)
        return Round(
            tokens=work.tokens,
            rows=index.rows,
            forward=work.tokens / forward,
            build=work.tokens / build,
            forward_cpu_seconds=forward_cpu,
            build_cpu_seconds=build_cpu,
            finish_seconds=finish,
        )


def seconds_of(work: Callable[[], None]) -> tuple[float, float]:
    """Of time, and of processor time in all threads."""
    began, cpu_began = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began, time.process_time() - cpu_began


def print_table(results: list[Round], work: Work) -> None:
    columns = ("forward, tokens/s", "build, tokens/s", "ratio", "of processor time", "merge, candidates s")
    table = Table("round", "tokens", "rows", *columns)
    for number, result in enumerate(results, start=1):
        speeds = (f"{result.forward:,.0f}", f"{result.build:,.0f}", f"{result.ratio:.3f}", f"{result.cpu_ratio:.3f}")
        table.add_row(str(number), f"{result.tokens:,}", f"{result.rows:,}", *speeds, f"{result.finish_seconds:.1f}")
    console = Console(width=120)
    console.print(table)
    ratio = median(result.ratio for result in results)
    verdict = "reached" if ratio >= BAR else "missed"
    console.print(f"Median ratio {ratio:.3f}: the bar of {BAR} is {verdict}. Padding {100 * work.padding:.1f}%.")


if __name__ == "__main__":
    typer.run(main)
