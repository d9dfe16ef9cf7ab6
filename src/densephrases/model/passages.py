"""The passage side of a model on its own: all that indexing needs, from a checkpoint or from exported graphs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from densephrases.model.checkpoint import WEIGHTS_FILE
from densephrases.model.config import ModelConfig
from densephrases.model.encoder import Encoder
from densephrases.model.network import PhraseModel
from densephrases.model.runtime import OnnxEncoder, Precision, exported_precisions
from densephrases.model.sides import EncodesPassages
from densephrases.model.tokens import Tokens
from densephrases.model.trunk import Trunk, build_trunk


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


@dataclass(frozen=True)
class Indexable:
    """A passage side, and an encoder of the same model that answers for its fingerprint and encodes questions."""

    side: PassageSide
    encoder: Encoder


def read_indexable(folder: Path) -> Indexable:
    """A checkpoint's own weights where the folder has them, else those that its exported graph stands for."""
    exported = exported_precisions(folder)
    if (folder / WEIGHTS_FILE).is_file():
        model = PhraseModel.from_pretrained(folder)
        return Indexable(PassageSide.of(model), OnnxEncoder.load(folder) if exported else model.encoder())
    from densephrases.model.restore import restore_passages

    precision: Precision | None = "fp32" if "fp32" in exported else None
    encoder = OnnxEncoder.load(folder, precision)
    return Indexable(restore_passages(encoder), encoder)
