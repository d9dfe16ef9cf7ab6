"""What the two towers of a phrase model compute: base classes of the whole model and of each tower alone."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor, nn

from densephrases.model.config import ModelConfig
from densephrases.nn.backbone import Backbone, build_backbone
from densephrases.nn.low_rank import LowRankMatrices

# Shape suffixes: B rows of a batch, T tokens, D vector size, H hidden size.


@dataclass(frozen=True)
class QuestionStates:
    start_BD: Tensor
    end_BD: Tensor
    coherency_B: Tensor | None = None

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        coherency = [part.coherency_B for part in parts if part.coherency_B is not None]
        return cls(
            torch.cat([part.start_BD for part in parts]),
            torch.cat([part.end_BD for part in parts]),
            torch.cat(coherency) if coherency else None,
        )

    def float(self) -> Self:
        coherency_B = None if self.coherency_B is None else self.coherency_B.float()
        return replace(self, start_BD=self.start_BD.float(), end_BD=self.end_BD.float(), coherency_B=coherency_B)


class PassageEncoding(nn.Module):
    """Turns passages into one vector and two filter logits for each token."""

    config: ModelConfig
    passage: Backbone
    filter: nn.Linear
    projection: nn.Linear  # only in models with `dim`

    def _build_passage_heads(self) -> None:
        self.filter = nn.Linear(self.config.hidden, 2)
        if self.config.dim is not None:
            self.projection = nn.Linear(self.config.hidden, self.config.dim, bias=False)

    def passage_states(self, ids: Tensor, types: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Token vectors (B, T, D) and filter logits (B, T, 2)."""
        hidden_BTH = self.passage(ids, types, mask)
        vectors_BTD = self.projection(hidden_BTH) if self.config.dim is not None else hidden_BTH
        return vectors_BTD, self.filter(hidden_BTH)


class ReadingEncoding(nn.Module):
    """Reads question and passage as one input: two logits a token, by the passage backbone."""

    config: ModelConfig
    passage: Backbone
    reading: nn.Linear  # only in models that read
    reading_matrices: LowRankMatrices  # only with `reading_rank`

    def _build_reading_head(self) -> None:
        if self.config.reads:
            self.reading = nn.Linear(self.config.hidden, 2)
            if self.config.reading_rank:
                self.reading_matrices = LowRankMatrices(self.passage, self.config.reading_rank)

    def reading_states(self, ids: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        """Start and end logits (B, T, 2)."""
        with self.reading_matrices.added_to(self.passage) if self.config.reading_rank else nullcontext():
            hidden_BTH = self.passage(ids, types, mask)
        with torch.autocast(hidden_BTH.device.type, enabled=False):  # few operations, so float32 costs little
            logits_BT2: Tensor = self.reading(hidden_BTH.float())
        return logits_BT2


class QuestionEncoding(nn.Module):
    """Turns questions into two vectors each, by one backbone or two."""

    config: ModelConfig
    question_start: Backbone  # unless the passage backbone also encodes questions
    question_end: Backbone  # only in models with two question backbones
    start_head: nn.Linear  # only if one hidden vector becomes two, or with `dim`
    end_head: nn.Linear
    question_matrices: LowRankMatrices  # only with `question_rank`

    def _build_question_backbones(self) -> None:
        if not self.config.share:
            self.question_start = build_backbone(self.config.backbone)
        if not self.config.one_question_backbone:
            self.question_end = build_backbone(self.config.backbone)

    def _build_question_heads(self) -> None:
        config = self.config
        if config.dim is not None or (config.one_question_backbone and not config.split):
            self.start_head = nn.Linear(config.hidden, config.vector_size, bias=False)
            self.end_head = nn.Linear(config.hidden, config.vector_size, bias=False)
        if config.question_rank:
            backbone = self._first_question_backbone
            self.question_matrices = LowRankMatrices(backbone, config.question_rank, config.question_layers)

    @property
    def backbones(self) -> list[Backbone]:
        return [module for module in self.children() if isinstance(module, Backbone)]

    def freeze_word_embeddings(self) -> None:
        """All backbones keep the base model's word embeddings, as in the original; they are then stored once.

        Trained on a few questions, the embeddings of their words would move away from those of all other words.
        """
        for backbone in self.backbones:
            backbone.encoder.get_input_embeddings().weight.requires_grad_(False)

    @property
    def _first_question_backbone(self) -> Backbone:
        return self.question_start

    def question_states(self, ids: Tensor, types: Tensor, mask: Tensor) -> QuestionStates:
        backbone = self._first_question_backbone
        with self.question_matrices.added_to(backbone) if self.config.question_rank else nullcontext():
            first_BH = backbone(ids, types, mask)[:, 0]
        if self.config.split:
            return self._split_question(first_BH)
        second_BH = first_BH if self.config.one_question_backbone else self.question_end(ids, types, mask)[:, 0]
        if hasattr(self, "start_head"):
            return QuestionStates(self.start_head(first_BH), self.end_head(second_BH))
        return QuestionStates(first_BH, second_BH)

    def _split_question(self, cls_BH: Tensor) -> QuestionStates:
        """Each vector keeps its own part of the hidden vector and is zero elsewhere: search needs no special case."""
        start, end, left, right = self.config.split_parts
        start_BD, end_BD = torch.zeros_like(cls_BH), torch.zeros_like(cls_BH)
        start_BD[:, start], end_BD[:, end] = cls_BH[:, start], cls_BH[:, end]
        return QuestionStates(start_BD, end_BD, (cls_BH[:, left] * cls_BH[:, right]).sum(-1))


PASSAGE_TOWER = ("passage.", "projection.", "filter.")
READING_ROLE = ("reading.", "reading_matrices.")
