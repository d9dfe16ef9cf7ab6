"""The losses of the paper (§4) as pure functions of scores; each returns one value per question.

Shape suffixes: Q questions, T tokens of a passage, N candidates, D vector size. Scores outside the passage's
text are -inf, which keeps title, special tokens and padding out of every softmax.
"""

from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, log_softmax

Direction = Literal["student_teacher", "teacher_student"]

PhraseKeys = tuple[Tensor, Tensor, Tensor]
"""Answer number, passage number and token position of each phrase."""

TEACHER_FLOOR = -16.0  # log-probability; keeps the divergence finite where the teacher is certain


def marginal_loss(scores_QN: Tensor, gold_QN: Tensor) -> Tensor:
    """-log of the total softmax probability of the gold candidates (L_single, L_neg)."""
    scores_QN = scores_QN.float()
    gold_scores_QN = scores_QN.masked_fill(~gold_QN, -torch.inf)
    return torch.logsumexp(scores_QN, dim=-1) - torch.logsumexp(gold_scores_QN, dim=-1)


def distillation_loss(scores_QT: Tensor, teacher_QT: Tensor, direction: Direction = "student_teacher") -> Tensor:
    """KL divergence between the student's distribution and the teacher's log-probabilities (L_distill).

    The paper states KL(student || teacher), the original code computes KL(teacher || student).
    """
    inside = scores_QT > -torch.inf
    student_QT = log_softmax(scores_QT.float(), dim=-1).masked_fill(~inside, 0.0)
    teacher_QT = teacher_QT.clamp_min(TEACHER_FLOOR)
    weight_QT = student_QT.exp() if direction == "student_teacher" else teacher_QT.exp()
    gap_QT = student_QT - teacher_QT if direction == "student_teacher" else teacher_QT - student_QT
    return (weight_QT * gap_QT).masked_fill(~inside, 0.0).sum(dim=-1)


def filter_loss(logits_PT2: Tensor, gold_PT2: Tensor, content_PT: Tensor, positive_weight: float) -> Tensor:
    """Binary cross-entropy of the filter's logits with the gold positions, averaged over the text's tokens."""
    weight = logits_PT2.new_full((), positive_weight, dtype=torch.float32)
    losses_PT2 = binary_cross_entropy_with_logits(
        logits_PT2.float(), gold_PT2.float(), pos_weight=weight, reduction="none"
    )
    return (losses_PT2 * content_PT[..., None]).sum() / (2 * content_PT.sum())


def same_phrase(phrases_Q: PhraseKeys, phrases_N: PhraseKeys) -> Tensor:
    """(Q, N): True where a candidate is not a negative: it has the gold answer or the gold position."""
    answer_Q, passage_Q, position_Q = phrases_Q
    answer_N, passage_N, position_N = phrases_N
    same_place = (passage_Q[:, None] == passage_N) & (position_Q[:, None] == position_N)
    return (answer_Q[:, None] == answer_N) | same_place


def negative_loss(queries_QD: Tensor, golds_ND: Tensor, excluded_QN: Tensor, own_Q: Tensor) -> Tensor:
    """In-batch and pre-batch negatives: the gold vectors of all questions are candidates for each question (L_neg).

    `own_Q` is the row of each question's gold phrase; `excluded_QN` marks candidates that are not negatives.
    """
    own_QN = torch.zeros_like(excluded_QN).scatter_(1, own_Q[:, None], True)
    scores_QN = (queries_QD @ golds_ND.T).float().masked_fill(excluded_QN & ~own_QN, -torch.inf)
    return marginal_loss(scores_QN, own_QN)
