"""Query-side fine-tuning (paper §6): question encoders learn to find answers in a frozen index.

For every question the best phrases are looked up in the index. The loss is -log of the probability that the softmax of
their scores gives to the right ones together. Nothing but the query encoder changes.

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
from densephrases.train.queries.best_epoch import MEASURES, Best, DevScores
from densephrases.train.queries.relevance import Target
from densephrases.train.queries.retrieve import Finder, Found, Lookup


@dataclass(frozen=True, kw_only=True)
class QuerySettings:
    """How a query encoder is learned; the defaults are the paper's.

    Attributes:
        target: What must be found: the answer itself, the answer in a relevant document, or a passage or a document
            that holds it.
        top_k: Results that are looked up for each question and compete in the loss.
        batch_size: Questions of a step; those without anything right among their results do not count.
        refresh_every: Steps between lookups. Each looks up the questions of the steps to come with the encoders as
            they are, so that fresher results cost no more.
        effort: Of the lookup, from 0, fast, to 1, exact.
        freeze_embeddings: Keep the word embeddings.
        processes: That look up questions tower by tower; None takes one for each core of a large machine.
    """

    target: Target = "phrase"
    top_k: int = 100
    batch_size: int = 12
    refresh_every: int = 50
    effort: float = 0.5
    freeze_embeddings: bool = True
    processes: int | None = None
    loop: LoopConfig = field(
        default_factory=lambda: LoopConfig(epochs=10, learning_rate=3e-5, evaluate_every=1, checkpoint_every=500)
    )

    def __post_init__(self) -> None:
        if self.target not in MEASURES:
            raise ConfigError(f"target={self.target!r} is unknown; expected one of {', '.join(MEASURES)}.")
        for name, least in (("top_k", 2), ("batch_size", 1), ("refresh_every", 1)):
            if getattr(self, name) < least:
                raise ConfigError(f"{name}={getattr(self, name)} is too small; expected at least {least}.")


@dataclass(frozen=True, slots=True)
class Coverage:
    """What became of the training questions: without a right result in an epoch, a question was skipped in it."""

    questions: int
    hits: tuple[int, ...]  # of each epoch, questions with a right result

    def __str__(self) -> str:
        first, last = (f"{self.questions - hits:,}" for hits in (self.hits[0], self.hits[-1]))
        return f"{self.questions:,}, of which {first} were skipped in the first epoch and {last} in the last"


@dataclass(frozen=True)
class QueryBatch(Tensors):
    tokens: Inputs
    start_QKD: Tensor
    end_QKD: Tensor
    penalty_QK: Tensor  # taken off the scores: for length and the words of the question, inf where there is no phrase
    right_QK: Tensor
    weight_Q: Tensor  # 0 on rows that only fill up the shape
    token_count: int


class QueryTask:
    """Plans, lookups, losses and evaluation of a query encoder, for the loop.

    What the loop takes for an epoch is a round: as many steps as go by between two lookups.
    """

    def __init__(
        self,
        settings: QuerySettings,
        encoder: AdaptedEncoder,
        asked: Sequence[OpenQuestion],
        dev: Sequence[OpenQuestion],
        look_up: Finder,
        store: Lookup,
    ) -> None:
        self.settings, self.encoder, self.asked, self.dev = settings, encoder, asked, dev
        self.look_up, self.store = look_up, store
        self.model: QuestionTower = encoder.tower
        self.ids, self.dev_ids = (self.model.tokens.questions([each.text for each in of]) for of in (asked, dev))
        self.backbone_parameters = len(self.model.backbones) * backbone_parameters(self.model.question_start)
        self.rounds_per_epoch = -(-len(self._epoch_plan(0)) // settings.refresh_every)
        self.hits = np.zeros(settings.loop.epochs, dtype=np.int64)
        self.best = Best()
        self._rows: tuple[int, dict[int, int], Found] | None = None  # of a round: where each question's results are
        self._restored: tuple[int, Found] | None = None
        self._rows_per_batch = 0
        self._tokens_multiple = 8

    @property
    def loop(self) -> LoopConfig:
        """As the loop counts."""
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
        if fixed_shapes:
            self._rows_per_batch = max(
                len(b) for epoch in range(self.settings.loop.epochs) for b in self._epoch_plan(epoch)
            )
            self._tokens_multiple = 16
        if self.dev:
            self.best.offer(self.dev_scores(), self.model)

    def plan(self, epoch: int) -> list[list[int]]:
        """The batches of a round, as numbers of questions."""
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
        """Looks up the round's questions, unless a checkpoint holds what was found when the round began."""
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
        """Those with something right among their results."""
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
        right_QK = chosen.right_QK if own else there_QK  # all right: no loss, where there is no question to learn from
        ids = [self.ids[number] for number in rows]
        return QueryBatch(
            inputs(ids, [np.zeros_like(row) for row in ids], self.model.tokens.pad_id, self._tokens_multiple),
            start_QKD=torch.from_numpy(start_QKD),
            end_QKD=torch.from_numpy(end_QKD),
            penalty_QK=torch.from_numpy(penalty_QK.astype(np.float32)),
            right_QK=torch.from_numpy(right_QK),
            weight_Q=(torch.arange(len(rows)) < len(own)).float(),
            token_count=sum(len(self.ids[number]) for number in own),
        )

    def losses(self, model: nn.Module, batch: QueryBatch) -> dict[str, Tensor]:
        questions: QuestionStates = model(*batch.tokens.arguments)
        with torch.autocast(batch.start_QKD.device.type, enabled=False):  # bfloat16 is too coarse to rank by
            scores_QK = phrase_scores(questions.float(), batch.start_QKD, batch.end_QKD) - batch.penalty_QK
            loss_Q = marginal_loss(scores_QK, batch.right_QK)
        return {"loss": (loss_Q * batch.weight_Q).sum()}

    def floating_point_operations(self, batch: QueryBatch) -> float:
        return 6.0 * self.backbone_parameters * batch.token_count

    def evaluate(self) -> dict[str, float]:
        if self.dev and not self.best.taken:
            self.best.offer(self.dev_scores(), self.model)
            return self.best.last
        return self.best.summary

    def dev_scores(self) -> DevScores:
        return DevScores.of(self._found(self.dev, self.dev_ids, RIVALS), self.settings.target)

    def save(self, folder: Path) -> None:
        """Whoever asked for the training writes the model: the best tower is in place from here on."""
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


def phrase_scores(questions: QuestionStates, start_QKD: Tensor, end_QKD: Tensor) -> Tensor:
    """Each question's inner products with its own phrases."""
    starts_QK = torch.einsum("qd,qkd->qk", questions.start_BD, start_QKD)
    return starts_QK + torch.einsum("qd,qkd->qk", questions.end_BD, end_QKD)
