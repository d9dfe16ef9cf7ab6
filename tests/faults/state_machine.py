"""Several handles on one index, in threads and in processes, against dictionaries and exhaustive search.

Every handle must show exactly the documents of the moment when it was opened or refreshed, or wrote last.
"""

from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from densephrases.arrays import Floats
from densephrases.errors import DataError
from densephrases.model.encoder import PassageVectors
from densephrases.model.padding import TokenBatch
from densephrases.search.phrase_index import PhraseIndex
from densephrases.text.documents import Document
from densephrases.text.passages import Passage, split_passages
from tests.conftest import WORDS
from tests.faults.outcome import Outcome
from tests.index.made_up import HashEncoder

PROMISE = "Every handle shows one committed state, with the best answers of exhaustive search"
_STEPS = 20
_HANDLES = 4
_TOLERANCE = 2e-3  # of scores: vectors are stored in 16 bits

IDS = st.sampled_from(["a", "b", "c", "d", "é", ""])
TEXTS = st.lists(st.sampled_from(WORDS.split()), max_size=60).map(" ".join)
DOCUMENTS = st.lists(
    st.builds(Document, IDS, TEXTS, st.sampled_from(["", "the city"]), st.fixed_dictionaries({"n": st.integers(0, 2)})),
    max_size=3,
    unique_by=lambda document: document.id,
)
QUESTIONS = st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=4).map(" ".join)

Documents = Mapping[str, Document]


class PlainEncoder(HashEncoder):
    """A token's vector depends on its passage alone."""

    def __init__(self) -> None:
        super().__init__(lexical_weight=0.0)

    def forward_passages(self, batch: TokenBatch) -> tuple[Floats, Floats]:
        key = batch.ids * 31 + np.pad(batch.ids, ((0, 0), (1, 0)))[:, :-1] * 17
        vectors = np.sin(key[..., None] * np.linspace(0.1, 3.0, self.config.vector_size)).astype(np.float32)
        return vectors, np.stack([np.cos(key * 0.7), np.cos(key * 1.3)], axis=2).astype(np.float32)


def best_score(documents: Documents, question: str, encoder: PlainEncoder) -> float | None:
    """Of all phrases of all documents; None if there is none."""
    asked = encoder.encode_questions([question])
    scores = [
        float(score)
        for document in documents.values()
        for passage in _encoded(document, encoder)
        for score in _phrase_scores(passage, asked.start_BD[0], asked.end_BD[0], encoder.config.filter_threshold)
    ]
    return max(scores, default=None)


def _encoded(document: Document, encoder: PlainEncoder) -> list[PassageVectors]:
    spans = split_passages(document.text)
    return encoder.encode_passages([Passage(document.text[s.start : s.end], document.title) for s in spans])


def _phrase_scores(
    passage: PassageVectors, start_D: Floats, end_D: Floats, threshold: float | None
) -> list[np.float32]:
    kept = np.flatnonzero(passage.kept(threshold))
    start_T, end_T = passage.vectors_TD @ start_D, passage.vectors_TD @ end_D
    return [start_T[i] + end_T[j] for i in kept for j in kept if i <= j <= passage.max_span_T[i]]


@dataclass
class Handle:
    index: PhraseIndex
    shows: Documents


def _is_refused(index: PhraseIndex, ids: list[str]) -> bool:
    try:
        index.delete(ids)
    except DataError:
        return True
    return False


def write_elsewhere(folder: str, operation: str, argument: Any) -> None:
    """What another process does."""
    index = PhraseIndex.open(folder, PlainEncoder())
    getattr(index, operation)(*argument)


class Handles(RuleBasedStateMachine):
    """Any number of them may write; only one does at a time."""

    folder: Path
    steps = 0
    elsewhere: ProcessPoolExecutor

    def __init__(self) -> None:
        super().__init__()
        self.encoder = PlainEncoder()
        self.place = Path(mkdtemp(dir=self.folder)) / "index"
        self.committed: dict[str, Document] = {}
        self.handles: list[Handle] = []

    @initialize(documents=DOCUMENTS)
    def create(self, documents: list[Document]) -> None:
        index = PhraseIndex.create(self.place, documents, model=self.encoder, quantizer="fp16")
        self.committed = {document.id: document for document in documents}
        self.handles = [Handle(index, dict(self.committed))]

    def _handle(self, number: int) -> Handle:
        type(self).steps += 1
        return self.handles[number % len(self.handles)]

    def _wrote(self, handle: Handle) -> None:
        handle.shows = dict(self.committed)

    @rule(number=st.integers(0, 3), documents=DOCUMENTS)
    def update(self, number: int, documents: list[Document]) -> None:
        handle = self._handle(number)
        handle.index.update(documents)
        self.committed |= {document.id: document for document in documents}
        self._wrote(handle)

    @rule(number=st.integers(0, 3), documents=DOCUMENTS)
    def add(self, number: int, documents: list[Document]) -> None:
        handle = self._handle(number)
        new = [each for each in documents if self.committed.get(each.id, each) == each]
        handle.index.add(new)
        self.committed |= {document.id: document for document in new}
        self._wrote(handle)

    @rule(number=st.integers(0, 3), ids=st.lists(IDS, max_size=2))
    def delete(self, number: int, ids: list[str]) -> None:
        handle = self._handle(number)
        if set(ids) <= self.committed.keys():
            handle.index.delete(ids)
            self.committed = {name: each for name, each in self.committed.items() if name not in ids}
        else:
            assert _is_refused(handle.index, ids)
        self._wrote(handle)

    @rule(number=st.integers(0, 3))
    def optimize(self, number: int) -> None:
        handle = self._handle(number)
        handle.index.optimize()
        self._wrote(handle)

    @rule(number=st.integers(0, 3))
    def refresh(self, number: int) -> None:
        handle = self._handle(number)
        handle.index.refresh()
        self._wrote(handle)

    @rule(number=st.integers(0, 3))
    def reopen(self, number: int) -> None:
        self._opened(self._handle(number).index.reopened())

    @rule()
    def open(self) -> None:
        self._opened(PhraseIndex.open(self.place, self.encoder))

    def _opened(self, index: PhraseIndex) -> None:
        self.handles = [*self.handles[-_HANDLES + 1 :], Handle(index, dict(self.committed))]

    @rule(documents=DOCUMENTS, merge=st.booleans())
    def write_in_another_process(self, documents: list[Document], merge: bool) -> None:
        type(self).steps += 1
        operations: list[tuple[str, Any]] = [("update", (documents,)), *([("optimize", ())] if merge else [])]
        for operation, argument in operations:
            self.elsewhere.submit(write_elsewhere, str(self.place), operation, argument).result()
        self.committed |= {document.id: document for document in documents}

    @rule(number=st.integers(0, 3), question=QUESTIONS)
    def search(self, number: int, question: str) -> None:
        handle = self._handle(number)
        self._refuse_other_answers(handle.index, handle.shows, question)

    @rule(number=st.integers(0, 3), questions=st.lists(QUESTIONS, min_size=2, max_size=4), documents=DOCUMENTS)
    def search_in_threads_while_another_writes(
        self, number: int, questions: list[str], documents: list[Document]
    ) -> None:
        handle, writer = self._handle(number), Handle(PhraseIndex.open(self.place, self.encoder), {})
        with ThreadPoolExecutor(len(questions)) as threads:
            searches = [threads.submit(self._refuse_other_answers, handle.index, handle.shows, q) for q in questions]
            writer.index.update(documents)
            for each in searches:
                each.result()
        self.committed |= {document.id: document for document in documents}

    def _refuse_other_answers(self, index: PhraseIndex, shown: Documents, question: str) -> None:
        expected = best_score(shown, question, self.encoder)
        answers = index.search(question, k=3)
        assert (expected is None) == (not answers), "an index with phrases has an answer, one without has none"
        for answer in answers:
            text = shown[answer.document.id].text
            assert text[answer.start : answer.end] == answer.text
        if expected is not None:
            assert abs(answers[0].score - expected) < _TOLERANCE

    @invariant()
    def every_handle_shows_its_state(self) -> None:
        for handle in self.handles:
            assert len(handle.index) == len(handle.shows)
            for name in ("a", "b", "c", "d", "é", ""):
                assert handle.index.document(name) == handle.shows.get(name)

    def teardown(self) -> None:
        for handle in self.handles[-1:]:
            assert PhraseIndex.open(self.place, self.encoder).check() == []
            handle.index.refresh()
            assert {name for name in self.committed if handle.index.document(name)} == self.committed.keys()


def attack(cases: int, seed: int, folder: Path) -> Outcome:
    """At least as many steps."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as elsewhere:
        attacked: type[Handles] = type("Attacked", (Handles,), {"folder": folder, "elsewhere": elsewhere, "steps": 0})
        for turn in range(cases):
            if attacked.steps >= cases:
                break
            try:
                run_state_machine_as_test(seeded(seed + turn)(attacked), settings=_settings(cases - attacked.steps))
            except Exception as error:
                return Outcome(PROMISE, attacked.steps, (f"seed {seed + turn}: {type(error).__name__}: {error}",))
    return Outcome(PROMISE, attacked.steps)


def _settings(steps: int) -> settings:
    return settings(
        max_examples=max(steps // _STEPS, 2),
        stateful_step_count=_STEPS,
        database=None,
        deadline=None,
        print_blob=False,
        report_multiple_bugs=False,
        phases=[Phase.generate],  # shrinking would take most of the time
        suppress_health_check=list(HealthCheck),
    )
