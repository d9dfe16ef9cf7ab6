"""Damage to any file of an index or of a model never changes an answer silently: it is refused, or has no effect."""

import os
import shutil
from collections.abc import Iterator
from functools import cache
from itertools import count, cycle
from pathlib import Path
from random import Random
from typing import Any

from densephrases.checksums import write_checksums
from densephrases.index.files.lock import LOCK_FILE
from densephrases.index.fitted_confidence import FittedConfidence, store_confidence
from densephrases.index.folder import IndexFolder
from densephrases.index.kinds import CandidateKind, Quantizer
from densephrases.index.manifest import SEGMENTS_FOLDER
from densephrases.index.settings import IndexSettings
from densephrases.model.folders import BUNDLED_FOLDER
from densephrases.model.load import load
from densephrases.model.onnx import exported_precisions
from densephrases.model.tasks import TASKS_FOLDER
from densephrases.search.confidence import Calibration
from densephrases.search.own_calibration import calibration_digest
from densephrases.search.phrase_index import PhraseIndex
from densephrases.text.documents import Document
from densephrases.text.passages import Passage
from tests.faults.damage import DAMAGES, Judge, damaged, seeded
from tests.faults.outcome import Outcome
from tests.index.forged import forge
from tests.index.made_up import CodedEncoder, long_text

INDEX_PROMISE = "A damaged file of an index is refused or changes no answer"
FORGED_PROMISE = "An index with forged checksums neither ends the process nor raises an error that is not ours"
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
CONFIDENCE = {"intercept": -1.0, "score": 0.1, "gap": 0.2, "share": 0.3, "temperature": 2.0}
MERGED_EVERY = 10  # cases, of which one is merged after the damage

MODEL_PROMISE = "A damaged file of a model is refused or changes no vector"
TINY_MODEL = Path(__file__).parents[1] / "fixtures" / "v0_1" / "model"
TASK = "keywords"
BUNDLED_EVERY = 20  # cases, of which one damages the bundled model, whose files take longer to read


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


def attack_forged(cases: int, seed: int, folder: Path) -> Outcome:
    """As `attack_indexes`, but every checksum vouches for the damage: answers may be wrong, errors are still ours."""
    random, failures = seeded(seed), []
    places = [build(folder / "sound" / f"{quantizer}-{kind}", quantizer, kind) for quantizer, kind in KINDS]
    forgeable = (turn for turn in turns(places) if is_forgeable(turn[1]))
    with Judge("tests.faults.flips:forged_answers") as judge:
        judge.expect(places[0])
        for number, (place, file) in zip(range(cases), forgeable, strict=False):
            copy = folder / place.name
            shutil.copytree(place, copy)
            kind, changed = damaged(file.read_bytes(), random.randrange(len(DAMAGES)), random)
            forge(copy, file.name, changed, ["000001", "000002"].index(file.parent.name))
            if problem := judge.problem(copy):
                judge.restart()
                failures.append(f"case {number}: forged {kind} in {file.relative_to(place.parent)}: {problem}")
            shutil.rmtree(copy)
    return Outcome(FORGED_PROMISE, cases, tuple(failures))


def is_forgeable(file: Path) -> bool:
    return file.parent.parent.name == SEGMENTS_FOLDER and not file.name.endswith("checksums.bin")


def forged_answers(folder: Path, option: str) -> None:
    index_answers(folder, option)


def build(folder: Path, quantizer: Quantizer, kind: CandidateKind) -> Path:
    """Two segments, the first with candidates of that kind and a deleted document."""
    settings = IndexSettings.from_encoder(encoder(), "hash", quantizer).with_candidates(kind)
    index = IndexFolder.create(folder, settings, encoder().product_quantizer)
    index.add(DOCUMENTS, encoder())
    index.add(LATER, encoder())
    index.delete(["d3"])
    weights = Calibration.from_dict(CONFIDENCE).rescaled(0.5, -1.0).to_dict()
    fitted = FittedConfidence(model=calibration_digest(encoder()), weights=weights, questions=20, date="2026-01-01")
    store_confidence(folder, "", fitted)
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
    kind, changed = damaged(sound, random.randrange(len(DAMAGES)), random)
    file.write_bytes(changed)
    try:
        problem = judge.problem(place, option)
    finally:
        file.write_bytes(sound)
    if not problem:
        return []
    judge.restart()
    return [f"case {number}: {kind} in {file.relative_to(place.parent)} {option}: {problem}"]


def attack_models(cases: int, seed: int, folder: Path) -> Outcome:
    """Damage each file of a small model with a task in turn, and of the bundled one; then encode with each graph."""
    random, failures = seeded(seed), []
    tiny, bundled = folder / "tiny", folder / "small"
    shutil.copytree(TINY_MODEL, tiny)
    write_checksums(tiny)
    write_checksums(tiny / TASKS_FOLDER / TASK)
    shutil.copytree(BUNDLED_FOLDER / "small", bundled)
    several = {place: turns([place]) for place in (tiny, bundled)}
    with Judge("tests.faults.flips:model_answers") as judge:
        for place in (tiny, bundled):
            judge.expect(place)
        judge.expect(tiny, "torch")
        for number in range(cases):
            place, file = next(several[bundled if number % BUNDLED_EVERY == BUNDLED_EVERY - 1 else tiny])
            option = "torch" if file.suffix == ".safetensors" else ""
            failures += struck(judge, place, file, number, random, option)
    return Outcome(MODEL_PROMISE, cases, tuple(failures))


def model_answers(folder: Path, option: str) -> Any:
    """Vectors of a question and of a passage by every graph, and codebooks; with torch the weights."""
    if option == "torch":
        return torch_weights(folder)
    found: list[Any] = []
    for precision in exported_precisions(folder) or ["int8"]:
        model = load(folder, precision, threads=1)
        found += [model.encode_questions(QUESTIONS[:1]).start_BD.tobytes()]
        found += [model.encode_passages([Passage("The tower is in Paris.")])[0].vectors_TD.tobytes()]
    if (folder / TASKS_FOLDER).is_dir():
        found.append(load(folder, threads=1, task=TASK).encode_questions(QUESTIONS[:1]).start_BD.tobytes())
    pq = model.product_quantizer
    return model.config, found, None if pq is None else pq.digest


def torch_weights(folder: Path) -> Any:
    from densephrases.nn.phrase_model import PhraseModel
    from densephrases.nn.question_tower import load_task

    weights = load_task(folder, TASK).state_dict() | PhraseModel.from_pretrained(folder).state_dict()
    return {name: tensor.numpy().tobytes() for name, tensor in weights.items()}


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


@cache
def encoder() -> CodedEncoder:
    return CodedEncoder(confidence=CONFIDENCE)


def opened(folder: Path) -> PhraseIndex:
    return PhraseIndex.open(folder, encoder())


def said(index: PhraseIndex) -> Any:
    searches = [
        index.search(QUESTIONS, 5, lexical_weight=0.5),
        index.search(QUESTIONS[0], 5, exact=True, unit="sentence"),
        index.search(QUESTIONS[1], 5, where={"kind": "even"}, unit="passage"),
        index.search(QUESTIONS[1], 3, lexical_weight=0.2, exact=True),
    ]
    documents = [index.document(document.id) for document in (*DOCUMENTS, *LATER)]
    return len(index), searches, documents, index.disk_usage().tokens
