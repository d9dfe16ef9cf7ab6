"""Small models of every architecture."""

from pathlib import Path
from typing import Any

import torch

from densephrases.nn.phrase_model import PhraseModel

ARCHITECTURES: dict[str, dict[str, Any]] = {
    "three encoders": {},
    "projected": {"dim": 8},
    "one question backbone": {"question_backbone": "shared"},
    "shared with passages": {"share": True},
    "shared and projected": {"share": True, "dim": 8},
    "reading": {"reads": True},
    "shared and reading": {"share": True, "reads": True},
}


def model_of(base: Path, **settings: Any) -> PhraseModel:
    """With weights that differ between its encoders, as after training."""
    model = PhraseModel.from_base(base, **settings)
    random = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.02 * torch.randn(parameter.shape, generator=random))
    return model
