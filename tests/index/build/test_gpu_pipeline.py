"""Chunks through processes and threads: nothing is lost, doubled or out of order, and a stop leaves nothing behind."""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from subprocess import PIPE, Popen, run
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from densephrases.errors import PhraseIndexError
from densephrases.index.build import builder
from densephrases.index.build import tokenizer_pool as tokenizing
from densephrases.index.build.tokenizer_pool import TokenizerPool, results
from densephrases.index.folder import IndexFolder
from densephrases.index.kinds import Quantizer
from densephrases.index.manifest import SegmentEntry
from densephrases.index.segment.files import CENTROIDS_FILE, VECTORS_FILE
from densephrases.index.segment.token_offsets import TOKEN_OFFSET_ARRAYS
from densephrases.index.segment.token_rows import TokenRows
from densephrases.index.segment.writer import SegmentWriter
from densephrases.index.settings import IndexSettings
from densephrases.index.vectors.encoded import EncodedVectors
from densephrases.model.bulk_encoder import BulkEncoder, KeptVectors, PQCodes, QuantizeVectors
from densephrases.model.encoder import PassageVectors
from densephrases.model.packing import PackedPassages, Packing
from densephrases.quantize.codebooks import ProductQuantizer
from densephrases.quantize.product import ResidualPQCodec
from densephrases.text.documents import Document
from densephrases.text.passages import Passage
from tests.index.made_up import DIM, CodedEncoder, HashEncoder, collections, documents, long_text


class BulkHashEncoder(HashEncoder, BulkEncoder):
    """Vectors that depend on the token alone, made as late as possible."""

    def __init__(self, workers: int = 0, slow: float = 0.0) -> None:
        super().__init__()
        self.workers = workers
        self.slow = slow

    def start(self, passages: PackedPassages, packing: Packing, threshold: float | None) -> Any:
        return packing.ids_N[packing.positions_T], passages.tokens_P, threshold

    def finish(self, started: Any) -> KeptVectors:
        time.sleep(self.slow)
        ids_T, tokens_P, threshold = started
        vectors_TD, filter_T2 = made(ids_T)
        kept = []
        for first, count in zip(np.cumsum(tokens_P) - tokens_P, tokens_P, strict=True):
            none: Any = None
            own = slice(first, first + count)
            kept.append(PassageVectors(vectors_TD[own], filter_T2[own], none, none).kept(threshold))
        kept_R = np.flatnonzero(np.concatenate([np.zeros(0, dtype=bool), *kept]))
        return KeptVectors(kept_R, vectors_TD[kept_R].astype(np.float16))

    def quantizer(self, pq: ProductQuantizer) -> QuantizeVectors:
        self.codings = getattr(self, "codings", 0) + 1
        codec = ResidualPQCodec(pq)

        def codes(vectors_RD: Any, rows_P: Any) -> PQCodes:
            encoded = EncodedVectors.by_codec(vectors_RD, rows_P, codec)
            return PQCodes(np.concatenate(encoded.records_N)["codes"], encoded.centroids_P["codes"])

        return codes


class CodedBulkEncoder(BulkHashEncoder, CodedEncoder):
    """The same, with a code of its vectors."""


class PlainHashEncoder(HashEncoder):
    """The same vectors, one padded batch after the other."""

    def forward_passages(self, batch: Any) -> Any:
        return made(batch.ids)


class CodedPlainEncoder(PlainHashEncoder, CodedEncoder):
    """The same, with a code of its vectors."""


def made(ids: Any) -> tuple[Any, Any]:
    vectors = np.sin(ids[..., None] * np.linspace(0.1, 3.0, DIM)).astype(np.float16).astype(np.float32)
    return vectors, np.stack([np.cos(ids * 0.7), np.cos(ids * 1.3)], axis=-1).astype(np.float32)


def build(
    folder: Path, encoder: HashEncoder, given_documents: list[Document], quantizer: Quantizer = "fp16"
) -> IndexFolder:
    """As half floats: codes of 8 and 4 bits depend on what is in the first chunk."""
    index = IndexFolder.create(
        folder, IndexSettings.from_encoder(encoder, "hash", quantizer), encoder.product_quantizer
    )
    index.add(given_documents, encoder)
    return index


def contents(index: IndexFolder) -> list[Any]:
    found: list[Any] = []
    for segment in index.segments:
        arrays = ("passage_offsets", "vector_edges", *TOKEN_OFFSET_ARRAYS)
        found += [*(segment.array(name).tolist() for name in arrays), segment.blob(VECTORS_FILE).tolist()]
        found += [segment.document(number) for number in range(segment.documents)]
    return found


@settings(max_examples=40)
@given(collections())
def test_bulk_makes_the_same_index(tmp_path_factory: pytest.TempPathFactory, given_documents: list[Document]) -> None:
    folder = tmp_path_factory.mktemp("indexes")
    plain = build(folder / "plain", PlainHashEncoder(), given_documents)
    bulk = build(folder / "bulk", BulkHashEncoder(), given_documents)
    assert contents(bulk) == contents(plain)
    assert bulk.check() == []


def test_rows_are_coded_where_they_were_encoded(tmp_path: Path) -> None:
    given_documents = documents([f"d{n}" for n in range(12)], [long_text(n, 30 * n) for n in range(12)])
    encoder = CodedBulkEncoder()
    plain = build(tmp_path / "plain", CodedPlainEncoder(), given_documents, "pq")
    bulk = build(tmp_path / "bulk", encoder, given_documents, "pq")
    assert contents(bulk) == contents(plain)
    means = [[segment.blob(CENTROIDS_FILE).tolist() for segment in index.segments] for index in (bulk, plain)]
    assert means[0] == means[1]
    assert encoder.codings > 0
    assert bulk.check() == []


def test_processes_that_tokenise_keep_the_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One document is so long that it is parted."""
    monkeypatch.setattr(tokenizing, "TASK_CHARACTERS", 100)
    ids = [f"d{number}" for number in range(40)]
    given_documents = documents(ids, [long_text(n, 900 if n == 20 else 30 * (n % 7)) for n in range(40)])
    plain = build(tmp_path / "plain", PlainHashEncoder(), given_documents)
    bulk = build(tmp_path / "bulk", BulkHashEncoder(workers=2, slow=0.01), given_documents)
    assert contents(bulk) == contents(plain)
    assert multiprocessing.active_children() == []


class StopError(Exception):
    pass


@pytest.mark.parametrize("stop", [KeyboardInterrupt, StopError])
@pytest.mark.parametrize("after", [0, 1, 9, 25])
def test_a_stopped_build_goes_on_and_ends_alike(
    tmp_path: Path, stop: type[BaseException], after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builder, "BULK_PARTIAL_VECTORS", 50)
    given_documents = documents([f"d{n}" for n in range(30)], [long_text(n, 40) for n in range(30)])

    def stopping() -> Iterator[Document]:
        yield from given_documents[:after]
        raise stop

    encoder, before, interval = BulkHashEncoder(slow=0.002), threading.active_count(), sys.getswitchinterval()
    index = IndexFolder.create(tmp_path / "stopped", IndexSettings.from_encoder(encoder, "hash", "fp16"))
    with pytest.raises(stop):
        index.add(stopping(), encoder)
    assert threading.active_count() == before
    assert sys.getswitchinterval() == interval
    index = IndexFolder.create(tmp_path / "stopped", IndexSettings.from_encoder(encoder, "hash", "fp16"))
    assert index.documents <= after
    index.add(given_documents, encoder)
    assert contents(index) == contents(build(tmp_path / "whole", encoder, given_documents))


def test_an_error_of_the_device_ends_the_build(tmp_path: Path) -> None:
    class Failing(BulkHashEncoder):
        def finish(self, started: Any) -> KeptVectors:
            raise StopError

    before = threading.active_count()
    with pytest.raises(StopError):
        build(tmp_path / "index", Failing(), documents(["a", "b"], [long_text(0), long_text(1)]))
    assert threading.active_count() == before


ENDLESS = """
from itertools import count
from pathlib import Path
from densephrases.index.build import builder
from densephrases.index.folder import IndexFolder
from densephrases.index.settings import IndexSettings
from densephrases.text.documents import Document
from tests.index.made_up import long_text
from tests.index.build.test_gpu_pipeline import BulkHashEncoder

builder.BULK_PARTIAL_VECTORS = 1  # every chunk is committed
encoder = BulkHashEncoder(workers=2)
index = IndexFolder.create(Path({folder!r}), IndexSettings.from_encoder(encoder, "hash"))
documents = (Document(str(n), long_text(n, 40)) for n in count())
index.add(documents, encoder, lambda done: print(done.documents, flush=True))
"""


# Tests may run where SIGINT is ignored, which is inherited.
INTERRUPTIBLE = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"


def wait_for_group(number: int) -> None:
    """Until every process of it has ended: Python's own helper of such processes ends after them."""
    with suppress(ProcessLookupError):
        while True:
            os.killpg(number, 0)
            time.sleep(0.1)


@pytest.mark.skipif(os.name == "nt", reason="signals reach groups of processes otherwise there")
def test_ctrl_c_ends_all_processes_and_keeps_what_is_encoded(tmp_path: Path) -> None:
    """As at a terminal, where all processes are told; a script without a guard, which must not run twice."""
    script = ENDLESS.format(folder=str(tmp_path / "index"))
    root = Path(__file__).parents[3]
    (tmp_path / "script.py").write_text(f"{INTERRUPTIBLE}sys.path.insert(0, {str(root)!r})\n{script}", encoding="utf-8")
    with Popen(  # noqa: S603
        [sys.executable, tmp_path / "script.py"], stdout=PIPE, stderr=PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        for _ in range(3):
            process.stdout.readline()  # a chunk more is written
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate()
    assert errors.strip().endswith("KeyboardInterrupt")
    assert "Process-" not in errors, "only the process that was called says that it was interrupted"
    wait_for_group(process.pid)
    index = IndexFolder.open(tmp_path / "index")
    assert index.documents > 0
    assert index.manifest.building
    assert index.check() == []


def test_ctrl_c_in_the_middle_of_a_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is closed already is not committed a second time, which would hide the cause."""
    finish = SegmentWriter.finish

    def interrupted(writer: SegmentWriter, name: str, *, partial: bool) -> SegmentEntry:
        finish(writer, name, partial=partial)
        raise KeyboardInterrupt

    monkeypatch.setattr(SegmentWriter, "finish", interrupted)
    encoder = HashEncoder()
    index = IndexFolder.create(tmp_path / "index", IndexSettings.from_encoder(encoder, "hash"))
    with pytest.raises(KeyboardInterrupt):
        index.add([Document("1", "the tower was built")], encoder)
    assert IndexFolder.open(tmp_path / "index").documents == 0


MANY_PROCESSES = """
from densephrases.index.build.tokenizer_pool import TokenizerPool, results
from densephrases.text.passages import Passage
from tests.index.made_up import HashEncoder

print(__name__, flush=True)
if __name__ == "__main__":
    tokens = HashEncoder().tokens
    tokens.tokenizer.add_tokens([f"word{n}" for n in range(1000)])  # more than a pipe holds, as most tokenisers
    pool = TokenizerPool(tokens, 6)
    results(pool.tokenize([Passage("the tower")] * 128 * 24))
    pool.stop()
"""


def test_no_process_runs_the_script_again(tmp_path: Path) -> None:
    """Neither the first nor those that are started when the first are busy; their tokeniser is left nowhere."""
    root = Path(__file__).parents[3]
    script, temporary = tmp_path / "script.py", tmp_path / "temporary"
    script.write_text(f"import sys; sys.path.insert(0, {str(root)!r})\n{MANY_PROCESSES}", encoding="utf-8")
    temporary.mkdir()
    places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))
    done = run([sys.executable, script], stdout=PIPE, text=True, check=True, env=os.environ | places)  # noqa: S603
    assert done.stdout.split() == ["__main__"]
    assert list(temporary.iterdir()) == []


def test_a_process_that_ended_is_explained() -> None:
    pool = TokenizerPool(HashEncoder().tokens, 1)
    results(pool.tokenize([Passage("the tower")]))
    for child in multiprocessing.active_children():
        child.kill()
    with pytest.raises(PhraseIndexError, match=r"was killed.*run the same command again"):
        results(pool.tokenize([Passage("the tower")]))
    pool.stop()


@given(st.data())
def test_rows_reach_as_far_as_their_tokens_do(data: st.DataObject) -> None:
    """Against one row at a time, looked at by hand."""
    passages = data.draw(st.lists(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=8), max_size=5))
    tokens = [
        (p, t, min(t + max_span, len(one) - 1), kept)
        for p, one in enumerate(passages)
        for t, (max_span, kept) in enumerate(one)
    ]
    count = len(tokens)
    none: Any = np.zeros(0, dtype=np.int64)
    packed = PackedPassages(
        none,
        none,
        none,
        none,
        np.arange(count, dtype=np.uint16),
        np.ones(count, dtype=np.uint16),
        np.array([last - t for _, t, last, _ in tokens], dtype=np.uint8),
        np.array([len(one) for one in passages], dtype=np.int64),
    )
    kept_R = np.array([n for n, token in enumerate(tokens) if token[3]], dtype=np.int64)
    rows = TokenRows.from_packed(packed, KeptVectors(kept_R, np.zeros((len(kept_R), 2), dtype=np.float32)))
    assert rows.rows_P.tolist() == [sum(kept for _, kept in one) for one in passages]
    expected = [
        sum(q == p and t < u <= last and other for q, u, _, other in tokens) for p, t, last, kept in tokens if kept
    ]
    assert rows.max_span_R.tolist() == expected
