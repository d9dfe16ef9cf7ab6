"""Query-side fine-tuning: its loss, what it changes and what it leaves alone, and that it finds more answers."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from densephrases import Document, PhraseIndex
from densephrases.data.matching.em_f1 import exact_match
from densephrases.data.questions import OpenQuestion
from densephrases.errors import ConfigError, DataError, PhraseIndexError
from densephrases.nn.phrase_model import PhraseModel
from densephrases.nn.question_tower import AdaptedEncoder, QuestionTower
from densephrases.nn.towers import QuestionStates
from densephrases.search.scoring.windows import Queries
from densephrases.train.loop import loop as loop_module
from densephrases.train.loop.loop import LoopConfig
from densephrases.train.phrases.losses import marginal_loss
from densephrases.train.queries.adaptation import Adaptation
from densephrases.train.queries.relevance import UNITS
from densephrases.train.queries.retrieve import Lookup, LookupSettings
from densephrases.train.queries.run import learn_queries
from densephrases.train.queries.task import QuerySettings, QueryTask, phrase_scores
from tests.train.conftest import FACTS
from tests.train.loop.test_loop import KilledError, Watcher, same_tensors

ASKED = [
    OpenQuestion(f"{number}-{i}", text, (answer,))
    for number, (_, _, asked) in enumerate(FACTS)
    for i, (text, answer) in enumerate(asked)
]
UNANSWERABLE = OpenQuestion("none", "who is it", ("nobody in particular",))


@dataclass(frozen=True)
class Bench:
    model: PhraseModel
    index: PhraseIndex

    def settings(self, **changes: Any) -> QuerySettings:
        loop: dict[str, Any] = {"epochs": 3, "learning_rate": 1e-3, "checkpoint_every": 2, "evaluate_every": 1}
        loop |= {name: changes.pop(name) for name in list(changes) if name in LoopConfig.__dataclass_fields__}
        ours = {"top_k": 30, "batch_size": 4, "refresh_every": 2, "processes": 1}
        return QuerySettings(**(ours | changes), loop=LoopConfig(**loop))

    def tower(self) -> QuestionTower:
        return QuestionTower.from_model(self.model)

    def learn(
        self,
        run: Path,
        settings: QuerySettings,
        tower: QuestionTower,
        watcher: Watcher | None = None,
        dev: list[OpenQuestion] | None = None,
        keep: list[OpenQuestion] | None = None,
    ) -> Adaptation:
        judged = ASKED if dev is None else dev
        watchers = [watcher or Watcher()]
        asked = [*ASKED, UNANSWERABLE]
        return learn_queries(
            self.index.folder,
            self.model.encoder(),
            tower,
            asked,
            judged,
            settings,
            run,
            watchers,
            True,
            True,
            keep or [],
        )


@pytest.fixture(scope="module")
def bench(tiny_base: Path, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """As with the bundled model, passages and questions share a backbone; the index has several segments."""
    model = PhraseModel.from_base(tiny_base, share=True, length_penalty=0.01, max_words=6)
    texts = [Document(f"d{n}", text, f"title {n}") for n, (_, text, _) in enumerate(FACTS)]
    index = PhraseIndex.create(
        tmp_path_factory.mktemp("index"), texts[:4], model=model.encoder(), filter_threshold=None
    )
    index.add(texts[4:])
    return Bench(model, index)


@pytest.fixture(autouse=True)
def report_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_module, "REPORT_EVERY", 1)


def task_of(bench: Bench, settings: QuerySettings, asked: list[OpenQuestion]) -> QueryTask:
    sought = LookupSettings(target=settings.target, length_penalty=0.01, max_words=6)
    lookup = Lookup(bench.index.folder, sought)
    return QueryTask(settings, AdaptedEncoder(bench.model.encoder(), bench.tower()), asked, [], lookup, lookup)


def loss_of(task: QueryTask, planned: list[int], rank: int = 0, world: int = 1) -> float:
    with torch.no_grad():
        return float(task.losses(task.model, task.local(planned, rank, world))["loss"])


@given(st.integers(0, 2**32 - 1).map(np.random.default_rng), st.integers(1, 3), st.integers(1, 5), st.integers(1, 4))
def test_the_loss_is_that_of_the_paper(rng: np.random.Generator, q: int, k: int, d: int) -> None:
    """Equation 8: -log of the share of the right phrases in the sum of exp f(s) over all that were found."""
    start_QKD, end_QKD = rng.normal(size=(2, q, k, d))
    start_QD, end_QD = rng.normal(size=(2, q, d))
    right_QK = rng.random((q, k)) < 0.5
    right_QK[:, 0] = True
    states = QuestionStates(torch.from_numpy(start_QD), torch.from_numpy(end_QD))
    scores_QK = phrase_scores(states, torch.from_numpy(start_QKD), torch.from_numpy(end_QKD))
    found_Q = marginal_loss(scores_QK, torch.from_numpy(right_QK))
    for row in range(q):
        f = [float(start_QD[row] @ start_QKD[row, j] + end_QD[row] @ end_QKD[row, j]) for j in range(k)]
        wanted = -np.log(sum(np.exp(s) for s, r in zip(f, right_QK[row], strict=True) if r) / sum(map(np.exp, f)))
        assert float(found_Q[row]) == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize("target", ["phrase", "fact", "passage", "document"])
@pytest.mark.parametrize("fixed_shapes", [False, True])
def test_a_batch_scores_as_search_does(bench: Bench, target: Any, fixed_shapes: bool) -> None:
    """The loss of a batch, put together from answers of the library's search alone."""
    settings = bench.settings(target=target, batch_size=20)
    task = task_of(bench, settings, [*ASKED, UNANSWERABLE])
    task.prepare(torch.device("cpu"), 1, fixed_shapes)
    task.begin_epoch(0)
    (planned,) = task.plan(0)
    task.model.eval()
    found = loss_of(task, planned)
    expected, hits = 0.0, 0
    for question in ASKED:
        answers = bench.index.search(question.text, settings.top_k, unit=UNITS[target], overlapping=True)
        exps = np.exp([answer.score - answers[0].score for answer in answers])
        words = [f" {answer.passage.lower()} " for answer in answers]
        right = [
            exact_match(answer.text, question.answers[0]) == 1
            if UNITS[target] == "phrase"
            else f" {question.answers[0]} " in passage
            for answer, passage in zip(answers, words, strict=True)
        ]
        if any(right):
            expected -= np.log(exps[right].sum() / exps.sum())
            hits += 1
    assert task.size(planned) == hits > 3
    assert found == pytest.approx(expected, rel=1e-3)


def test_processes_share_a_batch(bench: Bench) -> None:
    task = task_of(bench, bench.settings(batch_size=20), ASKED)
    task.begin_epoch(0)
    (planned,) = task.plan(0)
    task.model.eval()
    whole = loss_of(task, planned)
    parts = [loss_of(task, planned, rank, 3) for rank in range(3)]
    assert sum(parts) == pytest.approx(whole, rel=1e-4)


def test_a_batch_without_hits_teaches_nothing(bench: Bench) -> None:
    task = task_of(bench, bench.settings(), [UNANSWERABLE, replace(UNANSWERABLE, id="2")])
    task.begin_epoch(0)
    (planned,) = task.plan(0)
    loss = task.losses(task.model, task.local(planned, 0, 1))["loss"]
    gradients = torch.autograd.grad(loss, list(task.model.parameters()), allow_unused=True)
    assert loss.item() == 0
    assert not any(gradient.any() for gradient in gradients if gradient is not None)
    assert task.coverage.hits == (0, 0, 0)


@pytest.mark.parametrize("refresh_every", [1, 2, 3, 100])
def test_rounds_make_up_epochs(bench: Bench, refresh_every: int) -> None:
    """Every question is looked up and learned from once an epoch, however often lookups come."""
    task = task_of(bench, bench.settings(refresh_every=refresh_every), ASKED)
    rounds = task.rounds_per_epoch
    assert task.loop.epochs == 3 * rounds
    for epoch in range(3):
        batches = [batch for piece in range(rounds) for batch in task.plan(epoch * rounds + piece)]
        assert sorted(number for batch in batches for number in batch) == list(range(len(ASKED)))
        assert all(len(task.plan(epoch * rounds + piece)) <= refresh_every for piece in range(rounds))
    assert task.plan(0) != task.plan(rounds)


def test_it_finds_more_answers_and_changes_questions_only(bench: Bench, tmp_path: Path) -> None:
    passages = {name: tensor.clone() for name, tensor in bench.model.state_dict().items()}
    fingerprint, manifest = bench.index.encoder.fingerprint, (bench.index.folder.folder / "manifest.json").read_bytes()
    tower = bench.tower()
    before = {name: tensor.clone() for name, tensor in tower.state_dict().items()}
    watcher = Watcher()
    learned = bench.learn(tmp_path, bench.settings(epochs=12, learning_rate=3e-3), tower, watcher)

    assert learned.scores["exact_match"] > learned.scores["exact_match_before"] + 20
    assert same_tensors(bench.model.state_dict(), passages)
    assert (bench.index.folder.folder / "manifest.json").read_bytes() == manifest
    changed = {name for name, tensor in tower.state_dict().items() if not torch.equal(tensor, before[name])}
    assert "question_start.encoder.embeddings.word_embeddings.weight" not in changed
    assert {"start_head.weight", "end_head.weight"} < changed

    asking = PhraseIndex(bench.index.folder, learned.encoder)
    assert learned.encoder.fingerprint == fingerprint
    right = sum(exact_match(asking.search(question.text, 1)[0].text, question.answers[0]) for question in ASKED)
    assert 100 * right / len(ASKED) == pytest.approx(learned.scores["exact_match"])
    assert learned.encoder.config.confidence is not None
    assert asking.search(ASKED[0].text, 1)[0].confidence is not None
    assert not (tmp_path / "checkpoint").exists()
    assert [step for step, _ in watcher.evaluations][-2:] == [watcher.reports[-1].step] * 2


def test_matrices_beside_the_shared_backbone_learn_as_well(bench: Bench, tmp_path: Path) -> None:
    tower = bench.tower()
    before = {name: tensor.clone() for name, tensor in tower.state_dict().items()}
    learned = bench.learn(tmp_path, bench.settings(rank=4, layers=1, epochs=12, learning_rate=5e-3), tower)
    assert learned.scores["exact_match"] > learned.scores["exact_match_before"] + 20
    after = tower.state_dict()
    assert all(torch.equal(tensor, after[n]) for n, tensor in before.items() if n.startswith("question_start."))
    learned.save(tmp_path / "saved")
    again = PhraseModel.from_pretrained(tmp_path / "saved")
    assert again.config.share
    assert again.passage_fingerprint() == bench.index.encoder.fingerprint
    asking = PhraseIndex(bench.index.folder, again.encoder())
    right = sum(exact_match(asking.search(question.text, 1)[0].text, question.answers[0]) for question in ASKED)
    assert 100 * right / len(ASKED) == pytest.approx(learned.scores["exact_match"])


KEPT = [OpenQuestion(str(number), f"how is the {noun} painted", ("-",)) for number, noun in enumerate("abcdefgh")]


def test_questions_to_keep_change_less(bench: Bench, tmp_path: Path) -> None:
    base, asked = bench.model.encoder(), [question.text for question in KEPT]
    vectors = base.encode_questions(asked).start_BD

    def change(weight: float) -> float:
        settings = bench.settings(epochs=6, learning_rate=2e-3, keep_weight=weight, hold_out=0.0)
        learned = bench.learn(tmp_path / str(weight), settings, bench.tower(), dev=[], keep=KEPT)
        return float(np.linalg.norm(learned.encoder.encode_questions(asked).start_BD - vectors))

    assert change(100.0) < 0.5 * change(0.0)


def test_the_loss_of_kept_questions(bench: Bench) -> None:
    settings = bench.settings(keep_weight=3.0, batch_size=20)
    lookup = Lookup(bench.index.folder, LookupSettings(max_words=6))
    tower = bench.tower()
    task = QueryTask(settings, AdaptedEncoder(bench.model.encoder(), tower), ASKED, [], lookup, lookup, KEPT)
    task.prepare(torch.device("cpu"), 1, False)
    task.begin_epoch(0)
    (planned,) = task.plan(0)
    task.model.eval()
    with torch.no_grad():
        unchanged = task.losses(tower, task.local(planned, 0, 1))
        assert float(unchanged["changed"]) == pytest.approx(0, abs=1e-6)
        for head in (tower.start_head, tower.end_head):
            head.weight.mul_(1.1)
        changed = task.losses(tower, task.local(planned, 0, 1))
    expected = 0.01 * task.size(planned)  # each vector is a tenth longer
    assert float(changed["changed"]) == pytest.approx(expected, rel=1e-3)
    assert float(changed["loss"]) == pytest.approx(float(changed["right"]) + 3.0 * expected, rel=1e-4)


def test_skipped_questions_are_counted(bench: Bench, tmp_path: Path) -> None:
    learned = bench.learn(tmp_path, bench.settings(epochs=2), bench.tower())
    task = task_of(bench, bench.settings(), [*ASKED, UNANSWERABLE])
    vectors = bench.model.encoder().encode_questions([question.text for question in ASKED])
    hits = task.store(Queries(vectors.start_BD, vectors.end_BD), ASKED, 30).hit_Q.sum()
    assert learned.coverage.questions == len(ASKED) + 1
    assert len(learned.coverage.hits) == 2
    assert learned.coverage.hits[0] == pytest.approx(hits, abs=2), "encoders move a little within an epoch"
    skipped = learned.coverage.questions - learned.coverage.hits[0]
    assert f"of which {skipped} were skipped in the first epoch" in str(learned.coverage)


@pytest.mark.parametrize("kill_at", [1, 3, 4, 6, 8, 9], ids=lambda step: f"step {step}")
def test_killed_and_resumed_is_as_uninterrupted(bench: Bench, tmp_path: Path, kill_at: int) -> None:
    """Twelve steps, dropout on, lookups every third: some checkpoints lie within a round, some at its end."""
    settings, whole, second = bench.settings(refresh_every=3), Watcher(), Watcher()
    expected, found = bench.tower(), bench.tower()
    kept = bench.learn(tmp_path / "whole", settings, expected, whole)
    with pytest.raises(KilledError):
        bench.learn(tmp_path / "killed", settings, bench.tower(), Watcher(kill_at))
    torch.manual_seed(12345)  # another process has other random numbers
    resumed = bench.learn(tmp_path / "killed", settings, found, second)
    done = (kill_at - 1) // 2 * 2
    assert [report.step for report in second.reports] == list(range(done + 1, len(whole.reports) + 1))
    assert same_tensors(found.state_dict(), expected.state_dict())
    assert resumed.coverage == kept.coverage
    assert {name: resumed.scores[name] for name in resumed.scores if "exact" in name} == {
        name: kept.scores[name] for name in kept.scores if "exact" in name
    }
    assert resumed.encoder.config.confidence == kept.encoder.config.confidence


def test_the_best_epoch_is_kept_even_if_it_is_none(
    bench: Bench, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Learning that only does harm leaves the tower as it was."""
    tower = bench.tower()
    before = {name: tensor.clone() for name, tensor in tower.state_dict().items()}
    harmful = bench.settings(epochs=2, learning_rate=10.0, clip=1e9)
    known = bench.index.search(ASKED[0].text, 1)[0].text
    learned = bench.learn(tmp_path, harmful, tower, dev=[replace(ASKED[0], answers=(known,))])
    assert learned.scores["exact_match_before"] == learned.scores["exact_match"] == 100
    assert learned.encoder.config.confidence is None
    assert "No confidence was fitted to the new query encoder: Of 1 results 1 are right" in caplog.text
    assert same_tensors(tower.state_dict(), before)


def test_with_nothing_held_out_the_last_epoch_is_kept(bench: Bench, tmp_path: Path) -> None:
    tower, watcher = bench.tower(), Watcher()
    learned = bench.learn(tmp_path, bench.settings(hold_out=0.0), tower, watcher, dev=[])
    assert "exact_match" not in learned.scores
    assert learned.encoder.config.confidence is None
    assert not same_tensors(tower.state_dict(), bench.tower().state_dict())


def test_what_cannot_be_learned_is_said(bench: Bench, tmp_path: Path, tiny_base: Path) -> None:
    def learn(asked: list[OpenQuestion], encoder: Any = None) -> None:
        base = encoder or bench.model.encoder()
        learn_queries(bench.index.folder, base, bench.tower(), asked, [], bench.settings(), tmp_path, cpu=True)

    with pytest.raises(DataError, match="no question to learn from"):
        learn([])
    with pytest.raises(DataError, match="None of the 1 questions has an answer among its 30 best results"):
        learn([UNANSWERABLE])
    empty = PhraseIndex.create(tmp_path / "empty", [], model=bench.model.encoder())
    with pytest.raises(DataError, match="is empty: add documents"):
        learn_queries(empty.folder, empty.encoder, bench.tower(), ASKED, [], bench.settings(), tmp_path, cpu=True)
    other = PhraseModel.from_base(tiny_base, share=True, dim=8)
    with pytest.raises(PhraseIndexError, match="was built with model"):
        learn(ASKED, other.encoder())
    for setting in (
        {"target": "word"},
        {"top_k": 1},
        {"batch_size": 0},
        {"refresh_every": 0},
        {"rank": -1},
        {"layers": 0},
        {"keep_weight": -1.0},
    ):
        with pytest.raises(ConfigError, match=f"{next(iter(setting))}="):
            bench.settings(**setting)
