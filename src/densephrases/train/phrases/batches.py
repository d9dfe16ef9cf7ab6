"""A batch as tensors: passages, questions, answer positions and teacher distributions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from densephrases.model.tokenizer import Window
from densephrases.train.loop.tensors import Inputs, Tensors, columns, content_mask, inputs
from densephrases.train.phrases.distillation import Distributions
from densephrases.train.phrases.examples import PassageExample, QuestionExample
from densephrases.train.phrases.lexical_penalties import LexicalPenalties


@dataclass(frozen=True, kw_only=True)
class Padding:
    """The shape that a batch is padded to. Padding rows repeat the first row and have weight 0.

    With few different shapes, a GPU can replay captured steps.

    Attributes:
        questions: Minimum number of question rows.
        occurrences: Minimum number of occurrences per answer.
        passages: The number of passage rows is rounded up to a multiple of this.
        passage_tokens: The length of passages is rounded up to a multiple of this.
        question_tokens: The length of questions is rounded up to a multiple of this.
    """

    questions: int = 0
    occurrences: int = 0
    passages: int = 1
    passage_tokens: int = 8  # matrix units and attention kernels are fastest with multiples of 8
    question_tokens: int = 8

    @classmethod
    def fitting(cls, plans: Iterable[Sequence[Sequence[PassageExample]]]) -> Self:
        """Padding that fits every batch of the plans, in few different shapes."""
        batches = [batch for plan in plans for batch in plan]
        return cls(
            questions=max(sum(len(e.questions) for e in batch) for batch in batches),
            occurrences=max(len(q.spans) for batch in batches for e in batch for q in e.questions),
            passages=16,
            passage_tokens=32,
            question_tokens=16,
        )


@dataclass(frozen=True)
class PhraseBatch(Tensors):
    """Shapes: P passages, T tokens of a passage window, Q questions, K occurrences of an answer."""

    passages: Inputs
    questions: tuple[Inputs, ...]  # groups of rows, shorter questions first
    content_PT: Tensor  # True on tokens of the passage's text
    owner_Q: Tensor  # the row of each question's passage
    weight_Q: Tensor  # 0 on padding rows
    starts_QK: Tensor  # columns of the answer's first token, -1 after the last occurrence
    ends_QK: Tensor
    answer_Q: Tensor
    passage_Q: Tensor  # number of the passage in the data
    shift_Q: Tensor  # token position in the passage minus column
    penalty_QP: Tensor  # what search subtracts for the question's terms that the passage lacks
    read_R: Tensor  # rows of the questions that are read together with passages
    unanswerable_Q: Tensor  # 1 on questions that their passage does not answer, which are only read
    teacher_start_QT: Tensor | None  # log-probabilities
    teacher_end_QT: Tensor | None
    passage_tokens: int  # without padding
    question_tokens: int


def collate(
    examples: Sequence[PassageExample],
    pad_id: int,
    teacher: Distributions | None = None,
    padding: Padding | None = None,
    weight: float = 1.0,
    penalties: LexicalPenalties | None = None,
    read: int = 0,
    unanswerable: int = 0,
) -> PhraseBatch:
    """The batch as tensors; with weight 0 it does not contribute to the loss.

    `read` questions will be read, and besides at most `unanswerable` of those that their passage does not answer.
    """
    padding = padding or Padding()
    pairs = [(row, question) for row, e in enumerate(examples) for question in e.questions]
    rows = max(len(pairs), padding.questions) + unanswerable
    pairs += islice(((row, question) for row, e in enumerate(examples) for question in e.unanswerable), unanswerable)
    pairs.sort(key=lambda pair: len(pair[1].ids))
    real = len(pairs)
    pairs = [*pairs[:1] * (rows - real), *pairs]  # first, since rows are sorted by length
    is_real_Q = np.arange(len(pairs)) >= len(pairs) - real
    answerable_Q = is_real_Q & [bool(question.spans) for _, question in pairs]
    unanswerable_Q = is_real_Q & ~answerable_Q
    windows = [e.window for e in examples]
    windows += windows[:1] * (-len(windows) % padding.passages)
    passages = inputs([w.ids for w in windows], [w.types for w in windows], pad_id, padding.passage_tokens)
    width = passages.ids.shape[1]
    content = content_mask(windows, width)
    content[len(examples) :] = False
    spans = [_column_spans(q, windows[row]) for row, q in pairs]
    question_ids = [q.ids for _, q in pairs]
    penalty = np.zeros((len(pairs), len(windows)), dtype=np.float32)
    if penalties is not None:
        asked = [q.terms for _, q in pairs]
        penalty[:, : len(examples)] = penalties.between(asked, [e.passage for e in examples])
    teacher_start, teacher_end = None, None
    if teacher is not None:
        known = [teacher[q.id] for _, q in pairs]
        owners = [windows[row] for row, _ in pairs]
        teacher_start, teacher_end = (spread([k[side] for k in known], owners, width) for side in (0, 1))
    return PhraseBatch(
        passages=passages,
        questions=question_groups(question_ids, pad_id, padding.question_tokens),
        content_PT=torch.from_numpy(content),
        owner_Q=torch.tensor([row for row, _ in pairs]),
        weight_Q=torch.from_numpy(answerable_Q).float() * weight,
        starts_QK=columns([s[:, 0] for s in spans], padding.occurrences),
        ends_QK=columns([s[:, 1] for s in spans], padding.occurrences),
        answer_Q=torch.tensor([q.answer for _, q in pairs]),
        passage_Q=torch.tensor([examples[row].passage for row, _ in pairs]),
        shift_Q=torch.tensor([windows[row].start - windows[row].first for row, _ in pairs]),
        penalty_QP=torch.from_numpy(penalty),
        read_R=torch.from_numpy(_rows_to_read(answerable_Q, unanswerable_Q, read, unanswerable)),
        unanswerable_Q=torch.from_numpy(unanswerable_Q).float() * weight,
        teacher_start_QT=teacher_start,
        teacher_end_QT=teacher_end,
        passage_tokens=sum(len(e.window.ids) for e in examples),
        question_tokens=sum(map(len, question_ids[-real:])),
    )


def _column_spans(question: QuestionExample, window: Window) -> NDArray[np.int64]:
    """First and last columns of its answers; without one those of the first token, which count nowhere."""
    spans = question.spans or ((window.start, window.start),)
    return np.array(spans) + window.first - window.start


def _rows_to_read(
    answerable_Q: NDArray[np.bool_], unanswerable_Q: NDArray[np.bool_], read: int, unanswerable: int
) -> NDArray[np.int64]:
    """Answerable questions of all lengths, then all others; where these are too few, the first row, a filling one."""
    rows, others = np.flatnonzero(answerable_Q), np.flatnonzero(unanswerable_Q)
    picked = rows[np.linspace(0, len(rows) - 1, read).round().astype(np.int64)]
    return np.concatenate([picked, others, np.zeros(unanswerable - len(others), dtype=np.int64)])


def question_groups(ids: Sequence[NDArray[np.int64]], pad_id: int, multiple: int) -> tuple[Inputs, ...]:
    """Splits questions, sorted by length, into two groups, which need much less padding than one."""
    short = len(ids) * 3 // 4
    parts = [part for part in (ids[:short], ids[short:]) if part]
    return tuple(inputs(part, [np.zeros_like(row) for row in part], pad_id, multiple) for part in parts)


def spread(rows: Sequence[NDArray[np.float32]], windows: Sequence[Window], width: int) -> Tensor:
    """Log-probabilities over passage tokens, moved to the columns of the window; -inf elsewhere."""
    result = np.full((len(rows), width), -np.inf, dtype=np.float32)
    for target, row, w in zip(result, rows, windows, strict=True):
        target[w.first : w.first + w.stop - w.start] = row[w.start : w.stop]
    return torch.from_numpy(result)
