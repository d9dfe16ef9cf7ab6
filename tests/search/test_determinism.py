"""The same question vectors give the same answers to the last digit: alone, in batches, with any number of threads."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pytest

from densephrases import Document, PhraseIndex
from densephrases.arrays import Floats
from densephrases.index.candidates import exact as exact_module
from densephrases.index.candidates import ivf as ivf_module
from densephrases.index.kinds import QUANTIZERS, CandidateKind, Quantizer
from densephrases.index.vectors import store as store_module
from densephrases.model.padding import TokenBatch
from densephrases.quantize.codebooks import ProductQuantizer
from densephrases.search.answers import AnswerList
from tests.conftest import WORDS
from tests.index.candidates.oracle import clustered
from tests.index.made_up import HashEncoder, code_for, long_text, store_of

DIM = 96
QUESTIONS = [" ".join(np.random.default_rng(number).choice(WORDS.split(), 5)) + "?" for number in range(64)]
IVF: list[tuple[Quantizer, CandidateKind]] = [("int8", "ivf-pq"), ("fp16", "ivf-sq4"), ("pq", "ivf-pq")]
KINDS: list[tuple[Quantizer, CandidateKind]] = [*((each, "exact") for each in QUANTIZERS), *IVF, ("pq", "passages")]


class WideEncoder(HashEncoder):
    """Vectors of 96 numbers: sums of many differ in their last digits if added in another order."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(backbone={"hidden_size": DIM}, **settings)

    @property
    def product_quantizer(self) -> ProductQuantizer:
        return code_for(DIM)

    def forward_passages(self, batch: TokenBatch) -> tuple[Floats, Floats]:
        vectors, logits = super().forward_passages(batch)
        return np.sin(np.tile(vectors, 8) * np.linspace(1, 9, DIM)).astype(np.float32), logits + 1

    def forward_questions(self, batch: TokenBatch) -> tuple[Floats, Floats, Floats | None]:
        key_B = (batch.ids * batch.mask).sum(axis=1)
        start, end = (np.sin(key_B[:, None] * np.linspace(low, 7.0, DIM)).astype(np.float32) for low in (0.1, 0.3))
        return start, end, None


def documents(count: int) -> list[Document]:
    """Every fourth repeats an earlier one, so that scores are equal."""
    texts = [long_text(number if number % 4 else number // 2, 120) for number in range(count)]
    return [Document(f"d{number}", text, f"title {number}") for number, text in enumerate(texts)]


@pytest.fixture
def all_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Little work is shared by threads as much is."""
    monkeypatch.setattr(store_module, "_SHARED_ROWS", 0)
    monkeypatch.setattr(ivf_module, "_FEW_CODES", 0)
    before = faiss.omp_get_max_threads()
    yield
    faiss.omp_set_num_threads(before)


@pytest.mark.parametrize(("quantizer", "kind"), KINDS)
@pytest.mark.usefixtures("all_threads")
def test_answers_do_not_depend_on_company_or_threads(quantizer: Quantizer, kind: CandidateKind, tmp_path: Path) -> None:
    encoder = WideEncoder(lexical_weight=0.1)
    index = PhraseIndex.create(tmp_path, documents(24), model=encoder, quantizer=quantizer, candidates=kind)
    assert [segment.entry.candidates for segment in index.folder.segments] == [kind]
    expected = [index.search(question, 10) for question in QUESTIONS]
    assert len({answer.score for answers in expected for answer in answers}) > 300
    for threads in (1, 2):
        faiss.omp_set_num_threads(threads)
        assert index.search(QUESTIONS, 10) == expected
        halves = [answers for first in (0, 1) for answers in index.search(QUESTIONS[first::2], 10)]
        assert halves == expected[::2] + expected[1::2]
    options: list[dict[str, Any]] = [
        {"unit": "document", "k": 30},
        {"exact": True},
        {"documents": ["d1", "d2"]},
        {"overlapping": True, "k": 10},
        {"unit": "auto"},
    ]
    for asked in options:
        assert index.search(QUESTIONS[:8], **asked) == [index.search(each, **asked) for each in QUESTIONS[:8]]


@pytest.mark.parametrize("quantizer", QUANTIZERS)
def test_scores_depend_on_query_and_row_alone(quantizer: Quantizer) -> None:
    store = store_of(clustered(300, DIM), quantizer)
    queries = clustered(9, DIM, seed=1)
    rows = np.random.default_rng(0).integers(300, size=(9, 50))
    together = store.own_scores(queries, rows.ravel(), 50 * np.arange(10)).reshape(9, 50)
    for query in range(9):
        for some in (slice(0, 1), slice(3, 20), slice(0, 50)):
            count = len(rows[query, some])
            alone = store.own_scores(queries[query : query + 1], rows[query, some], np.array([0, count]))
            assert alone.tolist() == together[query, some].tolist()


@pytest.mark.parametrize("quantizer", QUANTIZERS)
def test_exact_candidates_are_the_best_by_scores_computed_alone(
    quantizer: Quantizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many rows are equal: of these the first ones are chosen, however the scan is cut into blocks."""
    store = store_of(np.repeat(clustered(70, DIM), 7, axis=0)[np.random.default_rng(0).permutation(490)], quantizer)
    queries, rows = clustered(5, DIM, seed=1), np.arange(490)
    for block in (16, 97, 16_384):
        monkeypatch.setattr(exact_module, "_SCAN_ROWS", block)
        scores, found = exact_module.ExactCandidates(store).search(queries, 25)
        for query in range(5):
            own = store.own_scores(queries[query : query + 1], rows, np.array([0, 490]))
            assert found[query].tolist() == np.lexsort((rows, -own))[:25].tolist()
            assert scores[query].tolist() == own[found[query]].tolist()


def answers_of(index: PhraseIndex) -> list[AnswerList]:
    return index.search(QUESTIONS[:24], 20)


@pytest.mark.parametrize("quantizer", QUANTIZERS)
def test_answers_stay_the_same_after_optimize(quantizer: Quantizer, tmp_path: Path) -> None:
    """Candidates are exact; penalties of words do not count deleted documents."""
    encoder = WideEncoder(lexical_weight=0.3)
    index = PhraseIndex.create(tmp_path, documents(20), model=encoder, quantizer=quantizer)
    for number in range(20, 24):
        index.add([Document(f"d{number}", long_text(number, 40))])
    index.delete(["d3", "d5", "d19", "d22"])
    assert index.info().segments > 1
    before = answers_of(index)
    reopened = answers_of(PhraseIndex.open(tmp_path, encoder))
    index.optimize()
    assert index.info().segments == 1
    assert answers_of(index) == before == reopened == answers_of(PhraseIndex.open(tmp_path, encoder))


def test_answers_do_not_depend_on_the_process(tmp_path: Path) -> None:
    """Neither on its threads, nor on the order in which it walks through sets."""
    for quantizer in ("int8", "pq"):
        PhraseIndex.create(tmp_path / quantizer, documents(16), model=WideEncoder(), quantizer=quantizer)
    found = []
    for threads in ("1", "2"):
        environment = os.environ | {
            "OMP_NUM_THREADS": threads,
            "OPENBLAS_NUM_THREADS": threads,
            "PYTHONHASHSEED": threads,
        }
        command = [sys.executable, "-c", _IN_A_PROCESS, str(tmp_path)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300)  # noqa: S603
        found.append(json.loads(done.stdout))
    assert found[0] == found[1]
    assert len(found[0]) == 2 * 24


_IN_A_PROCESS = """
import json, sys
from pathlib import Path
from densephrases import PhraseIndex
from tests.search.test_determinism import WideEncoder, answers_of
folders = [Path(sys.argv[1]) / name for name in ("int8", "pq")]
found = [answers for folder in folders for answers in answers_of(PhraseIndex.open(folder, WideEncoder()))]
print(json.dumps([[answer.to_dict() for answer in answers] for answers in found]))
"""
