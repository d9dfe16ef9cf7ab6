"""Damage to any file of an index or of a model never changes an answer silently: it is refused, or has no effect."""

import os
import shutil
from collections.abc import Iterator
from itertools import count, cycle
from pathlib import Path
from random import Random
from typing import Any

from densephrases.index.files.lock import LOCK_FILE
from densephrases.index.folder import IndexFolder
from densephrases.index.kinds import CandidateKind, Quantizer
from densephrases.index.settings import IndexSettings
from densephrases.search.phrase_index import PhraseIndex
from densephrases.text.documents import Document
from tests.faults.damage import Judge, damaged, seeded
from tests.faults.outcome import Outcome
from tests.index.made_up import CodedEncoder, long_text

INDEX_PROMISE = "a damaged file of an index is refused or changes no answer"
DOCUMENTS = [
    Document(f"d{i}", long_text(i, 150) if i else "", f"title {i}", {"year": i, "kind": "even" if i % 2 else "odd"})
    for i in range(16)
]
LATER = [Document("later", long_text(99, 40), "the city", {"year": 1})]
QUESTIONS = ["where is the city", "who built the tower in Paris?"]
KINDS: tuple[tuple[Quantizer, CandidateKind], ...] = (
    ("pq", "passages"),
    ("int8", "exact"),
    ("fp16", "ivf-pq"),
    ("int4", "ivf-sq4"),
    ("pq", "ivf-pq"),
    ("pq", "exact"),
    ("int8", "ivf-pq"),
)
MERGED_EVERY = 10  # cases, of which one is merged after the damage


def attack_indexes(cases: int, seed: int, folder: Path) -> Outcome:
    """Damage each file of indexes of all kinds in turn; then open, search and read all documents, or merge."""
    random, failures = seeded(seed), []
    places = [build(folder / f"{quantizer}-{kind}", quantizer, kind) for quantizer, kind in KINDS]
    with Judge("tests.faults.flips:index_answers") as judge:
        for place in places:
            judge.expect(place)
            judge.expect(place, "merge")
        for number, (place, file) in zip(range(cases), turns(places), strict=False):
            option = "merge" if number % MERGED_EVERY == MERGED_EVERY - 1 else ""
            failures += struck(judge, place, file, number, random, option)
    return Outcome(INDEX_PROMISE, cases, tuple(failures))


def build(folder: Path, quantizer: Quantizer, kind: CandidateKind) -> Path:
    """Two segments, the first with candidates of that kind and a deleted document."""
    encoder = CodedEncoder()
    settings = IndexSettings.from_encoder(encoder, "hash", quantizer).with_candidates(kind)
    index = IndexFolder.create(folder, settings, encoder.product_quantizer)
    index.add(DOCUMENTS, encoder)
    index.add(LATER, encoder)
    index.delete(["d3"])
    assert [entry.candidates for entry in index.manifest.segments] == [kind, "exact"]
    return folder


def turns(places: list[Path]) -> Iterator[tuple[Path, Path]]:
    """Each place and a file of it, one file after the other: every file meets every kind of damage."""
    files = {place: cycle(sorted(path for path in place.rglob("*") if path.is_file())) for place in places}
    for number in count():
        place = places[number % len(places)]
        yield place, next(files[place])


def struck(judge: Judge, place: Path, file: Path, number: int, random: Random, option: str = "") -> list[str]:
    """Damage a file, ask, and mend it."""
    sound = file.read_bytes()
    kind, changed = damaged(sound, number // 7, random)
    file.write_bytes(changed)
    try:
        problem = judge.problem(place, option)
    finally:
        file.write_bytes(sound)
    if not problem:
        return []
    judge.expect(place)  # again, should the process have been killed
    judge.expect(place, "merge")
    return [f"case {number}: {kind} in {file.relative_to(place.parent)} {option}: {problem}"]


def index_answers(folder: Path, option: str) -> Any:
    """All that an index says, of itself or of a merged copy."""
    if option != "merge":
        return said(opened(folder))
    copy = folder.with_name(f"{folder.name}.{os.getpid()}")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(LOCK_FILE))
    try:
        index = opened(copy)
        index.optimize()
        return said(opened(copy))
    finally:
        shutil.rmtree(copy)


def opened(folder: Path) -> PhraseIndex:
    return PhraseIndex.open(folder, CodedEncoder())


def said(index: PhraseIndex) -> Any:
    searches = [
        index.search(QUESTIONS, 5, lexical_weight=0.5),
        index.search(QUESTIONS[0], 5, exact=True, unit="sentence"),
        index.search(QUESTIONS[1], 5, where={"kind": "even"}, unit="passage"),
        index.search(QUESTIONS[1], 3, lexical_weight=0.2, exact=True),
    ]
    documents = [index.document(document.id) for document in (*DOCUMENTS, *LATER)]
    return len(index), searches, documents, index.disk_usage().tokens
