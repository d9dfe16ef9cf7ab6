"""The query encoder of a model on its own: all that query-side fine-tuning changes."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Self, TypeVar

import torch
from torch import Tensor

from densephrases.arrays import Floats
from densephrases.errors import ConfigError, ModelError
from densephrases.model.config import ModelConfig
from densephrases.model.encoder import DelegatingEncoder, Encoder
from densephrases.model.padding import TokenBatch
from densephrases.model.tasks import known_task_folder, task_config
from densephrases.model.tokenizer import Tokens
from densephrases.nn.checkpoint import load_weights, save_weights
from densephrases.nn.device import inference, to_device, to_numpy
from densephrases.nn.low_rank import LowRankMatrices
from densephrases.nn.phrase_model import PhraseModel
from densephrases.nn.towers import PASSAGE_TOWER, READING_ROLE, QuestionEncoding, QuestionStates

Model = TypeVar("Model", bound=PhraseModel)

QUESTION_WEIGHTS_FILE = "question.safetensors"
BACKBONE = "question_start."


class QuestionTower(QuestionEncoding):
    """A query encoder; its weights have the names they have in a `PhraseModel` that shares no backbone."""

    def __init__(self, config: ModelConfig, tokens: Tokens) -> None:
        super().__init__()
        if config.split:
            raise ConfigError("split=True: such a model's query encoder cannot be trained alone; use another model.")
        self.config = config.with_own_questions()
        self.tokens = tokens
        self.may_share_backbone = config.share
        self.shares_backbone = False  # set by `learn_beside`
        self._build_question_backbones()
        self._build_question_heads()

    @classmethod
    def from_model(cls, model: PhraseModel) -> Self:
        """A copy of a model's query encoder; a backbone that it shares with the passages is copied too."""
        tower = cls(model.config, model.tokens)
        tower.load_state_dict(tower.state_of(model.state_dict()))
        return tower.to(next(model.parameters()).device)

    def learn_beside(self, rank: int, layers: int | None = None) -> None:
        """Trains only the heads and matrices of that rank beside the backbone, which stays that of the passages."""
        if not self.may_share_backbone:
            raise ConfigError(
                f"rank={rank}: questions of this model have a backbone of their own; train all of it with rank=0, or "
                "start from a model whose passages and questions share one."
            )
        if not self.config.question_rank:
            self.config = replace(self.config, question_rank=rank, question_layers=layers)
            matrices = LowRankMatrices(self.question_start, rank, layers)
            self.question_matrices = matrices.to(next(self.parameters()).device)
        found = self.config.question_rank, self.config.question_layers
        if found != (rank, layers):
            raise ConfigError(
                f"The model's questions have matrices of rank {found[0]} beside {found[1] or 'all'} layers, not of "
                f"rank {rank} beside {layers or 'all'}; set rank and layers to that, or start from a model without."
            )
        self.question_start.requires_grad_(False)
        self.shares_backbone = True

    def copy(self) -> Self:
        """The same weights in freshly built modules on the CPU."""
        made = type(self)(self.whole_config, self.tokens)
        made.load_state_dict(self.state_dict())
        return made

    def state_of(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The query encoder's tensors among those of a whole model, under the names they have here."""
        shared = not any(name.startswith(BACKBONE) for name in weights)
        taken = {name: tensor for name, tensor in weights.items() if not name.startswith(PASSAGE_TOWER + READING_ROLE)}
        if shared:
            backbone = {name: tensor for name, tensor in weights.items() if name.startswith("passage.")}
            taken |= {f"{BACKBONE}{name.removeprefix('passage.')}": tensor for name, tensor in backbone.items()}
        return taken

    @property
    def whole_config(self) -> ModelConfig:
        """Of a model with this query encoder."""
        return replace(self.config, share=True) if self.shares_backbone else self.config

    @property
    def own_weights(self) -> dict[str, Tensor]:
        """Without those of a backbone that belongs to the passages."""
        weights = self.state_dict()
        return {n: tensor for n, tensor in weights.items() if not (self.shares_backbone and n.startswith(BACKBONE))}

    @classmethod
    def load(cls, folder: Path, config: ModelConfig, tokens: Tokens) -> Self:
        tower = cls(config, tokens)
        load_weights(folder, tower, QUESTION_WEIGHTS_FILE)
        return tower

    def save(self, folder: Path) -> None:
        """Weights only; the caller writes the configuration."""
        folder.mkdir(parents=True, exist_ok=True)
        save_weights(folder / QUESTION_WEIGHTS_FILE, self)

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> QuestionStates:
        return self.question_states(ids, types, mask)


def with_questions(model: Model, tower: QuestionTower) -> Model:
    """A whole model of the passage tower of one and the question tower of another."""
    own = type(model)(tower.whole_config, model.tokens.tokenizer)
    kept = PASSAGE_TOWER + READING_ROLE
    passage = {name: tensor for name, tensor in model.state_dict().items() if name.startswith(kept)}
    own.load_state_dict(passage | tower.own_weights)
    own.product_quantizer = model.product_quantizer
    if own.passage_digest() != model.passage_digest():
        raise ModelError("The passage encoder would change, and indexes of the model would no longer fit.")
    return own


def load_task(folder: Path, task: str | None) -> PhraseModel:
    """A checkpoint with the query encoder of a task; None takes the default one."""
    model = PhraseModel.from_pretrained(folder)
    if task is None:
        return model
    place = known_task_folder(folder, task)
    config = task_config(folder, task, model.config.with_fingerprint(model.passage_fingerprint()))
    return with_questions(model, QuestionTower.load(place, config, model.tokens))


class AdaptedEncoder(DelegatingEncoder):
    """Encodes questions by a query encoder in torch and leaves passages to another encoder."""

    def __init__(self, base: Encoder, tower: QuestionTower) -> None:
        super().__init__(base, tower.config, tower.tokens)
        self.tower = tower
        self.tokens_per_chunk = base.tokens_per_chunk

    @property
    def query_encoder(self) -> None:
        """What was fitted to those of the model's folder does not apply to this one."""
        return

    @cached_property
    def device(self) -> torch.device:
        return next(self.tower.parameters()).device

    def forward_questions(self, batch: TokenBatch) -> tuple[Floats, Floats, Floats | None]:
        # In float32, unlike passages: questions are short, and their vectors rank phrases with close scores.
        with inference(self.tower, self.device), torch.autocast(self.device.type, enabled=False):
            states = self.tower.question_states(*to_device(batch, self.device))
        return to_numpy(states.start_BD), to_numpy(states.end_BD), None
