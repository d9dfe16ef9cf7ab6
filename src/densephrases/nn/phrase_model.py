"""The three encoders as a torch module (paper §3.2), with the architecture switches of Table 5."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from densephrases.arrays import Floats
from densephrases.errors import ConfigError
from densephrases.model.config import FINGERPRINT_DIGITS, ModelConfig
from densephrases.model.encoder import Encoder
from densephrases.model.folders import writable_folder
from densephrases.model.padding import TokenBatch
from densephrases.model.tokenizer import Tokens, load_tokenizer
from densephrases.nn.backbone import Backbone, build_backbone, load_backbone, read_config, read_tokenizer
from densephrases.nn.checkpoint import load_weights, save_folder
from densephrases.nn.device import inference, to_device, to_numpy
from densephrases.nn.towers import (
    PASSAGE_TOWER,
    READING_ROLE,
    PassageEncoding,
    QuestionEncoding,
    QuestionStates,
    ReadingEncoding,
)
from densephrases.quantize.codebooks import ProductQuantizer

# Shape suffixes: B rows of a batch, T tokens, D vector size, H hidden size.


EncoderInputs = tuple[Tensor, Tensor, Tensor]
"""Token ids, token types and attention mask."""


class PhraseModel(PassageEncoding, QuestionEncoding, ReadingEncoding):
    """Passage encoder, question encoders, filter and perhaps a reading head; `encoder()` turns text into vectors."""

    def __init__(self, config: ModelConfig, tokenizer: Tokenizer) -> None:
        super().__init__()
        self.config = config
        self.tokens = Tokens(tokenizer, config)
        self.product_quantizer: ProductQuantizer | None = None
        self.passage = build_backbone(config.backbone)
        self._build_question_backbones()
        self._build_passage_heads()
        self._build_question_heads()
        self._build_reading_head()
        self._init_heads()

    def _init_heads(self) -> None:
        """All heads start as the same (near-)isometry, so that inner products are meaningful from the start."""
        heads = [getattr(self, name) for name in ("projection", "start_head", "end_head") if hasattr(self, name)]
        for head in heads:
            if self.config.dim is None:
                nn.init.eye_(head.weight)
            else:
                nn.init.orthogonal_(head.weight, generator=torch.Generator().manual_seed(0))

    def forward(
        self,
        passages: EncoderInputs,
        question_groups: Sequence[EncoderInputs],
        to_read: Callable[[Tensor, QuestionStates], EncoderInputs] | None = None,
    ) -> tuple[Tensor, Tensor, QuestionStates, Tensor | None]:
        """The outputs of a training step: token vectors, filter logits, the vectors of all questions, reading logits.

        What is read depends on the vectors: `to_read` chooses it.
        """
        questions = QuestionStates.concatenate([self.question_states(*group) for group in question_groups])
        vectors_BTD, filter_BT2 = self.passage_states(*passages)
        reading_BT2 = None if to_read is None else self.reading_states(*to_read(vectors_BTD, questions))
        return vectors_BTD, filter_BT2, questions, reading_BT2

    def learn_to_read(self, null_logit: bool = False, rank: int = 0) -> None:
        """Gives a model without a reading head a new one, with low-rank matrices of its own if `rank` is given."""
        if not self.config.reads:
            self.config = replace(self.config, reads=True, reading_rank=rank)
            self._build_reading_head()
        if rank and rank != self.config.reading_rank:
            raise ConfigError(
                f"The model reads with matrices of rank {self.config.reading_rank}, not {rank}; set reading.rank to "
                "that, or start from a model that does not read."
            )
        self.config = replace(self.config, null_logit=null_logit)

    def freeze_all_but_reading(self) -> None:
        """Passage and question vectors stay as they are, and so do indexes."""
        for name, parameter in self.named_parameters():
            parameter.requires_grad_(name.startswith(READING_ROLE))

    @property
    def _first_question_backbone(self) -> Backbone:
        return self.passage if self.config.share else self.question_start

    @classmethod
    def from_base(cls, base: str | Path, **settings: Any) -> Self:
        """A model whose backbones all start from one pre-trained encoder: a Hugging Face folder or hub name."""
        config = ModelConfig(base=Path(base).name, backbone=read_config(base).to_dict(), **settings)
        model = cls(config, read_tokenizer(base))
        pretrained = load_backbone(base)
        for backbone in model.backbones:
            backbone.load_state_dict(pretrained.state_dict())
        return model

    def save_pretrained(self, folder: str | Path, card: str = "") -> None:
        """Write a checkpoint, which `densephrases export` makes into a folder for `load`; `card` is its README."""
        path = writable_folder(Path(folder))
        if self.product_quantizer is not None:
            self.product_quantizer.save(path)
        save_folder(path, self, self.config, self.tokens.tokenizer, card)

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> Self:
        """A checkpoint with its default query encoder; for that of a task see `question_tower.load_task`."""
        path = Path(folder)
        model = cls(ModelConfig.load(path), load_tokenizer(path))
        load_weights(path, model)
        model.product_quantizer = ProductQuantizer.read(path, model.config.vector_size)
        return model

    def passage_fingerprint(self) -> str:
        """The same for models that make the same passage vectors, however their questions are encoded.

        A model restored from graphs has theirs, although the weights of the graphs were rounded.
        """
        return self.config.fingerprint or self.passage_digest()

    def passage_digest(self) -> str:
        """Of the weights that make passage vectors."""
        digest = sha256(self.tokens.tokenizer.to_str().encode())
        for name, tensor in sorted(self.state_dict().items()):
            if name.startswith(PASSAGE_TOWER):
                digest.update(name.encode())
                digest.update(tensor.detach().float().cpu().contiguous().numpy().tobytes())
        return digest.hexdigest()[:FINGERPRINT_DIGITS]

    def encoder(self) -> "TorchEncoder":
        """What an index takes as `model`."""
        return TorchEncoder(self)


class TorchEncoder(Encoder):
    """The forward pass of a phrase model in torch, on the device of its weights."""

    tokens_per_batch = 65536
    tokens_per_chunk = 262144

    def __init__(self, model: PhraseModel) -> None:
        super().__init__(model.config, model.tokens)
        self.model = model

    @cached_property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device

    @property
    def fingerprint(self) -> str:
        return self.model.passage_fingerprint()

    @property
    def product_quantizer(self) -> ProductQuantizer | None:
        return self.model.product_quantizer

    def forward_passages(self, batch: TokenBatch) -> tuple[Floats, Floats]:
        with inference(self.model, self.device):
            vectors, filters = self.model.passage_states(*to_device(batch, self.device))
        return to_numpy(vectors), to_numpy(filters)

    def forward_questions(self, batch: TokenBatch) -> tuple[Floats, Floats, Floats | None]:
        with inference(self.model, self.device):
            states = self.model.question_states(*to_device(batch, self.device))
        coherency = None if states.coherency_B is None else to_numpy(states.coherency_B)
        return to_numpy(states.start_BD), to_numpy(states.end_BD), coherency

    def forward_reading(self, batch: TokenBatch) -> Floats:
        if not self.config.reads:
            return super().forward_reading(batch)  # which refuses
        with inference(self.model, self.device):
            return to_numpy(self.model.reading_states(*to_device(batch, self.device)))
