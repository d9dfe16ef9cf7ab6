"""What fewer bytes for vectors cost: exact match over all passages of a SQuAD file, by filter and by codes.

python benchmarks/storage.py FILE [--model MODEL] [--keep 1 --keep 0.45 ...] [--code int8 --code PQ48 ...]
    [--every 6] [--work FOLDER] [--json FILE] [--plot FILE]

Search is exhaustive, over decoded vectors. A code is one of an index's quantizers (fp16, int8, int4, pq, pq-small), the
folder of a model with another product quantizer (`tune quantizer --bytes N`), or a factory string of Faiss, such as
SQ4, PQ48, RaBitQ or PCA128,SQ4; `float32` is the model's own vectors. Bytes are those of codes alone; `densephrases
info INDEX --storage` shows the rest. With --work vectors are encoded once.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import faiss
import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from densephrases.arrays import Floats
from densephrases.data.squad import QuestionedPassage, questions_of, read_squad
from densephrases.evaluate.reading import EncodedDataset, ReadingScores, encode_dataset, read_collection
from densephrases.index.kinds import QUANTIZERS
from densephrases.index.settings import quantizer_of
from densephrases.index.vectors.store import VectorStore
from densephrases.model.config import ModelConfig
from densephrases.model.encoder import Encoder, PassageVectors, QuestionVectors
from densephrases.model.load import load
from densephrases.quantize.codebooks import CODEBOOKS_FILE, ProductQuantizer

PLAIN = "float32"
TRAINING_ROWS = 16_384

console = Console(width=110)

# Shape suffixes: R kept tokens, T tokens of a passage, D vector size.


@dataclass(frozen=True, slots=True)
class Point:
    code: str
    kept: float  # share of the tokens
    bytes_per_row: float
    bytes_per_token: float
    exact_match: float
    f1: float
    error: float  # of decoded vectors, as a share of the variance


def main(
    file: Annotated[Path, typer.Argument(help="SQuAD JSON.")],
    model: Annotated[str, typer.Option(help="A bundled model's name or an exported model's folder.")] = "small",
    keep: Annotated[list[float] | None, typer.Option(help="Share of tokens [default: all, the model's own].")] = None,
    code: Annotated[list[str] | None, typer.Option(help="How vectors are stored [default: the index's own].")] = None,
    every: Annotated[int, typer.Option(help="Ask every so many questions.")] = 1,
    work: Annotated[Path | None, typer.Option(help="Keep encoded vectors here.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures here as well.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw them here; needs matplotlib.")] = None,
) -> None:
    """Prints bytes and exact match for each share and code."""
    encoder = load(model)
    encoded = every_question(read_encoded(encoder, file, work), every)
    points = []
    for threshold in thresholds(encoded, encoder.config, keep):
        for name in [PLAIN, *(code or QUANTIZERS)]:
            points.append(measured(encoded, encoder, threshold, name))
            console.print(f"{name}, {100 * points[-1].kept:.0f}% kept: {points[-1].exact_match:.2f}")
    console.print(table(points))
    if json_file is not None:
        values = {"model": model, "file": file.name, "questions": len(encoded.questions)}
        json_file.write_text(json.dumps(values | {"points": [asdict(point) for point in points]}, indent=1))
    if plot is not None:
        draw(points, plot)


def read_encoded(encoder: Encoder, file: Path, work: Path | None) -> EncodedDataset:
    passages = read_squad(file)
    if work is None:
        return encode_dataset(encoder, passages)
    kept = work / f"{file.name}-{encoder.fingerprint}.npz"
    if not kept.is_file():
        work.mkdir(parents=True, exist_ok=True)
        save(encode_dataset(encoder, passages), kept)
    return restored(encoder, passages, kept)


def save(encoded: EncodedDataset, path: Path) -> None:
    questions = encoded.question_vectors
    names = ("vectors_TD", "filter_T2")
    columns = {name: np.concatenate([getattr(v, name) for v in encoded.passage_vectors]) for name in names}
    np.savez(path, start=questions.start_BD, end=questions.end_BD, allow_pickle=False, **columns)


def restored(encoder: Encoder, passages: list[QuestionedPassage], path: Path) -> EncodedDataset:
    """Vectors as they were saved, and where tokens stand by tokenising again."""
    arrays = dict(np.load(path))
    tokenized = encoder.tokens.passages([p.passage for p in passages])
    edges = np.cumsum([0, *(len(t.offsets) for t in tokenized)])
    vectors = [
        PassageVectors(arrays["vectors_TD"][a:b], arrays["filter_T2"][a:b], t.offsets, t.max_span)
        for t, a, b in zip(tokenized, edges[:-1], edges[1:], strict=True)
    ]
    questions = [(number, question) for number, question in questions_of(passages) if question.answers]
    return EncodedDataset(passages, vectors, questions, QuestionVectors(arrays["start"], arrays["end"]), 0)


def every_question(encoded: EncodedDataset, step: int) -> EncodedDataset:
    vectors = encoded.question_vectors
    fewer = QuestionVectors(vectors.start_BD[::step], vectors.end_BD[::step])
    return replace(encoded, questions=encoded.questions[::step], question_vectors=fewer)


def thresholds(encoded: EncodedDataset, config: ModelConfig, keep: Sequence[float] | None) -> list[float | None]:
    if keep is None:
        return [None, config.filter_threshold]
    best = np.concatenate([v.filter_T2.max(axis=1, initial=-np.inf) for v in encoded.passage_vectors])
    return [None if share >= 1 else float(np.quantile(best, 1 - share)) for share in keep]


def measured(encoded: EncodedDataset, encoder: Encoder, threshold: float | None, name: str) -> Point:
    kept = [vectors.kept(threshold) for vectors in encoded.passage_vectors]
    rows_RD = np.concatenate([v.vectors_TD[mask] for v, mask in zip(encoded.passage_vectors, kept, strict=True)])
    decoded_RD, size = coded(name, rows_RD, np.array([mask.sum() for mask in kept]), encoder.product_quantizer)
    error = float(np.square(decoded_RD - rows_RD).sum() / np.square(rows_RD - rows_RD.mean(axis=0)).sum())
    scores = ReadingScores.from_predictions(
        read_collection(with_rows(encoded, kept, decoded_RD), encoder.config, threshold)
    )
    share = len(rows_RD) / sum(map(len, kept))
    return Point(Path(name).name, share, size, size * share, scores.exact_match, scores.f1, error)


def coded(name: str, rows_RD: Floats, rows_P: NDArray[np.int64], pq: ProductQuantizer | None) -> tuple[Floats, float]:
    """What is left of vectors, and the bytes of one, with its share of its passage's."""
    dim = rows_RD.shape[1]
    if name == PLAIN:
        return rows_RD, 4 * dim
    if (Path(name) / CODEBOOKS_FILE).is_file():
        name, pq = "pq", ProductQuantizer.read(Path(name), dim)
    if name in QUANTIZERS:
        own: Any = name
        store = VectorStore.from_vectors(rows_RD, rows_P, own, quantizer_of(own, pq))
        size = store.records_N.values.nbytes + (
            0 if store.centroids is None else store.centroids.records_P.values.nbytes
        )
        return store.decode(slice(None)), size / len(store)
    index = faiss.index_factory(dim, name, faiss.METRIC_INNER_PRODUCT)
    some = np.random.default_rng(0).permutation(len(rows_RD))[:TRAINING_ROWS]
    index.train(np.ascontiguousarray(rows_RD[some]))
    return index.sa_decode(index.sa_encode(np.ascontiguousarray(rows_RD))), index.sa_code_size()


def with_rows(encoded: EncodedDataset, kept: Sequence[NDArray[np.bool_]], rows_RD: Floats) -> EncodedDataset:
    """The same file with other vectors of kept tokens."""
    changed, first = [], 0
    for vectors, mask in zip(encoded.passage_vectors, kept, strict=True):
        vectors_TD = np.zeros_like(vectors.vectors_TD)
        last = first + int(mask.sum())
        vectors_TD[mask] = rows_RD[first:last]
        changed.append(replace(vectors, vectors_TD=vectors_TD))
        first = last
    return replace(encoded, passage_vectors=changed)


def table(points: Sequence[Point]) -> Table:
    result = Table("code", "kept %", "bytes a row", "bytes a token", "EM", "F1", "error")
    for p in points:
        numbers = (f"{100 * p.kept:.0f}", f"{p.bytes_per_row:,.1f}", f"{p.bytes_per_token:.1f}")
        result.add_row(p.code, *numbers, f"{p.exact_match:.2f}", f"{p.f1:.2f}", f"{p.error:.4f}")
    return result


def places(points: Sequence[Point]) -> tuple[list[float], list[float]]:
    return [p.bytes_per_token for p in points], [p.exact_match for p in points]


def draw(points: Sequence[Point], path: Path) -> None:
    """Lines join what has more right answers than anything smaller."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), constrained_layout=True)
    for number, share in enumerate(sorted({p.kept for p in points}, reverse=True)):
        some = sorted((p for p in points if p.kept == share), key=lambda p: p.bytes_per_token)
        best = [p for n, p in enumerate(some) if all(p.exact_match > other.exact_match for other in some[:n])]
        axes.plot(*places(best), color=f"C{number}", label=f"{100 * share:.0f}% kept")
        axes.scatter(*places(some), color=f"C{number}")
        for p in some:
            axes.annotate(
                p.code,
                (p.bytes_per_token, p.exact_match),
                fontsize=7,
                xytext=(3, -9),
                textcoords="offset points",
            )
    axes.set(xscale="log", xlabel="bytes of vectors for each token of the text", ylabel="exact match %")
    axes.grid(color="0.9")
    axes.legend()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    typer.run(main)
