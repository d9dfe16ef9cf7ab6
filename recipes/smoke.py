"""Exercises all of training within two minutes on a CPU: a tiny random encoder memorises the bundled sample."""

import shutil
from pathlib import Path

import torch
from transformers import BertConfig

from densephrases.data.squad import sample_path
from densephrases.model.folders import BUNDLED_FOLDER
from densephrases.model.tokenizer import TOKENIZER_FILE, load_tokenizer
from densephrases.nn.backbone import build_backbone
from densephrases.train.loop.loop import LoopConfig
from densephrases.train.phrases.objective import LossWeights
from densephrases.train.phrases.reading_head import ReadingPlan
from densephrases.train.phrases.recipe import Architecture, PhraseRecipe
from densephrases.train.phrases.sampling import BatchPlan
from densephrases.train.reader import ReaderRecipe

BUNDLED = BUNDLED_FOLDER / "small"


def reader(data: Path, models: Path) -> ReaderRecipe:
    return ReaderRecipe(
        base=_random_base(models / "smoke-base"),
        train=(sample_path(),),
        dev=sample_path(),
        batch_size=16,
        passage_tokens=128,  # shorter than some passages, so that these get several windows
        overlap=32,
        loop=LoopConfig(epochs=30, learning_rate=2e-3, checkpoint_every=100, evaluate_every=20),
    )


def phrases(data: Path, models: Path) -> PhraseRecipe:
    return PhraseRecipe(
        base=_random_base(models / "smoke-base"),
        train=(sample_path(),),
        dev=sample_path(),
        teacher=models / "reader",
        architecture=Architecture(passage_tokens=128, overlap=32),
        batches=BatchPlan(questions=16, questions_per_passage=4, passages_per_group=2),
        weights=LossWeights(tokens=1.0, across=1.0),
        lexical_weight=1.0,
        typed_share=0.1,
        reading=ReadingPlan(questions=8, passages=2),
        loop=LoopConfig(epochs=30, learning_rate=1e-3, checkpoint_every=100, evaluate_every=20),
    )


def _random_base(folder: Path) -> Path:
    """A two-layer BERT with random weights and the tokenizer of the bundled model, created once."""
    if not (folder / TOKENIZER_FILE).is_file():
        torch.manual_seed(0)
        config = BertConfig(
            vocab_size=load_tokenizer(BUNDLED).get_vocab_size(),
            hidden_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=128,
            initializer_range=0.125,
            hidden_dropout_prob=0.0,  # with dropout, such a small model would not learn in these few steps
            attention_probs_dropout_prob=0.0,
        )
        build_backbone(config.to_dict()).encoder.save_pretrained(folder)
        shutil.copy(BUNDLED / TOKENIZER_FILE, folder / TOKENIZER_FILE)  # copied last: marks the folder as complete
    return folder
