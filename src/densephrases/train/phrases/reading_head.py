"""Training the reading head: question and passage as one input, normalised over several passages.

A question is read in its own passage and in the passages of the batch that its phrase scores confuse with it. One
softmax over all their tokens makes the logits of different passages comparable, which verification needs. The same
distribution teaches the phrase scores to tell these passages apart.

Shape suffixes: Q questions, P passages, T tokens of a passage, R questions that are read, C passages read for each,
W tokens of a question and a passage.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import log_softmax, pad

from densephrases.errors import ConfigError
from densephrases.model.tokenizer import Tokens
from densephrases.nn.phrase_model import EncoderInputs
from densephrases.nn.towers import QuestionStates
from densephrases.train.phrases.batches import PhraseBatch
from densephrases.train.phrases.losses import Direction, distillation_loss, marginal_loss
from densephrases.train.phrases.objective import gold_elsewhere, one_hot_columns, phrase_scores


@dataclass(frozen=True, kw_only=True)
class ReadingPlan:
    """What is read in each batch.

    Attributes:
        questions: Questions per batch; 0 trains no reading head.
        passages: Passages for each: its own and the most confused ones of the batch.
        teach_from: First epoch (from 0) in which what is read teaches the phrase scores.
        unanswerable: Further questions per batch that their passage does not answer, if the data has any.
        rank: Rank of matrices that reading adds to those of the backbone, which then alone are trained, with the head:
            passage and question vectors stay as they are. 0 trains everything.
    """

    questions: int = 0
    passages: int = 4
    teach_from: int = 1
    unanswerable: int = 0
    rank: int = 0

    def __post_init__(self) -> None:
        if self.questions < 0 or self.passages < 1:
            raise ConfigError(
                f"reading.questions={self.questions} and reading.passages={self.passages} must be at least 0 and 1."
            )
        if self.unanswerable < 0 or (self.unanswerable and not self.questions):
            raise ConfigError(
                f"reading.unanswerable={self.unanswerable} must be at least 0, and 0 without reading.questions."
            )
        if self.rank < 0 or (self.rank and not self.questions):
            raise ConfigError(f"reading.rank={self.rank} must be at least 0, and 0 without reading.questions.")


@dataclass(frozen=True)
class ReadingLayout:
    """Where the tokens of questions and passages stand in the inputs of the reader."""

    question_R: Tensor  # rows of the questions
    passage_RC: Tensor  # rows of the passages, each question's own first
    shift_R: Tensor  # column in the reader's input minus column in the passage

    @classmethod
    def most_confused(cls, batch: PhraseBatch, bounds_RP: Tensor, plan: ReadingPlan, before: int) -> "ReadingLayout":
        """Own passages, and those that the phrase scores rank highest; `before` special tokens begin a passage."""
        question_R = batch.read_R
        own_R1 = batch.owner_Q[question_R][:, None]
        others_RP = bounds_RP.scatter(1, own_R1, -torch.inf)
        count = min(plan.passages - 1, others_RP.shape[1] - 1)
        passage_RC = torch.cat([own_R1, others_RP.topk(count, dim=1).indices], dim=1)
        lengths_Q = torch.cat([group.mask.sum(dim=1) for group in batch.questions])
        return cls(question_R, passage_RC, lengths_Q[question_R] - before)


def passage_bounds(batch: PhraseBatch, vectors_PTD: Tensor, questions: QuestionStates) -> Tensor:
    """(R, P): the best start plus the best end of each passage, less its lexical penalty, as search ranks them."""
    with torch.no_grad():
        asked = (side_QD[batch.read_R] for side_QD in (questions.start_BD, questions.end_BD))
        start_RP, end_RP = (phrase_scores(side_RD, vectors_PTD, batch).amax(dim=-1) for side_RD in asked)
        return start_RP + end_RP - batch.penalty_QP[batch.read_R]


def reading_inputs(batch: PhraseBatch, layout: ReadingLayout, tokens: Tokens) -> EncoderInputs:
    """Each question before each of its passages, as `Tokens.reading_window` puts it."""
    width = max(group.ids.shape[1] for group in batch.questions)
    ids_QW = torch.cat([pad(group.ids, (0, width - group.ids.shape[1])) for group in batch.questions])
    asked_RW, passage_RC = ids_QW[layout.question_R], layout.passage_RC
    count, each = passage_RC.shape
    column_W = torch.arange(width + batch.passages.ids.shape[1], device=ids_QW.device)
    of_question_RW = column_W < (layout.shift_R + len(tokens.specials.before))[:, None]
    inside_RW = (column_W - layout.shift_R[:, None]).clamp(0, batch.passages.ids.shape[1] - 1)
    beyond_RW = column_W - layout.shift_R[:, None] >= batch.passages.ids.shape[1]
    from_passage_RCW = inside_RW[:, None].expand(-1, each, -1)
    text_RCW = batch.passages.ids[passage_RC].gather(2, from_passage_RCW)
    seen_RCW = batch.passages.mask[passage_RC].gather(2, from_passage_RCW).bool() & ~beyond_RW[:, None]
    asked_RW = asked_RW.gather(1, column_W.clamp(max=width - 1).expand(count, -1))
    ids_RCW = torch.where(of_question_RW[:, None], asked_RW[:, None], text_RCW)
    mask_RCW = of_question_RW[:, None] | seen_RCW
    first, second = tokens.specials.types
    types_RCW = torch.where(of_question_RW[:, None] | ~mask_RCW, first, second)
    ids_RCW = ids_RCW.masked_fill(~mask_RCW, tokens.pad_id)
    return ids_RCW.flatten(0, 1), types_RCW.expand_as(ids_RCW).flatten(0, 1), mask_RCW.long().flatten(0, 1)


def on_passages(logits_NW2: Tensor, batch: PhraseBatch, layout: ReadingLayout) -> Tensor:
    """(2, R, C, T): the reader's start and end logits on the columns of the passages; -inf outside their text."""
    count, each = layout.passage_RC.shape
    width = batch.content_PT.shape[1]
    logits_RCW2 = logits_NW2.float().reshape(count, each, *logits_NW2.shape[1:])
    column_RT = torch.arange(width, device=logits_NW2.device) + layout.shift_R[:, None]
    column_RCT2 = column_RT[:, None, :, None].expand(-1, each, -1, 2)
    logits_RCT2 = logits_RCW2.gather(2, column_RCT2)
    return logits_RCT2.masked_fill(~batch.content_PT[layout.passage_RC][..., None], -torch.inf).movedim(-1, 0)


def reading_losses(
    batch: PhraseBatch,
    vectors_PTD: Tensor,
    questions: QuestionStates,
    logits_NW2: Tensor,
    layout: ReadingLayout,
    divergence: Direction,
) -> dict[str, Tensor]:
    """Sums over questions, as large as if all of them were read.

    `reading` is the likelihood of the answer among all tokens read, `reading_distill` the divergence from the teacher
    within the own passage, `across` that of the phrase scores from what was read. `null` is the likelihood of the
    answer within the own passage, and of the first token, which says that there is none, in every other one.
    """
    sums: dict[str, Tensor] = {}
    read = layout.question_R
    scale = batch.weight_Q.sum() / batch.weight_Q[read].sum().clamp_min(1) / 2
    weight_R, unanswerable_R = batch.weight_Q[read] * scale, batch.unanswerable_Q[read]
    null_RC2 = logits_NW2[:, 0].float().reshape(*layout.passage_RC.shape, 2)
    sides = (
        (questions.start_BD, batch.starts_QK, batch.teacher_start_QT),
        (questions.end_BD, batch.ends_QK, batch.teacher_end_QT),
    )
    for logits_RCT, null_RC, (vectors_QD, columns_QK, teacher_QT) in zip(
        on_passages(logits_NW2, batch, layout), null_RC2.unbind(-1), sides, strict=True
    ):
        width = logits_RCT.shape[-1]
        gold_QT = one_hot_columns(columns_QK, width)
        place_RCT = layout.passage_RC[..., None].expand(-1, -1, width)
        elsewhere_RCT = gold_elsewhere(batch, gold_QT, read).gather(1, place_RCT)
        logits_RCT = logits_RCT.masked_fill(elsewhere_RCT, -torch.inf)
        gold_RCT = torch.zeros_like(logits_RCT, dtype=torch.bool)
        gold_RCT[:, 0] = gold_QT[read]
        terms = {"reading": marginal_loss(logits_RCT.flatten(1), gold_RCT.flatten(1))}
        if teacher_QT is not None:
            terms["reading_distill"] = distillation_loss(logits_RCT[:, 0], teacher_QT[read], divergence)
        ranked_RPT = phrase_scores(vectors_QD[read], vectors_PTD, batch) - batch.penalty_QP[read][..., None] / 2
        ranked_RCT = ranked_RPT.gather(1, place_RCT).masked_fill(elsewhere_RCT, -torch.inf)
        taught_RN = log_softmax(logits_RCT.flatten(1).detach(), dim=-1)
        terms["across"] = distillation_loss(ranked_RCT.flatten(1), taught_RN, divergence)
        null_R = null_loss(logits_RCT, null_RC, gold_RCT & (unanswerable_R == 0)[:, None, None], elsewhere_RCT)
        sums["null"] = sums.get("null", 0) + (null_R * (weight_R + unanswerable_R * scale)).sum()
        for name, value_R in terms.items():
            sums[name] = sums.get(name, torch.zeros((), device=value_R.device)) + (value_R * weight_R).sum()
    return sums


def null_loss(logits_RCT: Tensor, null_RC: Tensor, gold_RCT: Tensor, elsewhere_RCT: Tensor) -> Tensor:
    """For each question that of its own passage, the first, and the mean of the others.

    Each passage has a distribution over its tokens and the null logit, which is right where no token is. Passages
    that hold the answer of another question with an equal one may answer this one too, and are left out.
    """
    scores_RCN = torch.cat([logits_RCT, null_RC[..., None]], dim=-1)
    gold_RCN = torch.cat([gold_RCT, ~gold_RCT.any(dim=-1, keepdim=True)], dim=-1)
    losses_RC = marginal_loss(scores_RCN, gold_RCN)
    others_RC = ~elsewhere_RCT.any(dim=-1)
    others_RC[:, 0] = False
    of_others_R = (losses_RC * others_RC).sum(dim=1) / others_RC.sum(dim=1).clamp_min(1)
    return losses_RC[:, 0] + of_others_R
