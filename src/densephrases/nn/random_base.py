"""A small encoder with random weights, to try out training without a download."""

import shutil
from pathlib import Path

import torch

from densephrases.model.folders import BUNDLED_FOLDER
from densephrases.model.tokenizer import TOKENIZER_FILE, load_tokenizer
from densephrases.nn.backbone import build_backbone


def random_base(folder: Path, hidden: int = 64) -> Path:
    """A two-layer BERT with the tokenizer of the bundled model, as a Hugging Face folder, created once."""
    tokenizer = BUNDLED_FOLDER / "small"
    if not (folder / TOKENIZER_FILE).is_file():
        settings = {
            "model_type": "bert",
            "vocab_size": load_tokenizer(tokenizer).get_vocab_size(),
            "hidden_size": hidden,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "intermediate_size": 2 * hidden,
            "initializer_range": 0.125,
            "hidden_dropout_prob": 0.0,  # with dropout, such a small model would not learn in a few steps
            "attention_probs_dropout_prob": 0.0,
        }
        with torch.random.fork_rng():
            torch.manual_seed(0)
            build_backbone(settings).encoder.save_pretrained(folder)
        shutil.copy(tokenizer / TOKENIZER_FILE, folder / TOKENIZER_FILE)  # copied last: marks the folder as complete
    return folder
