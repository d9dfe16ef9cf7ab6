"""The losses on scores small enough to work out by hand, and against plain formulas."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import Tensor

from densephrases.train.phrases.losses import (
    Direction,
    distillation_loss,
    filter_loss,
    marginal_loss,
    negative_loss,
    same_phrase,
)

INF = math.inf
DIRECTIONS: list[Direction] = ["student_teacher", "teacher_student"]
both_directions = pytest.mark.parametrize("direction", DIRECTIONS)
SCORES = st.lists(st.tuples(st.integers(-40, 40), st.integers(-40, 40)), min_size=1, max_size=6).map(
    lambda pairs: np.array(pairs, dtype=np.float32).T / 5
)


def log_softmax(scores: Any) -> NDArray[np.float64]:
    exact = np.asarray(scores, dtype=np.float64)
    return np.asarray(exact - exact.max() - np.log(np.exp(exact - exact.max()).sum()))


def values(*losses: Tensor) -> list[float]:
    return [float(value) for loss in losses for value in loss.detach().reshape(-1)]


def test_single_passage_loss_by_hand() -> None:
    """Probabilities 1/4 and 3/4; the gold candidates have 1/4, then 3/4."""
    scores = torch.tensor([[0.0, math.log(3)], [0.0, math.log(3)]])
    gold = torch.tensor([[True, False], [False, True]])
    assert values(marginal_loss(scores, gold)) == pytest.approx([math.log(4), math.log(4 / 3)])


def test_several_golds_share_their_probability() -> None:
    """Probabilities 1/8, 2/8, 5/8; the first two are gold."""
    scores = torch.tensor([[1.0, 2.0, 5.0]]).log()
    assert values(marginal_loss(scores, torch.tensor([[True, True, False]]))) == pytest.approx([math.log(8 / 3)])


def test_masked_tokens_have_no_influence_and_no_gradient() -> None:
    inside = torch.tensor([[0.0, math.log(3)]])
    scores = torch.tensor([[-INF, 0.0, math.log(3), -INF]], requires_grad=True)
    loss = marginal_loss(scores, torch.tensor([[False, True, False, False]]))
    torch.autograd.backward(loss.sum())
    assert values(loss) == values(marginal_loss(inside, torch.tensor([[True, False]])))
    assert scores.grad is not None
    assert values(scores.grad) == pytest.approx([0, -3 / 4, 3 / 4, 0])


def test_losses_of_half_precision_scores_are_computed_in_full() -> None:
    scores = torch.tensor([[0.0, 1.0]], dtype=torch.bfloat16)
    loss = marginal_loss(scores, torch.tensor([[True, False]]))
    assert loss.dtype == torch.float32
    assert values(loss) == pytest.approx([math.log(1 + math.e)])


@pytest.mark.parametrize(
    ("direction", "expected"),
    [
        ("student_teacher", 0.5 * math.log(0.5 / 0.8) + 0.5 * math.log(0.5 / 0.2)),
        ("teacher_student", 0.8 * math.log(0.8 / 0.5) + 0.2 * math.log(0.2 / 0.5)),
    ],
)
def test_distillation_by_hand(direction: Direction, expected: float) -> None:
    """The student gives 1/2 and 1/2, the teacher 4/5 and 1/5."""
    student, teacher = torch.tensor([[3.0, 3.0]]), torch.tensor([[0.8, 0.2]]).log()
    assert values(distillation_loss(student, teacher, direction)) == pytest.approx([expected], abs=1e-6)


@both_directions
@given(SCORES)
def test_distillation_is_the_divergence_and_never_negative(direction: Direction, scores: NDArray[np.float32]) -> None:
    student, teacher = scores
    p, q = log_softmax(student), log_softmax(teacher).clip(min=-16)
    expected = np.sum(np.exp(p) * (p - q)) if direction == "student_teacher" else np.sum(np.exp(q) * (q - p))
    teacher_row = torch.log_softmax(torch.from_numpy(teacher), 0)[None]
    (found,) = values(distillation_loss(torch.from_numpy(student)[None], teacher_row, direction))
    assert found == pytest.approx(float(expected), abs=1e-4)
    assert found >= -1e-5


@both_directions
@given(SCORES)
def test_distillation_from_oneself_is_zero(direction: Direction, scores: NDArray[np.float32]) -> None:
    student = torch.from_numpy(scores[0])[None] / 2  # above the floor
    teacher = torch.log_softmax(student, dim=-1)
    assert values(distillation_loss(student, teacher, direction)) == pytest.approx([0], abs=1e-5)


@both_directions
def test_distillation_ignores_masked_tokens(direction: Direction) -> None:
    scores = torch.tensor([[-INF, 1.0, 0.0, -INF]], requires_grad=True)
    teacher = torch.tensor([[-INF, math.log(0.3), math.log(0.7), -INF]])
    loss = distillation_loss(scores, teacher, direction)
    torch.autograd.backward(loss.sum())
    inside = torch.tensor([[1.0, 0.0]], requires_grad=True)
    expected = distillation_loss(inside, teacher[:, 1:3], direction)
    torch.autograd.backward(expected.sum())
    assert values(loss) == pytest.approx(values(expected))
    assert scores.grad is not None
    assert inside.grad is not None
    assert values(scores.grad) == pytest.approx([0, *values(inside.grad), 0])
    assert torch.isfinite(scores.grad).all()


@both_directions
def test_a_certain_teacher_gives_a_finite_divergence(direction: Direction) -> None:
    scores = torch.zeros(1, 2, requires_grad=True)
    loss = distillation_loss(scores, torch.tensor([[0.0, -INF]]), direction)
    torch.autograd.backward(loss.sum())
    assert torch.isfinite(loss).all()
    assert scores.grad is not None
    assert scores.grad[0, 0] < 0 < scores.grad[0, 1]


def test_filter_loss_by_hand() -> None:
    """Two tokens of text: one gold start (weighted 3) with logit 0, all others logit ln 3; the third is padding."""
    logits = torch.tensor([[[0.0, math.log(3)], [math.log(3), math.log(3)], [99.0, -99.0]]])
    gold = torch.tensor([[[True, False], [False, False], [False, True]]])
    content = torch.tensor([[True, True, False]])
    expected = (3 * math.log(2) + 3 * math.log(4)) / 4
    assert float(filter_loss(logits, gold, content, 3.0)) == pytest.approx(expected)


@given(st.integers(0, 1000), st.floats(0.5, 20))
def test_filter_loss_is_weighted_cross_entropy(seed: int, weight: float) -> None:
    random = np.random.default_rng(seed)
    logits, gold = random.normal(size=(2, 3, 2)), random.integers(2, size=(2, 3, 2)).astype(bool)
    content = np.array([[True, False, True], [True, True, False]])
    p = 1 / (1 + np.exp(-logits))
    expected = np.where(gold, -weight * np.log(p), -np.log(1 - p))[content].mean()
    found = filter_loss(torch.from_numpy(logits), torch.from_numpy(gold), torch.from_numpy(content), weight)
    assert float(found) == pytest.approx(expected, rel=1e-4)


def test_negative_loss_by_hand() -> None:
    """Scores [[ln 3, 0], [ln 3, ln 2]], each question's own gold on the diagonal."""
    gold = torch.eye(2)
    queries = torch.tensor([[3.0, 1.0], [3.0, 2.0]]).log()
    loss = negative_loss(queries, gold, torch.zeros(2, 2, dtype=torch.bool), torch.tensor([0, 1]))
    assert values(loss) == pytest.approx([math.log(4 / 3), math.log(5 / 2)])


def test_excluded_candidates_are_no_negatives() -> None:
    queries, gold = torch.randn(2, 4, requires_grad=True), torch.randn(3, 4, requires_grad=True)
    excluded = torch.tensor([[True, True, False], [False, True, False]])  # its own gold among them
    loss = negative_loss(queries, gold, excluded, torch.tensor([0, 1]))
    scores = (queries @ gold.T).detach().numpy()
    assert values(loss) == pytest.approx([-log_softmax(scores[0, [0, 2]])[0], -log_softmax(scores[1])[1]], abs=1e-5)
    torch.autograd.backward(loss[0])
    assert gold.grad is not None
    assert not gold.grad[1].any()
    assert torch.isfinite(gold.grad).all()


def test_own_gold_need_not_be_first() -> None:
    queries, gold = torch.randn(2, 4), torch.randn(5, 4)
    loss = negative_loss(queries, gold, torch.zeros(2, 5, dtype=torch.bool), torch.tensor([3, 4]))
    scores = (queries @ gold.T).numpy()
    assert values(loss) == pytest.approx([-log_softmax(scores[0])[3], -log_softmax(scores[1])[4]], abs=1e-5)


def test_same_answer_or_same_place_is_the_same_phrase() -> None:
    own = (torch.tensor([7]), torch.tensor([1]), torch.tensor([4]))
    candidates = (
        torch.tensor([7, 7, 8, 8, 8]),  # answers
        torch.tensor([1, 2, 1, 2, 1]),  # passages
        torch.tensor([4, 9, 4, 4, 5]),  # positions
    )
    assert same_phrase(own, candidates).tolist() == [[True, True, True, False, False]]
