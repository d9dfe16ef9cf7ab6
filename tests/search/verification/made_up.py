"""A reader whose logits can be recomputed by hand, and results in passages of random words."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from densephrases.arrays import Floats
from densephrases.model.config import ModelConfig
from densephrases.model.encoder import Encoder
from densephrases.model.padding import TokenBatch
from densephrases.model.tokenizer import Tokens
from densephrases.search.answers import Answer, PhraseSpan, SourceDocument
from densephrases.search.request import Unit
from tests.conftest import small_tokenizer
from tests.text.sentence_oracle import sentences_around


class MadeUpReader(Encoder):
    """Logits follow from a token's id, the one before it, and the question's first word."""

    def __init__(self, **settings: Any) -> None:
        config = ModelConfig(base="fake", backbone={"hidden_size": 4}, reads=True, **settings)
        super().__init__(config, Tokens(small_tokenizer(), config))
        self.shapes: list[tuple[int, int]] = []

    def forward_passages(self, batch: TokenBatch) -> tuple[Floats, Floats]:
        raise NotImplementedError

    def forward_questions(self, batch: TokenBatch) -> tuple[Floats, Floats, Floats | None]:
        raise NotImplementedError

    def forward_reading(self, batch: TokenBatch) -> Floats:
        self.shapes.append(batch.ids.shape)
        before = np.concatenate([batch.ids[:, :1], batch.ids[:, :-1]], axis=1)
        asked = batch.ids[:, 1:2]
        start, end = (7 * batch.ids + 3 * before + asked) % 23, (5 * batch.ids + 2 * before + 3 * asked) % 19
        return np.asarray(np.stack([start, end], axis=2) / 4, dtype=np.float32)


def result(
    passage: str,
    phrase: tuple[int, int],
    score: float,
    confidence: float | None = None,
    document: str = "doc",
    begin: int = 10,
    unit: Unit = "phrase",
) -> Answer:
    """A result of search, the passage of which begins at character `begin` of its document."""
    start, end = phrase
    sentence = sentences_around(passage, start, end)
    shown = {"phrase": phrase, "sentence": (sentence.start, sentence.end)}.get(unit, (0, len(passage)))
    return Answer(
        text=passage[slice(*shown)],
        score=score,
        confidence=confidence,
        start=begin + shown[0],
        end=begin + shown[1],
        document=SourceDocument(document, f"the {document}", {}),
        passage=passage,
        sentence=passage[sentence.start : sentence.end],
        phrase=PhraseSpan(passage[start:end], begin + start, begin + end),
        passage_start=begin,
        sentence_start=begin + sentence.start,
        unit=unit,
    )


def word_spans(passage: str) -> list[tuple[int, int]]:
    """Of words that are separated by single spaces."""
    edges = np.cumsum([0, *(len(word) + 1 for word in passage.split(" "))]).tolist()
    return [(start, stop - 1) for start, stop in pairwise(edges)]


def read_alone(encoder: Encoder, question: str, text: str, title: str) -> tuple[Sequence[Any], Floats, float]:
    """Offsets and logits of all tokens of a short passage, by one input of its own, and the logit of no answer."""
    tokens = encoder.tokens
    asked = tokens.tokenizer.encode(question.rstrip("?"), add_special_tokens=False).ids
    named = tokens.tokenizer.encode(title, add_special_tokens=False).ids[: encoder.config.title_tokens]
    body = tokens.tokenizer.encode(text, add_special_tokens=False)
    cls, sep = tokens.tokenizer.token_to_id("[CLS]"), tokens.tokenizer.token_to_id("[SEP]")
    ids = np.array([[cls, *asked, sep, *named, sep, *body.ids, sep]])
    types = np.array([[0] * (len(asked) + 2) + [1] * (len(named) + len(body.ids) + 2)])
    logits = encoder.forward_reading(TokenBatch(ids, types, np.ones_like(ids)))[0]
    return body.offsets, logits[len(asked) + len(named) + 3 : -1], float(logits[0].sum())
