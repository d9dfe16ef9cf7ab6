"""The losses of a batch from its vectors, gold positions, teacher distributions and negatives.

Shape suffixes: P passages, T tokens of a passage, Q questions, K occurrences, N candidates, D vector size.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from densephrases.model.config import ModelConfig
from densephrases.nn.towers import QuestionStates
from densephrases.train.phrases.batches import PhraseBatch
from densephrases.train.phrases.losses import Direction, distillation_loss, marginal_loss, negative_loss, same_phrase
from densephrases.train.phrases.negatives import GoldPhrases


@dataclass(frozen=True, kw_only=True)
class LossWeights:
    """The paper's λ1, λ2, λ3, the weight of the filter, and `tokens`: all tokens of the batch as negatives.

    The last four are of the reading head, see `reading_losses`.
    """

    single: float = 1.0
    distill: float = 2.0
    negative: float = 4.0
    tokens: float = 0.0
    filter: float = 1.0
    reading: float = 1.0
    reading_distill: float = 1.0
    across: float = 0.0
    null: float = 0.0


def phrase_losses(
    batch: PhraseBatch,
    vectors_PTD: Tensor,
    questions: QuestionStates,
    weights: LossWeights,
    divergence: Direction,
    config: ModelConfig,
) -> dict[str, Tensor]:
    """The losses within passages and over all tokens of the batch, summed over questions."""
    sums: dict[str, Tensor] = {}
    sides = (
        (questions.start_BD, batch.starts_QK, batch.teacher_start_QT),
        (questions.end_BD, batch.ends_QK, batch.teacher_end_QT),
    )
    for vectors_QD, columns_QK, teacher_QT in sides:
        scores_QPT = phrase_scores(vectors_QD, vectors_PTD, batch)
        own_QT, gold_QT = own_passage(scores_QPT, batch), one_hot_columns(columns_QK, scores_QPT.shape[-1])
        terms = {"single": marginal_loss(own_QT, gold_QT)}
        if teacher_QT is not None and weights.distill:
            terms["distill"] = distillation_loss(own_QT, teacher_QT, divergence)
        if weights.tokens:
            penalised_QPT = scores_QPT - batch.penalty_QP[..., None] / 2  # half of it on each side
            terms["tokens"] = token_negative_loss(penalised_QPT, gold_QT, batch)
        for name, value_Q in terms.items():
            sums[name] = sums.get(name, torch.zeros((), device=value_Q.device)) + (value_Q * batch.weight_Q).sum() / 2
    if questions.coherency_B is not None:
        coherency_Q = coherency_loss(batch, vectors_PTD, questions, config)
        sums["single"] = sums["single"] + (coherency_Q * batch.weight_Q).sum()
    return sums


def phrase_scores(vectors_QD: Tensor, vectors_PTD: Tensor, batch: PhraseBatch) -> Tensor:
    """The scores (Q, P, T) of all tokens; -inf outside the passages' text."""
    return torch.einsum("qd,ptd->qpt", vectors_QD, vectors_PTD).masked_fill(~batch.content_PT, -torch.inf)


def own_passage(scores_QPT: Tensor, batch: PhraseBatch) -> Tensor:
    """The scores (Q, T) of each question in its own passage."""
    owner_Q1T = batch.owner_Q[:, None, None].expand(-1, 1, scores_QPT.shape[-1])
    return scores_QPT.gather(1, owner_Q1T).squeeze(1)


def token_negative_loss(scores_QPT: Tensor, gold_QT: Tensor, batch: PhraseBatch) -> Tensor:
    """All tokens of the batch are candidates, except gold positions of the same answer in other questions."""
    everyone_Q = torch.arange(len(gold_QT), device=gold_QT.device)
    scores_QPT = scores_QPT.masked_fill(gold_elsewhere(batch, gold_QT, everyone_Q), -torch.inf)
    return marginal_loss(scores_QPT.flatten(1), in_own_passage(batch, gold_QT).flatten(1))


def in_own_passage(batch: PhraseBatch, gold_QT: Tensor) -> Tensor:
    """(Q, P, T): positions of the question's own passage as positions of all passages."""
    everywhere_QPT = gold_QT.new_zeros((len(gold_QT), *batch.content_PT.shape))
    owner_Q1T = batch.owner_Q[:, None, None].expand(-1, 1, gold_QT.shape[1])
    return everywhere_QPT.scatter_(1, owner_Q1T, gold_QT[:, None])


def gold_elsewhere(batch: PhraseBatch, gold_QT: Tensor, rows_R: Tensor) -> Tensor:
    """(R, P, T) for some questions: gold positions of others with the same answer, which are no negatives."""
    gold_QPT = in_own_passage(batch, gold_QT)
    same_RQ = batch.answer_Q[rows_R][:, None] == batch.answer_Q
    alike_RPT = torch.einsum("rq,qpt->rpt", same_RQ.float(), gold_QPT.float()) > 0
    return alike_RPT & ~gold_QPT[rows_R]


def coherency_loss(batch: PhraseBatch, vectors_PTD: Tensor, questions: QuestionStates, config: ModelConfig) -> Tensor:
    """DenSPI's joint loss over all pairs start <= end of the passage, with coherency scores."""
    assert questions.coherency_B is not None
    _, _, left, right = config.split_parts
    own_QTD, content_QT = vectors_PTD[batch.owner_Q], batch.content_PT[batch.owner_Q]
    start_QT = torch.einsum("qd,qtd->qt", questions.start_BD, own_QTD)
    end_QT = torch.einsum("qd,qtd->qt", questions.end_BD, own_QTD)
    pairs_QTT = torch.einsum("qid,qjd->qij", own_QTD[..., left], own_QTD[..., right])
    total_QTT = start_QT[:, :, None] + end_QT[:, None, :] + pairs_QTT * questions.coherency_B[:, None, None]
    width = total_QTT.shape[-1]
    allowed_QTT = (
        content_QT[:, :, None] & content_QT[:, None, :] & torch.ones_like(total_QTT[0], dtype=torch.bool).triu()
    )
    gold_QTT = torch.zeros_like(allowed_QTT)
    for starts_Q, ends_Q in zip(batch.starts_QK.unbind(1), batch.ends_QK.unbind(1), strict=True):
        start_QT, end_QT = (one_hot_columns(columns_Q[:, None], width) for columns_Q in (starts_Q, ends_Q))
        gold_QTT |= start_QT[:, :, None] & end_QT[:, None, :]
    total_QTT = total_QTT.masked_fill(~allowed_QTT, -torch.inf)
    return marginal_loss(total_QTT.reshape(-1, width * width), gold_QTT.reshape(-1, width * width))


def gold_phrases(batch: PhraseBatch, vectors_PTD: Tensor, questions: QuestionStates) -> GoldPhrases:
    """The gold phrase of each question; of several occurrences, the one with the highest score."""
    start_QKD, end_QKD = (take_tokens(vectors_PTD, batch, columns) for columns in (batch.starts_QK, batch.ends_QK))
    with torch.no_grad():
        scores_QK = torch.einsum("qkd,qd->qk", start_QKD, questions.start_BD)
        scores_QK = scores_QK + torch.einsum("qkd,qd->qk", end_QKD, questions.end_BD)
        best_Q1 = scores_QK.masked_fill(batch.starts_QK < 0, -torch.inf).argmax(dim=1, keepdim=True)
    start_Q1, end_Q1 = batch.starts_QK.gather(1, best_Q1), batch.ends_QK.gather(1, best_Q1)
    return GoldPhrases(
        start_ND=take_tokens(vectors_PTD, batch, start_Q1).squeeze(1),
        end_ND=take_tokens(vectors_PTD, batch, end_Q1).squeeze(1),
        answer_N=batch.answer_Q,
        passage_N=batch.passage_Q,
        start_N=start_Q1.squeeze(1) + batch.shift_Q,
        end_N=end_Q1.squeeze(1) + batch.shift_Q,
        valid_N=batch.weight_Q > 0,
    )


def take_tokens(vectors_PTD: Tensor, batch: PhraseBatch, columns_QK: Tensor) -> Tensor:
    """The vectors (Q, K, D) at the given columns of each question's passage; arbitrary where a column is -1."""
    flat_QK = batch.owner_Q[:, None] * vectors_PTD.shape[1] + columns_QK.clamp_min(0)
    taken = vectors_PTD.flatten(0, 1).index_select(0, flat_QK.flatten())
    return taken.reshape(*columns_QK.shape, -1)


def gold_positions(batch: PhraseBatch) -> Tensor:
    """(P, T, 2): whether a token starts or ends a gold phrase of any question of the passage."""
    width = batch.content_PT.shape[1]
    sides = []
    asked_Q1 = batch.weight_Q[:, None] > 0
    for columns_QK in (batch.starts_QK, batch.ends_QK):
        columns_QK = columns_QK.where(asked_Q1, -1)
        gold_PT = torch.zeros_like(batch.content_PT, dtype=torch.int64)
        gold_PT.index_add_(0, batch.owner_Q, one_hot_columns(columns_QK, width).long())
        sides.append(gold_PT > 0)
    return torch.stack(sides, dim=-1)


def one_hot_columns(columns_QK: Tensor, width: int) -> Tensor:
    """(Q, width) with True in the given columns; -1 is ignored."""
    return (columns_QK[:, :, None] == torch.arange(width, device=columns_QK.device)).any(dim=1)


def gold_negative_losses(questions: QuestionStates, candidates: GoldPhrases, first: int) -> Tensor:
    """L_neg of each question; the gold phrase of question i is candidate `first` + i."""
    own_Q = torch.arange(len(questions.start_BD), device=questions.start_BD.device) + first
    sides = (
        (questions.start_BD, candidates.start_ND, candidates.start_N),
        (questions.end_BD, candidates.end_ND, candidates.end_N),
    )
    losses_Q = []
    for queries_QD, golds_ND, position_N in sides:
        answer_N, passage_N = candidates.answer_N, candidates.passage_N
        own = (answer_N[own_Q], passage_N[own_Q], position_N[own_Q])
        excluded_QN = same_phrase(own, (answer_N, passage_N, position_N)) | ~candidates.valid_N
        losses_Q.append(negative_loss(queries_QD, golds_ND, excluded_QN, own_Q))
    return (losses_Q[0] + losses_Q[1]) / 2
