"""Windows merged into passages and questions in their order, with a forward pass that can be recomputed by hand."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import BertProcessing

from densephrases.arrays import Floats
from densephrases.errors import DeadlineExceededError, ModelError
from densephrases.model.config import ModelConfig
from densephrases.model.encoder import DelegatingEncoder, Encoder, PassageVectors
from densephrases.model.padding import TokenBatch
from densephrases.model.tokenizer import Tokens
from densephrases.text.passages import Passage

WORDS = [f"w{i}" for i in range(40)]
FIRST_ID = 4  # of the words, after the special tokens


def word_tokenizer() -> Tokenizer:
    vocabulary = {word: i for i, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))  # noqa: S106
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.post_processor = BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer


class FakeEncoder(Encoder):
    """A token's vector is its id, its place in the row, the row's length and its type."""

    def __init__(self, tokens_per_batch: int = 8192, **settings: Any) -> None:
        limits = {"passage_tokens": 20, "overlap": 4, "title_tokens": 2} | settings
        config = ModelConfig(base="fake", backbone={"hidden_size": 4}, **limits)
        super().__init__(config, Tokens(word_tokenizer(), config))
        self.tokens_per_batch = tokens_per_batch
        self.shapes: list[tuple[int, int]] = []

    def forward_passages(self, batch: TokenBatch) -> tuple[Floats, Floats]:
        self.shapes.append(batch.ids.shape)
        places = np.broadcast_to(np.arange(batch.ids.shape[1]), batch.ids.shape)
        lengths = np.broadcast_to(batch.mask.sum(axis=1, keepdims=True), batch.ids.shape)
        vectors = np.stack([batch.ids, places, lengths, batch.types], axis=2).astype(np.float32)
        return vectors, np.stack([batch.ids, -batch.ids], axis=2).astype(np.float32)

    def forward_questions(self, batch: TokenBatch) -> tuple[Floats, Floats, Floats | None]:
        self.shapes.append(batch.ids.shape)
        used = batch.ids * batch.mask
        values = [used.sum(axis=1), batch.mask.sum(axis=1), used[:, 0], used.max(axis=1)]
        start = np.stack(values, axis=1).astype(np.float32)
        return start, -start, used.sum(axis=1).astype(np.float32) / 2 if self.config.split else None


class FakeReader(FakeEncoder):
    """A token's logits are its id and the sum of the row's ids."""

    def forward_reading(self, batch: TokenBatch) -> Floats:
        self.shapes.append(batch.ids.shape)
        totals = np.broadcast_to((batch.ids * batch.mask).sum(axis=1, keepdims=True), batch.ids.shape)
        return np.stack([batch.ids, totals], axis=2).astype(np.float32)


PASSAGES = st.lists(
    st.builds(
        lambda words, title: Passage(" ".join(words), title),
        st.lists(st.sampled_from(WORDS), max_size=50),
        st.sampled_from(["", "w1", "w1 w2 w3"]),
    ),
    max_size=6,
)


def check_passage(encoder: FakeEncoder, passage: Passage, vectors: PassageVectors) -> None:
    """Each token's vector comes from the window that owns the token."""
    (tokenized,) = encoder.tokens.passages([passage])
    ids = [FIRST_ID + WORDS.index(word) for word in passage.text.split()]
    expected = np.zeros((len(ids), 4))
    for window in tokenized.windows:
        for token in range(window.own_start, window.own_stop):
            expected[token] = ids[token], window.first + token - window.start, len(window.ids), 1
    assert vectors.vectors_TD.tolist() == expected.tolist()
    assert vectors.filter_T2.tolist() == [[i, -i] for i in ids]
    assert vectors.offsets_T2.tolist() == tokenized.offsets.tolist()
    assert vectors.max_span_T.tolist() == tokenized.max_span.tolist()


@given(PASSAGES, st.sampled_from([1, 40, 8192]))
def test_passages_are_merged_from_their_windows(passages: list[Passage], tokens_per_batch: int) -> None:
    encoder = FakeEncoder(tokens_per_batch)
    results = encoder.encode_passages(passages)
    assert len(results) == len(passages)
    for passage, vectors in zip(passages, results, strict=True):
        check_passage(encoder, passage, vectors)


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=8), max_size=8), st.sampled_from([1, 12, 8192]))
def test_questions_keep_their_order(questions: list[list[str]], tokens_per_batch: int) -> None:
    encoder = FakeEncoder(tokens_per_batch)
    vectors = encoder.encode_questions([" ".join(words) + "?" for words in questions])
    ids = [[2, *(FIRST_ID + WORDS.index(word) for word in words), 3] for words in questions]
    assert vectors.start_BD.tolist() == [[sum(row), len(row), 2, max(row)] for row in ids]
    assert np.array_equal(vectors.end_BD, -vectors.start_BD)
    assert vectors.coherency_B is None
    assert len(vectors) == len(questions)


def test_the_first_token_says_that_there_is_no_answer() -> None:
    encoder = FakeReader(8192)
    encoder.config = replace(encoder.config, null_logit=True)
    (question,), (passage,) = encoder.tokens.questions(["w1 w7"]), encoder.tokens.passages([Passage("w1 w2")])
    (logits,) = encoder.read([(question, passage.windows[0])])
    total = question.sum() + passage.windows[0].ids[1:].sum()
    assert logits.null == question[0] + total


@given(PASSAGES, st.sampled_from([1, 60, 8192]))
def test_windows_are_read_with_their_questions(passages: list[Passage], tokens_per_batch: int) -> None:
    encoder = FakeReader(tokens_per_batch)
    questions = encoder.tokens.questions([f"w{number} w7" for number in range(len(passages))])
    tokenized = encoder.tokens.passages(passages)
    pairs = [(q, window) for q, t in zip(questions, tokenized, strict=True) for window in t.windows]
    for (question, window), logits in zip(pairs, encoder.read(pairs), strict=True):
        own = window.ids[window.first : window.first + window.stop - window.start]
        total = question.sum() + window.ids[1:].sum()  # [CLS] question [SEP] title [SEP] text [SEP]
        assert logits.tokens_T2.tolist() == [[number, total] for number in own]
        assert logits.null is None
    assert all(rows == 1 or rows * width <= tokens_per_batch for rows, width in encoder.shapes)


def test_reading_ends_when_the_check_raises() -> None:
    encoder = FakeReader(1)
    (question,) = encoder.tokens.questions(["w1"])
    windows = [t.windows[0] for t in encoder.tokens.passages([Passage("w1 w2"), Passage("w3")])]

    def check() -> None:
        if encoder.shapes:
            raise DeadlineExceededError("over")

    with pytest.raises(DeadlineExceededError):
        encoder.read([(question, window) for window in windows], check)
    assert len(encoder.shapes) == 1


def test_a_model_without_a_reading_head_does_not_read() -> None:
    encoder = FakeEncoder()
    (tokenized,) = encoder.tokens.passages([Passage("w1 w2")])
    with pytest.raises(ModelError, match="base 'fake' does not read"):
        encoder.read([(encoder.tokens.questions(["w1"])[0], tokenized.windows[0])])


def test_an_encoder_that_delegates_reads_by_its_base_in_batches_of_that() -> None:
    base = FakeReader(1)
    above = DelegatingEncoder(base, base.config, base.tokens)
    (question,) = base.tokens.questions(["w1"])
    pairs = [(question, t.windows[0]) for t in base.tokens.passages([Passage("w1 w2"), Passage("w3 w4")])]
    for found, wanted in zip(above.read(pairs), base.read(pairs), strict=True):
        assert found.tokens_T2.tolist() == wanted.tokens_T2.tolist()
    assert [rows for rows, _ in base.shapes] == [1] * 4


def test_split_models_give_coherency() -> None:
    vectors = FakeEncoder(5, share=True, split=True).encode_questions(["w0", "w0 w1"])
    assert vectors.coherency_B is not None
    assert vectors.coherency_B.tolist() == [(2 + 4 + 3) / 2, (2 + 4 + 5 + 3) / 2]


def test_batches_keep_the_token_limit() -> None:
    encoder = FakeEncoder(tokens_per_batch=64)
    encoder.encode_passages([Passage(" ".join(WORDS[:length])) for length in range(1, 30)])
    assert len(encoder.shapes) > 1
    assert max(rows * width for rows, width in encoder.shapes) <= 64


def test_nothing_to_encode_calls_no_network() -> None:
    encoder = FakeEncoder()
    assert encoder.encode_passages([]) == []
    assert [len(v.vectors_TD) for v in encoder.encode_passages([Passage(""), Passage("  ", "w1")])] == [0, 0]
    assert encoder.encode_questions([]).start_BD.shape == (0, 4)
    assert encoder.shapes == []


def passage_vectors(filters: list[tuple[float, float]]) -> PassageVectors:
    count = len(filters)
    return PassageVectors(
        np.zeros((count, 4), dtype=np.float32),
        np.array(filters, dtype=np.float32).reshape(-1, 2),
        np.zeros((count, 2), dtype=np.int64),
        np.arange(count),
    )


LOGITS = st.integers(-20, 20).map(lambda i: i / 2)


@given(st.lists(st.tuples(LOGITS, LOGITS), min_size=1, max_size=12), LOGITS)
def test_kept_by_either_logit_and_never_none(filters: list[tuple[float, float]], threshold: float) -> None:
    kept = passage_vectors(filters).kept(threshold)
    best = max(max(pair) for pair in filters)
    assert kept.tolist() == [max(pair) > threshold or max(pair) == best for pair in filters]
    assert kept.any()


@pytest.mark.parametrize("threshold", [None, 0.0])
def test_kept_of_an_empty_passage(threshold: float | None) -> None:
    assert passage_vectors([]).kept(threshold).tolist() == []


def test_without_threshold_everything_is_kept() -> None:
    assert passage_vectors([(-9.0, -9.0), (1.0, 2.0)]).kept(None).tolist() == [True, True]
