"""Prompts of a question generator, which mark the answer in its context with tags, and the questions it writes."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

import numpy as np
from tokenizers import AddedToken, Encoding, Tokenizer

from densephrases.atomic_files import replace_file
from densephrases.errors import ConfigError, ModelError
from densephrases.json_input import check_fields, read_json_file
from densephrases.model.tokenizer import Ids, token_offsets
from densephrases.text.passages import Passage

GENERATOR_FILE = "generator.json"
SCHEMA_VERSION = 1

PASSAGE, ANSWER, ANSWER_END, QUESTION, QUESTION_END = TAGS = (
    "<passage>",
    "<answer>",
    "</answer>",
    "<question>",
    "</question>",
)


@dataclass(frozen=True, kw_only=True)
class GeneratorConfig:
    """The input and output limits of a question generator.

    Attributes:
        base: Name of the language model it was trained from.
        context_tokens: Tokens of the passage around the answer, the answer included.
        title_tokens: Tokens of the article's title that precede them.
        question_tokens: Longest question; longer ones are neither trained on nor generated.
        end: The token that ends a question: the base model's end-of-text token if it has one, else a tag.
    """

    base: str
    context_tokens: int = 192
    title_tokens: int = 10
    question_tokens: int = 48
    end: str = QUESTION_END
    schema_version: int = SCHEMA_VERSION

    def __post_init__(self) -> None:
        for name, least in {"context_tokens": 2, "title_tokens": 0, "question_tokens": 2}.items():
            if getattr(self, name) < least:
                raise ConfigError(f"{name}={getattr(self, name)} is too small: expected at least {least}.")

    def save(self, folder: Path) -> None:
        replace_file(folder / GENERATOR_FILE, json.dumps(asdict(self), indent=2) + "\n")

    @classmethod
    def load(cls, folder: Path) -> Self:
        path = folder / GENERATOR_FILE
        if not path.is_file():
            raise ModelError(
                f"'{folder}' is no question generator: it has no {GENERATOR_FILE}; "
                "train one with: densephrases train questions RECIPE"
            )
        try:
            values = read_json_file(path)
            if not isinstance(values, dict) or values.get("schema_version") != SCHEMA_VERSION:
                raise ModelError(f"'{path}' does not have schema version {SCHEMA_VERSION}; train the generator again.")
            check_fields(cls, values)
            return cls(**values)
        except ValueError as error:
            raise ModelError(f"'{path}' describes no generator ({error}); train the generator again.") from error


@dataclass(frozen=True, slots=True)
class EncodedPassage:
    """The tokens of a passage, from which the prompts of all its answers are made."""

    title: list[int]
    ids: list[int]
    offsets: Ids  # (tokens, 2)


class Prompts:
    """A tokenizer with the tags, and the limits of prompts and questions."""

    def __init__(self, tokenizer: Tokenizer, config: GeneratorConfig) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self.tokenizer, self.config = tokenizer, config
        tokenizer.add_special_tokens([AddedToken(tag, special=True, normalized=False) for tag in TAGS])
        vocabulary = tokenizer.get_vocab(with_added_tokens=True)
        self.tags = {tag: vocabulary[tag] for tag in TAGS}
        if config.end not in vocabulary:
            raise ModelError(f"The tokenizer has no token '{config.end}' to end a question; copy the folder again.")
        self.end_id = vocabulary[config.end]
        self.vocabulary = max(vocabulary.values()) + 1  # rows of the embedding table

    def passages(self, passages: Sequence[Passage]) -> list[EncodedPassage]:
        texts = self._encode([p.text for p in passages])
        titles = self._encode([p.title for p in passages])
        limit = self.config.title_tokens
        return [
            EncodedPassage(title.ids[:limit], text.ids, token_offsets(text, passage.text))
            for passage, text, title in zip(passages, texts, titles, strict=True)
        ]

    def prompt(self, passage: EncodedPassage, first: int, last: int) -> Ids | None:
        """The prompt for the answer of tokens `first` to `last` of the passage; None if the answer is too long."""
        count = last - first + 1
        if count > self.config.context_tokens:
            return None
        start, stop = centred(len(passage.ids), first, last, self.config.context_tokens)
        parts = (
            passage.title,
            [self.tags[PASSAGE]],
            passage.ids[start:first],
            [self.tags[ANSWER]],
            passage.ids[first : last + 1],
            [self.tags[ANSWER_END]],
            passage.ids[last + 1 : stop],
            [self.tags[QUESTION]],
        )
        return np.array([number for part in parts for number in part], dtype=np.int64)

    def questions(self, texts: Sequence[str]) -> list[Ids]:
        """Token ids of questions with the end token."""
        encodings = self._encode([text.strip() for text in texts])
        return [np.array([*encoding.ids, self.end_id], dtype=np.int64) for encoding in encodings]

    def text(self, ids: Sequence[int]) -> str | None:
        """The generated question; None if it has no end token."""
        if self.end_id not in ids:
            return None
        decoded: str = self.tokenizer.decode(list(ids[: list(ids).index(self.end_id)]), skip_special_tokens=True)
        return " ".join(decoded.split())

    def _encode(self, texts: Sequence[str]) -> list[Encoding]:
        return list(self.tokenizer.encode_batch(list(texts), add_special_tokens=False))


def centred(count: int, first: int, last: int, room: int) -> tuple[int, int]:
    """The range of at most `room` of `count` tokens around `first` to `last`, with equal context before and after."""
    before = (room - (last - first + 1)) // 2
    start = max(min(first - before, count - room), 0)
    return start, min(start + room, count)
