"""How much of the encoder's own speed an index build keeps, and how long merging and candidates take after it.

python benchmarks/indexing.py [--model small] [--corpus FILE] [--documents 53] [--turns 12] [--json FILE]

Both run over the same passages in the same length-sorted batches: 'forward' is the encoder alone on batches made
beforehand, 'build' is everything from reading the corpus to a committed part. They take turns, some documents at a
time, now one first and now the other, because a machine has good and bad moments. On a busy machine the ratio of
processor time tells more: there a build, with a thread more than the encoder, is given more of the machine. Tokens are
those of the passages, without titles, special tokens, overlaps and padding.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, NamedTuple, Self

import typer
from rich.console import Console
from rich.table import Table

from densephrases.index.build.builder import SegmentBuilder
from densephrases.index.build.chunks import CHARACTERS_PER_TOKEN, chunks
from densephrases.index.commits import Commits
from densephrases.index.folder import IndexFolder
from densephrases.index.segment.document_keys import PreparedDocument
from densephrases.index.settings import IndexSettings
from densephrases.model.encoder import Encoder
from densephrases.model.load import load
from densephrases.model.padding import TokenBatch, batches_by_length, token_batch
from densephrases.sample import articles_path
from densephrases.text.documents import Document
from densephrases.text.readers.read import read_documents

BAR = 0.85


@dataclass(frozen=True, slots=True)
class Corpus:
    path: Path
    documents: int | None

    def read(self) -> Iterator[Document]:
        return islice(read_documents([self.path]), self.documents)


@dataclass(frozen=True, slots=True)
class Work:
    """The batches of some documents, made beforehand, and how many tokens of passages they hold."""

    batches: list[TokenBatch]
    documents: int
    tokens: int

    @classmethod
    def of(cls, documents: Sequence[Document], encoder: Encoder) -> Self:
        batches: list[TokenBatch] = []
        tokens = 0
        prepared = map(PreparedDocument.from_document, documents)
        for chunk in chunks(prepared, CHARACTERS_PER_TOKEN * encoder.tokens_per_chunk):
            tokenized = encoder.tokens.passages([p for piece in chunk.pieces for p in piece.passages()])
            tokens += sum(len(passage.offsets) for passage in tokenized)
            windows = [window for passage in tokenized for window in passage.windows]
            for rows in batches_by_length([len(window.ids) for window in windows], encoder.tokens_per_batch):
                ids, types = [windows[i].ids for i in rows], [windows[i].types for i in rows]
                batches.append(token_batch(ids, types, encoder.tokens.pad_id))
        return cls(batches, len(documents), tokens)

    def forward(self, encoder: Encoder) -> None:
        for batch in self.batches:
            encoder.forward_passages(batch)


class Seconds(NamedTuple):
    """Of time, and of processor time in all threads."""

    time: float
    processor: float

    @classmethod
    def of(cls, work: Callable[[], None]) -> Self:
        began, processor_began = time.perf_counter(), time.process_time()
        work()
        return cls(time.perf_counter() - began, time.process_time() - processor_began)

    @classmethod
    def sum(cls, several: Iterable["Seconds"]) -> Self:
        return cls(*(sum(column) for column in zip(*several, strict=True)))


@dataclass(frozen=True, slots=True)
class Turn:
    """What both took for the same tokens."""

    tokens: int
    forward: Seconds
    build: Seconds

    @property
    def ratio(self) -> float:
        """Of the speeds: how much of the encoder's the build keeps."""
        return self.forward.time / self.build.time

    @property
    def processor_ratio(self) -> float:
        return self.forward.processor / self.build.processor


def main(
    model: Annotated[str, typer.Option(help="A bundled model's name or an exported model's folder.")] = "small",
    corpus: Annotated[Path | None, typer.Option(help="Anything that can be indexed; else the bundled sample.")] = None,
    documents: Annotated[int | None, typer.Option(help="Only the first so many.")] = None,
    turns: Annotated[int, typer.Option(help="How many times each is measured, on other documents every time.")] = 12,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures here as well.")] = None,
) -> None:
    """Prints tokens a second of the encoder and of whole builds, and their ratio."""
    encoder = load(model)
    source = Corpus(corpus or articles_path(), documents)
    works = [Work.of(part, encoder) for part in parted(list(source.read()), turns)]
    with TemporaryDirectory() as place:
        folder = Path(place) / "index"
        index = IndexFolder.create(folder, IndexSettings.from_encoder(encoder, "measured"), encoder.product_quantizer)
        results = take_turns(source, works, encoder, Commits(folder, encoder.product_quantizer))
        finish = Seconds.of(index.optimize).time
        vectors = index.vectors
    forward, build = (Seconds.sum(both) for both in zip(*((r.forward, r.build) for r in results), strict=True))
    total = Turn(sum(r.tokens for r in results), forward, build)
    share = padding([batch for work in works for batch in work.batches])
    print_table(results, total, vectors, finish, share)
    if json_file is not None:
        ratios = {"ratio": total.ratio, "bar": BAR, "processor_ratio": total.processor_ratio}
        values = {"model": model, "vectors": vectors, "padding": share, "finish_seconds": finish} | ratios
        measured = {"total": asdict(total), "turns": [asdict(r) for r in results]}
        json_file.write_text(json.dumps(values | measured, indent=1))


def parted(documents: Sequence[Document], parts: int) -> list[Sequence[Document]]:
    size = -(-len(documents) // parts)
    return [documents[first : first + size] for first in range(0, len(documents), size)]


def take_turns(corpus: Corpus, works: Sequence[Work], encoder: Encoder, commits: Commits) -> list[Turn]:
    works[0].forward(encoder)  # opens the model and warms up
    stream = corpus.read()
    results = []
    for number, work in enumerate(works):
        builder = SegmentBuilder(commits, encoder, lambda _: None, replacing=False)
        both = [partial(work.forward, encoder), partial(builder.run, islice(stream, work.documents))]
        if number % 2 == 0:
            forward, build = (Seconds.of(each) for each in both)
        else:
            build, forward = (Seconds.of(each) for each in reversed(both))
        results.append(Turn(work.tokens, forward, build))
    return results


def padding(batches: Sequence[TokenBatch]) -> float:
    """The share of padding in what the encoder computes."""
    real = sum(int(batch.mask.sum()) for batch in batches)
    return 1 - real / sum(int(batch.mask.size) for batch in batches)


def print_table(results: Sequence[Turn], total: Turn, vectors: int, finish: float, padding: float) -> None:
    table = Table("turn", "tokens", "forward, tokens/s", "build, tokens/s", "ratio", "of processor time")
    for name, turn in [*((str(n), turn) for n, turn in enumerate(results, start=1)), ("all", total)]:
        speeds = (f"{turn.tokens / seconds.time:,.0f}" for seconds in (turn.forward, turn.build))
        table.add_row(name, f"{turn.tokens:,}", *speeds, f"{turn.ratio:.3f}", f"{turn.processor_ratio:.3f}")
    console = Console(width=120)
    console.print(table)
    verdict = "reached" if total.ratio >= BAR else "missed"
    console.print(f"Ratio {total.ratio:.3f}: the bar of {BAR} is {verdict}. Padding {100 * padding:.1f}%.")
    console.print(f"Merging {len(results)} segments and building candidates for {vectors:,} vectors: {finish:.1f} s.")


if __name__ == "__main__":
    typer.run(main)
