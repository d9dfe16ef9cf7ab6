"""The passage encoder of a model on its own: all that indexing needs."""

from typing import Self

from densephrases.model.config import ModelConfig
from densephrases.model.tokenizer import Tokens
from densephrases.nn.backbone import Backbone, build_backbone
from densephrases.nn.phrase_model import PhraseModel
from densephrases.nn.towers import PassageEncoding


class PassageTower(PassageEncoding):
    """The passage encoder with its filter and projection; weights have the names they have in a `PhraseModel`."""

    def __init__(self, config: ModelConfig, tokens: Tokens, backbone: Backbone | None = None) -> None:
        super().__init__()
        self.config = config
        self.tokens = tokens
        self.passage = build_backbone(config.backbone) if backbone is None else backbone
        self._build_passage_heads()

    @classmethod
    def from_model(cls, model: PhraseModel) -> Self:
        """A tower that shares the model's weights."""
        tower = cls(model.config, model.tokens, model.passage)
        tower.filter = model.filter
        if model.config.dim is not None:
            tower.projection = model.projection
        return tower
