"""How fast a GPU indexes: its arithmetic in the encoder, the tokenisers beside it, and the whole build.

python benchmarks/indexing_gpu.py --model FOLDER --corpus FILE [--tokens 5000000] [--batch-tokens 131072,262144]
    [--json FILE]
python benchmarks/indexing_gpu.py --base FOLDER ...    # an untrained model, for speed alone

The corpus is read again and again until there are enough tokens. 'encoder' computes windows that were tokenised
beforehand, longest first, and keeps its results on the device; what counts are the operations of its matrix products
against the time it takes as a whole. 'build' is everything from reading the corpus to committed parts. Without a GPU
everything runs on the CPU in float32, to see that it runs. A run that is cut off leaves the figures up to there in the
JSON file, and has said what it was about to do.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import numpy as np
import torch
import typer
from indexing_report import Report, Speed, announce

from densephrases.index.build.builder import SegmentBuilder
from densephrases.index.build.chunks import CHARACTERS_PER_TOKEN
from densephrases.index.build.tokenizer_pool import TokenizerPool, results
from densephrases.index.commits import Commits
from densephrases.index.folder import IndexFolder
from densephrases.index.settings import IndexSettings
from densephrases.model.config import ModelConfig
from densephrases.model.folders import resolve
from densephrases.model.packing import PackedPassages, Packing
from densephrases.nn.backbone import read_config, read_tokenizer
from densephrases.nn.gpu.encoder import GpuEncoder, IndexingModel, PassageStates, read_indexing_model
from densephrases.nn.gpu.packed_backbone import operations
from densephrases.nn.passage_tower import PassageTower
from densephrases.nn.phrase_model import PhraseModel
from densephrases.sample import articles_path
from densephrases.text.documents import Document
from densephrases.text.passages import Passage
from densephrases.text.readers.read import read_documents
from densephrases.train.loop.meter import measured_peak

COMPARED = 64  # passages by which the fast forward pass is compared with transformers'


@dataclass(frozen=True, slots=True)
class Corpus:
    paths: tuple[Path, ...]
    characters: int

    def read(self) -> Iterator[Document]:
        """Documents again and again, under other ids, until there is enough text."""
        left = self.characters
        for turn in count():
            for document in read_documents(self.paths):
                yield replace(document, id=f"{document.id} {turn}")
                left -= len(document.text)
                if left <= 0:
                    return


@dataclass(frozen=True)
class Work:
    """Tokenised passages, a chunk at a time."""

    chunks: list[PackedPassages]
    seconds: float  # that tokenising took

    @cached_property
    def tokens(self) -> int:
        return sum(chunk.tokens for chunk in self.chunks)

    @cached_property
    def columns(self) -> int:
        return sum(len(chunk.ids_C) for chunk in self.chunks)


def main(
    model: Annotated[str, typer.Option(help="A bundled model's name, an exported model or a checkpoint.")] = "small",
    base: Annotated[Path | None, typer.Option(help="A Hugging Face encoder instead, untrained.")] = None,
    corpus: Annotated[list[Path] | None, typer.Option(help="What to index; else the bundled sample.")] = None,
    tokens: Annotated[int, typer.Option(help="About how many to encode.")] = 5_000_000,
    batch_tokens: Annotated[str, typer.Option(help="Sizes of batches to compare; the last is built with.")] = "262144",
    attention: Annotated[str, typer.Option(help="auto or grouped: how windows attend; both with a comma.")] = "auto",
    chunk_tokens: Annotated[int | None, typer.Option(help="Tokens that are sorted by length at once.")] = None,
    keep: Annotated[float | None, typer.Option(help="Share of tokens kept, instead of the model's threshold.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes that tokenise.")] = None,
    build: Annotated[bool, typer.Option(help="Build a whole index as well.")] = True,
    finish: Annotated[bool, typer.Option(help="Merge its parts and build candidates, too.")] = True,
    profile: Annotated[bool, typer.Option(help="Show which kernels the encoder's time goes to.")] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures here as well.")] = None,
) -> None:
    """Prints the peak, the encoder's share of it, and tokens a second of tokenisers, encoder and build."""
    report = Report(json_file)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    announce(f"Measuring the peak of {device_name(device)}")
    peak = measured_peak(device) if device.type == "cuda" else None
    report.add(device=device_name(device), peak=peak, cores=os.cpu_count(), torch=torch.__version__)
    announce("Reading the model")
    indexing_model = of_base(base) if base is not None else read_indexing_model(resolve(model))
    encoder = GpuEncoder(indexing_model, device)
    encoder.workers = encoder.workers if workers is None else workers
    encoder.tokens_per_chunk = encoder.tokens_per_chunk if chunk_tokens is None else chunk_tokens
    source = Corpus(tuple(corpus or [articles_path()]), CHARACTERS_PER_TOKEN * tokens)
    announce("Comparing with transformers")
    report.add(workers=encoder.workers, cosines=compared(encoder, indexing_model, source))
    work = tokenized(encoder, source)
    report.add(Speed(f"tokenisers, {encoder.workers} processes", work.seconds, work.tokens, work.columns))
    for mode in attention.split(","):
        states = PassageStates(indexing_model.tower, device, encoder.dtype, mode)
        for size in map(int, batch_tokens.split(",")):
            report.add(encoded(f"encoder, {mode}, {size:,} a batch", states, indexing_model, work, size, peak))
            encoder.tokens_per_batch = size
    if profile:
        announce("Profiling the encoder")
        print_kernels(encoder, work.chunks[0])
    if build:
        announce("Choosing the threshold")
        threshold = chosen_threshold(encoder, work.chunks[0], keep)
        measure_build(report, encoder, source, threshold, columns=work.columns, finish=finish)
    report.print_table()


def of_base(base: Path) -> IndexingModel:
    """With random weights if the folder has none, which takes as long to compute."""
    if any(base.glob("*.safetensors")):
        model = PhraseModel.from_base(base, share=True)
    else:
        config = ModelConfig(base=base.name, backbone=read_config(base).to_dict(), share=True)
        model = PhraseModel(config, read_tokenizer(base))
    return IndexingModel(PassageTower.from_model(model), model.encoder())


def device_name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"


def compared(encoder: GpuEncoder, model: IndexingModel, source: Corpus) -> dict[str, float]:
    """Of vectors by the fast forward pass with those that transformers computes in float32: the lowest and the mean."""
    passages = [Passage(document.text[:1500], document.title) for document in islice(source.read(), COMPARED)]
    found = [passage.vectors_TD for passage in encoder.encode_passages(passages)]
    tower = model.tower.to(encoder.device).eval()
    cosines = []
    for tokens, vectors_TD in zip(encoder.tokens.passages(passages), found, strict=True):
        if len(tokens.windows) != 1:
            continue
        window = tokens.windows[0]
        ids, types = (torch.from_numpy(row)[None].to(encoder.device) for row in (window.ids, window.types))
        with torch.inference_mode():
            expected = tower.passage_states(ids, types, torch.ones_like(ids))[0][0].float().cpu().numpy()
        expected = expected[window.own_columns]
        lengths = np.linalg.norm(vectors_TD, axis=1) * np.linalg.norm(expected, axis=1)
        cosines.append((vectors_TD * expected).sum(axis=1) / lengths)
    values = np.concatenate(cosines)
    return {"lowest": float(values.min()), "mean": float(values.mean())}


def chunked(source: Corpus, characters_per_chunk: int) -> list[list[Document]]:
    chunks: list[list[Document]] = [[]]
    characters = 0
    for document in source.read():
        if characters >= characters_per_chunk:
            chunks.append([])
            characters = 0
        chunks[-1].append(document)
        characters += len(document.text)
    return chunks


def tokenized(encoder: GpuEncoder, source: Corpus) -> Work:
    announce("Reading the corpus")
    chunks = chunked(source, CHARACTERS_PER_TOKEN * encoder.tokens_per_chunk)
    announce(f"Starting {encoder.workers} processes that tokenise")
    pool = TokenizerPool(encoder.tokens, encoder.workers)
    results([future for _ in range(4 * max(encoder.workers, 1)) for future in pool.cut(chunks[0][:1])])
    announce(f"Tokenising {len(chunks)} chunks")
    began = time.perf_counter()
    cut = [results(futures) for futures in [pool.cut(chunk) for chunk in chunks]]
    packed = [PackedPassages.join([part.tokenized.packed for part in parts]) for parts in cut]
    seconds = time.perf_counter() - began
    pool.stop()
    return Work(packed, seconds)


def encoded(
    name: str, states: PassageStates, model: IndexingModel, work: Work, batch_tokens: int, peak: float | None
) -> Speed:
    announce(f"Packing for {name}")
    packings = [Packing.from_passages(chunk, batch_tokens) for chunk in work.chunks]

    def go(some: Sequence[Packing]) -> None:
        with torch.inference_mode():
            for packing in some:
                states(packing)

    announce("Warming up")
    timed(lambda: go(packings[:1]))
    announce("Encoding")
    seconds = timed(lambda: go(packings))
    groups = [batch.groups for packing in packings for batch in packing.batches]
    total = sum(operations(model.tower.passage, 0, some) for some in groups) + operations(
        model.tower.passage, work.columns, ()
    )
    share = None if peak is None else total / seconds / peak
    return Speed(name, seconds, work.tokens, work.columns, total, share)


def print_kernels(encoder: GpuEncoder, chunk: PackedPassages) -> None:
    """Of one batch of the middle of a chunk, which has the most common lengths."""
    packing = Packing.from_passages(chunk, encoder.tokens_per_batch)
    middle = packing.batches[len(packing.batches) // 2 :][:1]
    kinds = [torch.profiler.ProfilerActivity.CPU]
    kinds += [torch.profiler.ProfilerActivity.CUDA] if encoder.device.type == "cuda" else []
    with torch.profiler.profile(activities=kinds) as seen, torch.inference_mode():
        encoder.passages(replace(packing, batches=middle))
        synchronize()
    order = "self_cuda_time_total" if encoder.device.type == "cuda" else "self_cpu_time_total"
    print(f"{len(middle[0].groups)} groups of equal length")
    print(seen.key_averages().table(sort_by=order, row_limit=14, max_name_column_width=70))


def timed(work: Callable[[], None]) -> float:
    synchronize()
    began = time.perf_counter()
    work()
    synchronize()
    return time.perf_counter() - began


def synchronize() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def chosen_threshold(encoder: GpuEncoder, chunk: PackedPassages, keep: float | None) -> float | None:
    if keep is None:
        return encoder.config.filter_threshold
    packing = Packing.from_passages(chunk, encoder.tokens_per_batch)
    with torch.inference_mode():
        best_T = encoder.passages(packing)[1].amax(dim=1).cpu().numpy()[packing.positions_T]
    return float(np.quantile(best_T, 1 - keep))


def measure_build(
    report: Report, encoder: GpuEncoder, source: Corpus, threshold: float | None, *, columns: int, finish: bool
) -> None:
    """Up to the last committed part; then how long merging and candidates take."""
    with TemporaryDirectory() as place:
        folder = Path(place) / "index"
        settings = IndexSettings.from_encoder(encoder, "measured").with_threshold(threshold)
        index = IndexFolder.create(folder, settings, encoder.product_quantizer)
        builder = SegmentBuilder(Commits(folder, encoder.product_quantizer), encoder, lambda _: None, replacing=False)
        announce("Building an index")
        seconds = timed(lambda: builder.run(source.read()))
        done = builder.finished()
        report.add(Speed("build", seconds, done.tokens, columns), vectors=done.vectors)
        if finish:
            announce("Merging and building candidates")
            report.add(finish_seconds=timed(index.optimize))


if __name__ == "__main__":
    typer.run(main)
