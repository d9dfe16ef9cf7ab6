"""The passage side of a model on its own: all that indexing needs."""

from typing import Self

from densephrases.model.config import ModelConfig
from densephrases.model.tokenizer import Tokens
from densephrases.nn.backbone import Trunk, build_trunk
from densephrases.nn.phrase_model import PhraseModel
from densephrases.nn.towers import EncodesPassages


class PassageSide(EncodesPassages):
    """The passage encoder, its filter and its projection, with the names they have in a `PhraseModel`."""

    def __init__(self, config: ModelConfig, tokens: Tokens, trunk: Trunk | None = None) -> None:
        super().__init__()
        self.config = config
        self.tokens = tokens
        self.passage = build_trunk(config.trunk) if trunk is None else trunk
        self._add_passage_heads()

    @classmethod
    def of(cls, model: PhraseModel) -> Self:
        """Shares the model's weights."""
        side = cls(model.config, model.tokens, model.passage)
        side.filter = model.filter
        if model.config.dim is not None:
            side.projection = model.projection
        return side
