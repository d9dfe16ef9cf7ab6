"""A batch's losses against slow loops over its questions, with random vectors in place of a model."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor

from densephrases.model.config import ModelConfig
from densephrases.model.tokenizer import Tokens
from densephrases.nn.towers import QuestionStates
from densephrases.text.passages import Passage
from densephrases.train.phrases.batches import PhraseBatch, collate
from densephrases.train.phrases.examples import PassageExample, QuestionExample
from densephrases.train.phrases.losses import Direction
from densephrases.train.phrases.negatives import GoldPhrases
from densephrases.train.phrases.objective import (
    LossWeights,
    coherency_loss,
    gold_negative_losses,
    gold_phrases,
    gold_positions,
    one_hot_columns,
    phrase_losses,
    token_negative_loss,
)

HIDDEN = 32
CONFIG = ModelConfig(base="tiny", backbone={"hidden_size": HIDDEN})
SPLIT = ModelConfig(base="tiny", backbone={"hidden_size": HIDDEN}, share=True, split=True)
WINDOWS: dict[str, Any] = {"passage_tokens": 16, "overlap": 4, "title_tokens": 2}

Array = NDArray[np.float64]


def log_softmax(scores: Array) -> Array:
    return np.asarray(scores - scores.max() - np.log(np.exp(scores - scores.max()).sum()))


@dataclass(frozen=True)
class Case:
    """A batch with vectors for its tokens and questions."""

    batch: PhraseBatch
    vectors: Tensor
    questions: QuestionStates

    def __len__(self) -> int:
        return len(self.batch.owner_Q)

    def sides(self) -> Iterator[tuple[Tensor, Tensor, Tensor | None]]:
        batch = self.batch
        yield self.questions.start_BD, batch.starts_QK, batch.teacher_start_QT
        yield self.questions.end_BD, batch.ends_QK, batch.teacher_end_QT

    def scores(self, query: Tensor, passage: int) -> Array:
        return (self.vectors[passage] @ query).double().numpy()


@pytest.fixture
def case(examples: list[PassageExample]) -> Case:
    """All examples, one question with a second occurrence, and a random teacher."""
    first, *others = examples
    asked = first.questions[0]
    again = replace(asked, spans=(*asked.spans, (1, 2)))
    random = torch.Generator().manual_seed(3)
    rows = [replace(first, questions=(again, *first.questions[1:])), *others]
    teacher = {
        q.id: tuple(torch.randn(2, e.window.stop, generator=random).log_softmax(-1).numpy())
        for e in rows
        for q in e.questions
    }
    batch = collate(rows, 0, {key: (start, end) for key, (start, end) in teacher.items()})
    count = len(batch.owner_Q)
    vectors = torch.randn(*batch.content_PT.shape, HIDDEN, generator=random) / 3
    starts, ends = torch.randn(2, count, HIDDEN, generator=random)
    return Case(batch, vectors, QuestionStates(starts, ends, torch.randn(count, generator=random)))


def gold_columns(columns: Tensor) -> list[int]:
    return [int(c) for c in columns if c >= 0]


def slow_single(case: Case) -> float:
    total = 0.0
    for queries, columns, _ in case.sides():
        for q, passage in enumerate(case.batch.owner_Q.tolist()):
            inside = case.batch.content_PT[passage].numpy()
            scores = np.where(inside, case.scores(queries[q], passage), -np.inf)
            total -= np.log(np.exp(log_softmax(scores)[gold_columns(columns[q])]).sum()) / 2
    return total


def slow_distill(case: Case, direction: Direction) -> float:
    total = 0.0
    for queries, _, teacher in case.sides():
        assert teacher is not None
        for q, passage in enumerate(case.batch.owner_Q.tolist()):
            inside = case.batch.content_PT[passage].numpy()
            student, taught = log_softmax(case.scores(queries[q], passage)[inside]), teacher[q].numpy()[inside]
            p, r = (student, taught) if direction == "student_teacher" else (taught, student)
            total += float(np.sum(np.exp(p) * (p - r))) / 2
    return total


def slow_tokens(case: Case, tower: int) -> list[float]:
    queries, columns, _ = list(case.sides())[tower]
    batch, losses = case.batch, []
    for q, owner in enumerate(batch.owner_Q.tolist()):
        own = {(owner, c) for c in gold_columns(columns[q])}
        alike = {
            (int(batch.owner_Q[r]), c)
            for r in range(len(case))
            if batch.answer_Q[r] == batch.answer_Q[q]
            for c in gold_columns(columns[r])
        }
        scores = {
            (p, t): case.scores(queries[q], p)[t]
            for p, t in batch.content_PT.nonzero().tolist()
            if (p, t) in own or (p, t) not in alike
        }
        gold = sum(np.exp(scores[place]) for place in own)
        losses.append(-np.log(gold / sum(np.exp(s) for s in scores.values())))
    return losses


def test_answers_repeat_in_the_case(case: Case) -> None:
    answers = case.batch.answer_Q.tolist()
    assert len(set(answers)) < len(answers)
    assert case.batch.starts_QK.shape[1] == 2


@pytest.mark.parametrize("direction", ["student_teacher", "teacher_student"])
def test_phrase_losses_like_a_loop(case: Case, direction: Direction) -> None:
    plain = replace(case.questions, coherency_B=None)
    losses = phrase_losses(case.batch, case.vectors, plain, LossWeights(tokens=1), direction, CONFIG)
    assert losses.keys() == {"single", "distill", "tokens"}
    assert float(losses["single"]) == pytest.approx(slow_single(case), rel=1e-4)
    assert float(losses["distill"]) == pytest.approx(slow_distill(case, direction), rel=1e-4)
    expected = sum(slow_tokens(case, 0) + slow_tokens(case, 1)) / 2
    assert float(losses["tokens"]) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    ("taught", "weights", "computed"),
    [
        (True, LossWeights(), {"single", "distill"}),
        (True, LossWeights(distill=0), {"single"}),
        (False, LossWeights(), {"single"}),
        (False, LossWeights(tokens=0.5), {"single", "tokens"}),
    ],
)
def test_losses_without_weight_are_not_computed(
    case: Case, taught: bool, weights: LossWeights, computed: set[str]
) -> None:
    batch = case.batch if taught else replace(case.batch, teacher_start_QT=None, teacher_end_QT=None)
    plain = replace(case.questions, coherency_B=None)
    assert phrase_losses(batch, case.vectors, plain, weights, "student_teacher", CONFIG).keys() == computed


@pytest.mark.parametrize("tower", [0, 1])
def test_token_negatives_like_a_loop(case: Case, tower: int) -> None:
    queries, columns, _ = list(case.sides())[tower]
    scores = torch.einsum("qd,ptd->qpt", queries, case.vectors).masked_fill(~case.batch.content_PT, -torch.inf)
    gold = one_hot_columns(columns, scores.shape[-1])
    found = token_negative_loss(scores, gold, case.batch)
    assert found.tolist() == pytest.approx(slow_tokens(case, tower), rel=1e-4)


def test_coherency_like_all_pairs(case: Case) -> None:
    batch, questions = case.batch, case.questions
    assert questions.coherency_B is not None
    expected = []
    for q, passage in enumerate(batch.owner_Q.tolist()):
        start, end = (case.scores(vectors[q], passage) for vectors in (questions.start_BD, questions.end_BD))
        x, inside = case.vectors[passage].double().numpy(), gold_columns(batch.content_PT[passage].nonzero()[:, 0])
        pairs = {
            (i, j): start[i] + end[j] + float(questions.coherency_B[q]) * x[i, 30] * x[j, 31]
            for i in inside
            for j in inside
            if i <= j
        }
        gold = list(zip(gold_columns(batch.starts_QK[q]), gold_columns(batch.ends_QK[q]), strict=True))
        expected.append(-np.log(sum(np.exp(pairs[g]) for g in gold) / sum(np.exp(s) for s in pairs.values())))
    found = coherency_loss(batch, case.vectors, questions, SPLIT)
    assert found.tolist() == pytest.approx(expected, rel=1e-4)
    losses = phrase_losses(batch, case.vectors, questions, LossWeights(), "student_teacher", SPLIT)
    assert float(losses["single"]) == pytest.approx(slow_single(case) + sum(expected), rel=1e-4)


def test_gold_phrases_takes_the_likeliest_occurrence(case: Case) -> None:
    batch, questions = case.batch, case.questions
    (row,) = (batch.starts_QK[:, 1] >= 0).nonzero()[:, 0].tolist()
    owner = int(batch.owner_Q[row])
    for favoured in (0, 1):
        vectors = case.vectors.clone().requires_grad_()
        with torch.no_grad():
            vectors[owner, batch.starts_QK[row, favoured]] += questions.start_BD[row]
            vectors[owner, batch.ends_QK[row, favoured]] += questions.end_BD[row]
        gold = gold_phrases(batch, vectors, questions)
        starts, ends = gold.start_N - batch.shift_Q, gold.end_N - batch.shift_Q  # columns again
        assert (starts[row], ends[row]) == (batch.starts_QK[row, favoured], batch.ends_QK[row, favoured])
        for q, passage in enumerate(batch.owner_Q.tolist()):
            assert torch.equal(gold.start_ND[q], vectors[passage, starts[q]])
            assert torch.equal(gold.end_ND[q], vectors[passage, ends[q]])
        assert gold.start_ND.requires_grad
    assert (gold.start_N >= 0).all(), "padding of K is never chosen"
    assert gold.answer_N.tolist() == batch.answer_Q.tolist()
    assert gold.passage_N.tolist() == batch.passage_Q.tolist()
    assert gold.valid_N.all()


def windowed(tokenizer: Tokenizer) -> tuple[list[PassageExample], PhraseBatch]:
    """A passage in several windows, its words asked for one by one; neighbouring windows share tokens."""
    tokens = Tokens(tokenizer, ModelConfig(base="tiny", backbone={"hidden_size": 8}, **WINDOWS))
    (tokenized,) = tokens.passages([Passage("the city of paris " * 7, "london")])
    asked = tokens.questions(["who"])[0]
    examples = [
        PassageExample(
            5, 0, w, tuple(QuestionExample(f"{w.start}:{t}", asked, ((t, t),), t) for t in range(w.start, w.stop))
        )
        for w in tokenized.windows
    ]
    return examples, collate(examples, 0)


def test_golds_say_their_place_in_the_passage(tokenizer: Tokenizer) -> None:
    examples, batch = windowed(tokenizer)
    assert len(examples) > 2
    random = torch.Generator().manual_seed(0)
    vectors = torch.randn(*batch.content_PT.shape, HIDDEN, generator=random)
    starts, ends = torch.randn(2, len(batch.owner_Q), HIDDEN, generator=random)
    gold = gold_phrases(batch, vectors, QuestionStates(starts, ends, None))
    expected = [q.spans[0][0] for e in examples for q in e.questions]
    assert len(expected) > len(set(expected)), "tokens of the overlap occur twice"
    assert gold.start_N.tolist() == gold.end_N.tolist() == expected


def test_one_place_seen_in_two_windows_is_no_negative(tokenizer: Tokenizer) -> None:
    """The answers have different names here, so that only the place can tell."""
    examples, _ = windowed(tokenizer)
    first, second = examples[:2]
    shared = second.questions[0]
    before = next(q for q in first.questions if q.spans == shared.spans)
    other = replace(shared, answer=99, id="other")
    batch = collate([replace(first, questions=(before,)), replace(second, questions=(other,))], 0)
    assert batch.starts_QK[0, 0] != batch.starts_QK[1, 0]
    random = torch.Generator().manual_seed(0)
    vectors = torch.randn(*batch.content_PT.shape, HIDDEN, generator=random)
    starts, ends = torch.randn(2, 2, HIDDEN, generator=random)
    questions = QuestionStates(starts, ends, None)
    losses = gold_negative_losses(questions, gold_phrases(batch, vectors, questions), 0)
    assert losses.tolist() == pytest.approx([0, 0], abs=1e-6)


def test_rows_of_no_weight_are_no_negatives(case: Case) -> None:
    """The others' losses are those of a batch without these rows."""
    kept = torch.arange(len(case)) % 3 != 1
    batch = replace(case.batch, weight_Q=kept.float())
    gold = gold_phrases(batch, case.vectors, case.questions)
    assert torch.equal(gold.valid_N, kept)
    found = gold_negative_losses(case.questions, gold, 0)
    assert torch.isfinite(found).all()
    fewer = GoldPhrases(**{name: value[kept] for name, value in vars(gold).items()})
    asked = QuestionStates(case.questions.start_BD[kept], case.questions.end_BD[kept], None)
    assert found[kept].tolist() == pytest.approx(gold_negative_losses(asked, fewer, 0).tolist(), rel=1e-5)
    whole = gold_phrases(case.batch, case.vectors, case.questions)
    assert (gold_negative_losses(case.questions, whole, 0)[kept] > found[kept] + 1e-3).any(), "else it says nothing"


@pytest.mark.parametrize("config", [CONFIG, SPLIT], ids=["plain", "split"])
def test_losses_are_weighted_by_question(case: Case, config: ModelConfig) -> None:
    questions = case.questions if config.split else replace(case.questions, coherency_B=None)

    def losses(weight: Tensor) -> dict[str, float]:
        batch = replace(case.batch, weight_Q=weight)
        found = phrase_losses(batch, case.vectors, questions, LossWeights(tokens=1), "student_teacher", config)
        return {name: float(value) for name, value in found.items()}

    single = [losses(row) for row in torch.eye(len(case))]
    weight = torch.arange(len(case)).float()
    expected = {name: sum(q * one[name] for q, one in enumerate(single)) for name in single[0]}
    assert losses(weight) == pytest.approx(expected, rel=1e-4)
    assert set(losses(torch.zeros(len(case))).values()) == {0.0}


def test_gold_positions_of_all_questions(case: Case) -> None:
    expected = torch.zeros(*case.batch.content_PT.shape, 2, dtype=torch.bool)
    for tower, (_, columns, _) in enumerate(case.sides()):
        for q, passage in enumerate(case.batch.owner_Q.tolist()):
            expected[passage, gold_columns(columns[q]), tower] = True
    assert torch.equal(gold_positions(case.batch), expected)


def test_one_hot_columns() -> None:
    assert one_hot_columns(torch.tensor([[1, -1], [0, 2]]), 3).tolist() == [[False, True, False], [True, False, True]]


@pytest.mark.parametrize("first", [0, 3])
def test_gold_negatives_like_a_loop(case: Case, first: int) -> None:
    """The questions' gold stand after `first` gold of other processes and before four of the queue."""
    own = gold_phrases(case.batch, case.vectors, case.questions)
    random = torch.Generator().manual_seed(1)
    before, after = (
        GoldPhrases(
            torch.randn(n, HIDDEN, generator=random),
            torch.randn(n, HIDDEN, generator=random),
            torch.arange(n),  # some of the batch's own answers
            torch.arange(n) + 90,
            torch.arange(n),
            torch.arange(n),
            torch.arange(n) != 1,  # one that only fills up the shape
        )
        for n in (first, 4)
    )
    candidates = GoldPhrases(
        **{f.name: torch.cat([getattr(g, f.name) for g in (before, own, after)]) for f in fields(own)}
    )
    expected = []
    for q in range(len(case)):
        loss = 0.0
        for query, gold, places in (
            (case.questions.start_BD[q], candidates.start_ND, candidates.start_N),
            (case.questions.end_BD[q], candidates.end_ND, candidates.end_N),
        ):
            me, scores = first + q, (gold @ query).double().numpy()
            negatives = [
                n
                for n in range(len(candidates))
                if n != me
                and candidates.valid_N[n]
                and candidates.answer_N[n] != candidates.answer_N[me]
                and not (candidates.passage_N[n] == candidates.passage_N[me] and places[n] == places[me])
            ]
            loss -= log_softmax(scores[[me, *negatives]])[0] / 2
        expected.append(loss)
    assert gold_negative_losses(case.questions, candidates, first).tolist() == pytest.approx(expected, rel=1e-4)
