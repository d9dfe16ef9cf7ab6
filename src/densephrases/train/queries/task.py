"""Query-side fine-tuning (paper §6): the query encoder learns to retrieve answers from a frozen index.

For every question the best phrases are retrieved from the index. The loss is -log of the total probability that the
softmax over their scores assigns to the relevant ones. Only the query encoder changes.

Shape suffixes: Q questions, K phrases of a question, D vector size.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from densephrases.data.questions import OpenQuestion
from densephrases.errors import ConfigError
from densephrases.model.encoder import QuestionVectors
from densephrases.model.tokenizer import Ids
from densephrases.nn.backbone import backbone_parameters
from densephrases.nn.question_tower import AdaptedEncoder, QuestionTower
from densephrases.nn.towers import QuestionStates
from densephrases.search.confidence import RIVALS
from densephrases.search.scoring.windows import Queries
from densephrases.train.loop.loop import LoopConfig
from densephrases.train.loop.tensors import Inputs, Tensors, inputs
from densephrases.train.phrases.losses import marginal_loss
from densephrases.train.phrases.sampling import length_pools
from densephrases.train.queries.adaptation import Coverage
from densephrases.train.queries.best_epoch import MEASURES, BestEpoch, DevScores
from densephrases.train.queries.retrieve import Finder, Found, Lookup
from densephrases.train.queries.target import Target


@dataclass(frozen=True, kw_only=True)
class QuerySettings:
    """Settings of query-side fine-tuning; the defaults are the paper's.

    Attributes:
        target: What has to be retrieved: the answer itself, the answer in a relevant document, or a passage or document
            that contains it.
        top_k: Retrieved results per question that enter the loss.
        batch_size: Questions per step; questions without a relevant result do not count.
        refresh_every: Steps between two retrievals. Each retrieval covers only the questions of the next steps, so a
            smaller value costs no more.
        effort: Effort of the retrieval, from 0 (fast) to 1 (exact).
        freeze_embeddings: Do not train the word embeddings.
        rank: Train matrices of this rank beside the backbone that questions share with passages, and the heads; 0
            trains a backbone of their own.
        layers: With `rank`, beside how many of the backbone's last layers; None: all.
        keep_weight: Weight of the squared change of the vectors of questions to keep, relative to their length.
        processes: Processes that retrieve in parallel; None takes one per core of a large machine.
        hold_out: Share of the questions that are not learned from but select the best epoch, if no others are given.
    """

    target: Target = "phrase"
    top_k: int = 100
    batch_size: int = 12
    refresh_every: int = 50
    effort: float = 0.5
    freeze_embeddings: bool = True
    rank: int = 0
    layers: int | None = None
    keep_weight: float = 10.0
    processes: int | None = None
    hold_out: float = 0.2
    loop: LoopConfig = field(
        default_factory=lambda: LoopConfig(epochs=10, learning_rate=3e-5, evaluate_every=1, checkpoint_every=500)
    )

    def __post_init__(self) -> None:
        if self.target not in MEASURES:
            raise ConfigError(f"target={self.target!r} is unknown; expected one of {', '.join(MEASURES)}.")
        for name, least in (("top_k", 2), ("batch_size", 1), ("refresh_every", 1), ("rank", 0)):
            if getattr(self, name) < least:
                raise ConfigError(f"{name}={getattr(self, name)} is too small; expected at least {least}.")
        if self.layers is not None and self.layers < 1:
            raise ConfigError(f"layers={self.layers} is too small; expected at least 1, or none for all.")
        if not self.keep_weight >= 0:
            raise ConfigError(f"keep_weight={self.keep_weight} is no weight; expected at least 0.")


@dataclass(frozen=True)
class KeptBatch(Tensors):
    """Questions whose vectors shall stay as they were."""

    tokens: Inputs
    start_KD: Tensor
    end_KD: Tensor


@dataclass(frozen=True)
class QueryBatch(Tensors):
    tokens: Inputs
    start_QKD: Tensor
    end_QKD: Tensor
    penalty_QK: Tensor  # subtracted from the scores: length and lexical penalties, inf where there is no phrase
    right_QK: Tensor
    weight_Q: Tensor  # 0 on padding rows
    token_count: int
    kept: KeptBatch | None = None


class QueryTask:
    """Query-side fine-tuning as a task of the training loop: batches, retrieval, losses, evaluation.

    An epoch of the loop is a round here: the steps between two retrievals.
    """

    def __init__(
        self,
        settings: QuerySettings,
        encoder: AdaptedEncoder,
        asked: Sequence[OpenQuestion],
        dev: Sequence[OpenQuestion],
        look_up: Finder,
        store: Lookup,
        keep: Sequence[OpenQuestion] = (),
    ) -> None:
        self.settings, self.encoder, self.asked, self.dev = settings, encoder, asked, dev
        self.look_up, self.store = look_up, store
        self.model: QuestionTower = encoder.tower
        self.ids, self.dev_ids = (self.model.tokens.questions([each.text for each in of]) for of in (asked, dev))
        self.kept_ids = self.model.tokens.questions([each.text for each in keep])
        self.kept_vectors: QuestionVectors | None = None  # of the untrained query encoder
        self.backbone_parameters = len(self.model.backbones) * backbone_parameters(self.model.question_start)
        self.rounds_per_epoch = -(-len(self._epoch_plan(0)) // settings.refresh_every)
        self.hits = np.zeros(settings.loop.epochs, dtype=np.int64)
        self.best = BestEpoch()
        self.fitted_confidence: dict[str, float] | None = None
        self._rows: tuple[int, dict[int, int], Found] | None = None  # round, row of each question, retrieved results
        self._restored: tuple[int, Found] | None = None
        self._rows_per_batch = 0
        self._tokens_multiple = 8

    @property
    def loop(self) -> LoopConfig:
        """The loop's settings, counted in rounds."""
        every = self.settings.loop.evaluate_every if self.dev else None
        return replace(
            self.settings.loop,
            epochs=self.settings.loop.epochs * self.rounds_per_epoch,
            evaluate_every=None if every is None else every * self.rounds_per_epoch,
        )

    @property
    def coverage(self) -> Coverage:
        return Coverage(len(self.asked), tuple(self.hits.tolist()))

    def prepare(self, device: torch.device, world: int, fixed_shapes: bool) -> None:
        if self.kept_ids and self.settings.keep_weight:
            self.kept_vectors = self.encoder.encode_tokenized_questions(self.kept_ids)
        if fixed_shapes:
            self._rows_per_batch = max(
                len(b) for epoch in range(self.settings.loop.epochs) for b in self._epoch_plan(epoch)
            )
            self._tokens_multiple = 16
        if self.dev:
            self.best.offer(self.dev_scores(), self.model)

    def plan(self, epoch: int) -> list[list[int]]:
        """The batches of a round, as question numbers."""
        number, piece = divmod(epoch, self.rounds_per_epoch)
        batches = self._epoch_plan(number)
        edges = np.linspace(0, len(batches), self.rounds_per_epoch + 1).round().astype(int).tolist()
        return batches[edges[piece] : edges[piece + 1]]

    def _epoch_plan(self, epoch: int) -> list[list[int]]:
        rng = np.random.default_rng((self.settings.loop.seed, epoch))
        units = [[number] for number in range(len(self.asked))]
        size = self.settings.batch_size
        return length_pools(units, size=len, length=lambda unit: len(self.ids[unit[0]]), capacity=size, rng=rng)

    def begin_epoch(self, epoch: int) -> None:
        """Retrieves for the round's questions, unless a checkpoint holds the results of the current round."""
        numbers = [number for batch in self.plan(epoch) for number in batch]
        if self._restored is not None and self._restored[0] == epoch:
            found = self._restored[1]
        else:
            asked, ids = [self.asked[number] for number in numbers], [self.ids[number] for number in numbers]
            found = self._found(asked, ids, self.settings.top_k)
            self.hits[epoch // self.rounds_per_epoch] += int(found.hit_Q.sum())
        self._restored = None
        self._rows = epoch, {number: row for row, number in enumerate(numbers)}, found

    def _found(self, asked: Sequence[OpenQuestion], ids: Sequence[Ids], k: int) -> Found:
        vectors = self.encoder.encode_tokenized_questions(ids)
        return self.look_up(Queries(vectors.start_BD, vectors.end_BD), asked, k)

    def _hits_of(self, planned: Sequence[int]) -> list[int]:
        """Questions with a relevant result."""
        assert self._rows is not None
        _, row_of, found = self._rows
        hit_Q = found.hit_Q
        return [number for number in planned if hit_Q[row_of[number]]]

    def size(self, planned: list[int]) -> int:
        return max(len(self._hits_of(planned)), 1)

    def local(self, planned: list[int], rank: int, world: int) -> QueryBatch:
        assert self._rows is not None
        _, row_of, found = self._rows
        own = self._hits_of(planned)[rank::world]
        numbers = own or planned[:1]
        rows = numbers + numbers[:1] * (self._rows_per_batch - len(numbers))
        chosen = found.take(np.array([row_of[number] for number in rows]))
        start_QKD, end_QKD = self.store.vectors(chosen)
        there_QK = chosen.segment_QK >= 0
        penalty_QK = self.model.config.length_penalty * chosen.length_QK + chosen.penalty_QK
        penalty_QK = np.where(there_QK, penalty_QK, np.inf)
        right_QK = chosen.right_QK if own else there_QK  # all relevant: zero loss, for a process without a question
        ids = [self.ids[number] for number in rows]
        return QueryBatch(
            inputs(ids, [np.zeros_like(row) for row in ids], self.model.tokens.pad_id, self._tokens_multiple),
            start_QKD=torch.from_numpy(start_QKD),
            end_QKD=torch.from_numpy(end_QKD),
            penalty_QK=torch.from_numpy(penalty_QK.astype(np.float32)),
            right_QK=torch.from_numpy(right_QK),
            weight_Q=(torch.arange(len(rows)) < len(own)).float(),
            token_count=sum(len(self.ids[number]) for number in own),
            kept=self._kept(planned, rank, world),
        )

    def _kept(self, planned: Sequence[int], rank: int, world: int) -> KeptBatch | None:
        """As many questions to keep as a batch has others, drawn anew for each."""
        assert self._rows is not None
        if (vectors := self.kept_vectors) is None:
            return None
        rng = np.random.default_rng((self.settings.loop.seed, self._rows[0], planned[0], rank))
        chosen = rng.integers(len(self.kept_ids), size=-(-self.settings.batch_size // world))
        ids = [self.kept_ids[number] for number in chosen]
        return KeptBatch(
            inputs(ids, [np.zeros_like(row) for row in ids], self.model.tokens.pad_id, self._tokens_multiple),
            torch.from_numpy(vectors.start_BD[chosen]),
            torch.from_numpy(vectors.end_BD[chosen]),
        )

    def losses(self, model: nn.Module, batch: QueryBatch) -> dict[str, Tensor]:
        questions: QuestionStates = model(*batch.tokens.arguments)
        with torch.autocast(batch.start_QKD.device.type, enabled=False):  # bfloat16 is too coarse for ranking
            scores_QK = phrase_scores(questions.float(), batch.start_QKD, batch.end_QKD) - batch.penalty_QK
            loss = (marginal_loss(scores_QK, batch.right_QK) * batch.weight_Q).sum()
        if batch.kept is None:
            return {"loss": loss}
        changed_K = relative_change(model(*batch.kept.tokens.arguments).float(), batch.kept)
        changed = changed_K.mean() * batch.weight_Q.sum()
        return {"loss": loss + self.settings.keep_weight * changed, "right": loss, "changed": changed}

    def floating_point_operations(self, batch: QueryBatch) -> float:
        return 6.0 * self.backbone_parameters * batch.token_count

    def evaluate(self) -> dict[str, float]:
        if self.dev and not self.best.restored:
            self.best.offer(self.dev_scores(), self.model)
            return self.best.last
        return self.best.summary

    def dev_scores(self) -> DevScores:
        return DevScores.from_found(self._found(self.dev, self.dev_ids, RIVALS), self.settings.target)

    def save(self, folder: Path) -> None:
        """Puts the best query encoder in place; the caller of the training writes the model."""
        self.best.restore(self.model)

    def state(self) -> dict[str, Tensor]:
        assert self._rows is not None
        epoch, _, found = self._rows
        arrays = {f"found.{f.name}": getattr(found, f.name) for f in fields(found)}
        arrays |= {"round": np.array([epoch]), "hits": self.hits}
        return {name: torch.from_numpy(array) for name, array in arrays.items()} | self.best.state()

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        found = Found(*(state[f"found.{f.name}"].numpy() for f in fields(Found)))
        self._restored = int(state["round"]), found
        self.hits = state["hits"].numpy().copy()
        self.best.load_state(state)


def relative_change(questions: QuestionStates, kept: KeptBatch) -> Tensor:
    """Squared distance of each question's vectors from what they were, relative to their squared length."""
    moved_K = squared_length(questions.start_BD - kept.start_KD) + squared_length(questions.end_BD - kept.end_KD)
    return moved_K / (squared_length(kept.start_KD) + squared_length(kept.end_KD))


def squared_length(vectors_KD: Tensor) -> Tensor:
    return vectors_KD.square().sum(-1)


def phrase_scores(questions: QuestionStates, start_QKD: Tensor, end_QKD: Tensor) -> Tensor:
    """Inner products of each question with its retrieved phrases."""
    starts_QK = torch.einsum("qd,qkd->qk", questions.start_BD, start_QKD)
    return starts_QK + torch.einsum("qd,qkd->qk", questions.end_BD, end_QKD)
