"""The model card, README.md of a model folder: description, training data, settings and scores."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from densephrases.checksums import replace_listed
from densephrases.model.config import ModelConfig
from densephrases.model.prompts import GeneratorConfig

CARD_FILE = "README.md"

_TEMPLATE = """\
---
library_name: densephrases
base_model: {base}
datasets: [{datasets}]
tags: [question-answering, phrase-retrieval]
---

# {title}

{description}

| setting | value |
|---|---|
{settings}

| measured | value |
|---|---|
{scores}
"""

_DESCRIPTIONS = {
    "phrases": "A phrase model: it encodes every token of a passage as one vector and a question as two. The answer is "
    "the phrase whose first and last token have the largest sum of inner products with them.",
    "adapted": "A phrase model whose query encoder was fine-tuned to find answers in an index (query-side "
    "fine-tuning). Its passage encoder is unchanged: it searches all indexes with this fingerprint.",
    "reader": "A cross-attention reader: it reads question and passage together and marks the answer. It is the "
    "teacher of phrase models, and far slower than they are.",
    "generator": "A question generator: it reads a passage with a tagged answer and writes the question. Its "
    "questions are additional training data for phrase models.",
}
_SHOWN = (
    "share",
    "split",
    "dim",
    "question_backbone",
    "passage_tokens",
    "question_tokens",
    "max_words",
    "filter_threshold",
    "length_penalty",
    "lexical_weight",
)


def write_card(folder: Path, config: ModelConfig, datasets: Sequence[str], scores: Mapping[str, float]) -> None:
    replace_listed(folder / CARD_FILE, model_card(config, datasets, scores))


def write_generator_card(
    folder: Path, config: GeneratorConfig, datasets: Sequence[str], scores: Mapping[str, float]
) -> None:
    limits = {name: getattr(config, name) for name in ("context_tokens", "title_tokens", "question_tokens")}
    card = _TEMPLATE.format(
        base=config.base,
        datasets=", ".join(datasets),
        title="DensePhrases question generator",
        description=_DESCRIPTIONS["generator"],
        settings="\n".join(f"| {name} | {value} |" for name, value in limits.items()),
        scores=_score_rows(scores),
    )
    replace_listed(folder / CARD_FILE, card)


def _score_rows(scores: Mapping[str, float]) -> str:
    return "\n".join(f"| {name.replace('_', ' ')} | {value:.2f} |" for name, value in scores.items())


def read_card(folder: Path) -> str:
    """The folder's card, empty if it has none."""
    path = folder / CARD_FILE
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def adapted_card(config: ModelConfig, datasets: Sequence[str], scores: Mapping[str, float]) -> str:
    """The card of a model with a fine-tuned query encoder."""
    return _TEMPLATE.format(
        base=config.base,
        datasets=", ".join(datasets),
        title="DensePhrases model with an adapted query encoder",
        description=_DESCRIPTIONS["adapted"],
        settings="\n".join(f"| {name} | {getattr(config, name)} |" for name in ("fingerprint", *_SHOWN)),
        scores=_score_rows(scores),
    )


def averaged_card(config: ModelConfig, models: Sequence[str]) -> str:
    """The card of a model with the average weights of others."""
    return _TEMPLATE.format(
        base=config.base,
        datasets="",
        title="DensePhrases model, the average of others",
        description=f"{_DESCRIPTIONS['phrases']}\n\nIts weights are the mean of those of {', '.join(models)}.",
        settings="\n".join(f"| {name} | {getattr(config, name)} |" for name in _SHOWN),
        scores="",
    )


def model_card(config: ModelConfig, datasets: Sequence[str], scores: Mapping[str, float]) -> str:
    """The card of a newly trained model, with its scores on the development data."""
    shown = _SHOWN if config.kind == "phrases" else ("passage_tokens", "question_tokens", "max_words")
    return _TEMPLATE.format(
        base=config.base,
        datasets=", ".join(datasets),
        title="DensePhrases model" if config.kind == "phrases" else "DensePhrases reader",
        description=_DESCRIPTIONS[config.kind],
        settings="\n".join(f"| {name} | {getattr(config, name)} |" for name in shown),
        scores=_score_rows(scores),
    )
