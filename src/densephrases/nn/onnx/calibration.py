"""Sample inputs by which a graph's activations are measured before they are quantised to 8 bits.

The passage graph sees passages, the question graph questions, the reading graph passages with a question before each:
tokens may have outliers in one and not in the other.
"""

from collections.abc import Sequence
from itertools import cycle, islice

import numpy as np

from densephrases.model.encoder import Encoder
from densephrases.model.padding import TokenBatch, batches_by_length, token_batch
from densephrases.model.tokenizer import Ids, Tokens, Window
from densephrases.sample import SAMPLE_QUESTIONS, articles_path
from densephrases.text.documents import Document
from densephrases.text.passages import Passage, split_passages
from densephrases.text.readers.read import read_documents

PASSAGES = 24  # one of each of the first articles: about 5,000 tokens
QUESTION_WORDS = 6


def calibration_batches(tokens: Tokens) -> dict[str, list[TokenBatch]]:
    """Batches by the graph they are meant for; small, since all activations of a batch are kept at once."""
    passages = _windows(tokens)
    return {
        "passage": _window_batches(passages, tokens.pad_id),
        "question": _question_batches(tokens),
        "reading": _window_batches(_read_with_questions(passages, tokens), tokens.pad_id),
    }


def _windows(tokens: Tokens) -> list[Window]:
    return [passage.windows[0] for passage in tokens.passages(_first_passages())]


def _read_with_questions(windows: Sequence[Window], tokens: Tokens) -> list[Window]:
    """Each passage with one of the sample questions, whether it answers it or not: both happen in a search."""
    questions = tokens.questions([sample.question for sample in SAMPLE_QUESTIONS])
    return [tokens.reading_window(question, window) for question, window in zip(cycle(questions), windows)]


def _window_batches(windows: Sequence[Window], pad_id: int) -> list[TokenBatch]:
    return _batches([w.ids for w in windows], [w.types for w in windows], pad_id)


def _first_passages() -> list[Passage]:
    return [_first_passage(article) for article in islice(read_documents([articles_path()]), PASSAGES)]


def _first_passage(article: Document) -> Passage:
    span = split_passages(article.text)[0]
    return Passage(article.text[span.start : span.end], article.title)


def _question_batches(tokens: Tokens) -> list[TokenBatch]:
    """The few sample questions and, as a question may contain any words, the first words of each passage."""
    words = [" ".join(passage.text.split()[:QUESTION_WORDS]) for passage in _first_passages()]
    ids = tokens.questions([*(sample.question for sample in SAMPLE_QUESTIONS), *words])
    return _batches(ids, [np.zeros_like(row) for row in ids], tokens.pad_id)


def _batches(ids: Sequence[Ids], types: Sequence[Ids], pad_id: int) -> list[TokenBatch]:
    return [
        token_batch([ids[i] for i in rows], [types[i] for i in rows], pad_id)
        for rows in batches_by_length([len(row) for row in ids], Encoder.tokens_per_batch)
    ]
