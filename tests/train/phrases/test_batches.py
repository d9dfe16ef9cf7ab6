"""A batch as tensors."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from densephrases.model.config import ModelConfig
from densephrases.model.tokenizer import Tokens, Window
from densephrases.text.passages import Passage
from densephrases.train.loop.tensors import columns, content_mask
from densephrases.train.phrases.batches import Padding, PhraseBatch, collate, question_groups, spread
from densephrases.train.phrases.examples import PassageExample, QuestionExample
from densephrases.train.phrases.sampling import BatchPlan, plan_epoch
from tests.train.made_up import DATA, PLANS, example

PAD = 0


@pytest.fixture
def tokens(tokenizer: Tokenizer) -> Tokens:
    config = ModelConfig(base="tiny", backbone={"hidden_size": 8}, passage_tokens=14, overlap=2, title_tokens=2)
    return Tokens(tokenizer, config)


def collated(tokens: Tokens, teacher: bool = False, **options: Any) -> tuple[PhraseBatch, Sequence[Window]]:
    """The second window of a passage of words with two questions, and a short passage with one."""
    long, short = tokens.passages([Passage("the city of " * 5, "paris london"), Passage("a river")])
    windows = [long.windows[1], short.windows[0]]
    start = windows[0].start
    ask = tokens.questions(["who", "what is the city", "where"])
    examples = [
        PassageExample(
            4,
            1,
            windows[0],
            (
                QuestionExample("a", ask[0], ((start, start + 1), (start + 3, start + 4)), 70),
                QuestionExample("b", ask[1], ((start + 2, start + 2),), 71),
            ),
        ),
        PassageExample(9, 2, windows[1], (QuestionExample("c", ask[2], ((1, 1),), 70),)),
    ]
    lengths = {"a": len(long.offsets), "b": len(long.offsets), "c": 2}
    rows = {key: (np.arange(n, dtype=np.float32), -np.arange(n, dtype=np.float32)) for key, n in lengths.items()}
    return collate(examples, PAD, rows if teacher else None, **options), windows


def test_columns_of_a_batch(tokens: Tokens) -> None:
    batch, windows = collated(tokens)
    first = windows[0].first
    assert first == 4  # [CLS] paris london [SEP]
    assert batch.owner_Q.tolist() == [0, 1, 0], "the longest question comes last"
    assert batch.passage_Q.tolist() == [4, 9, 4]
    assert batch.answer_Q.tolist() == [70, 70, 71]
    assert batch.starts_QK.tolist() == [[first, first + 3], [3, -1], [first + 2, -1]]
    assert batch.ends_QK.tolist() == [[first + 1, first + 4], [3, -1], [first + 2, -1]]
    gold = batch.passages.ids[batch.owner_Q, batch.starts_QK[:, 0]]
    assert gold.tolist() == [w.ids[c] for w, c in ((windows[0], first), (windows[1], 3), (windows[0], first + 2))]
    assert batch.teacher_start_QT is None
    assert batch.teacher_end_QT is None


def test_padding_of_a_batch(tokens: Tokens) -> None:
    batch, windows = collated(tokens)
    assert batch.passages.ids.shape == batch.passages.mask.shape == batch.passages.types.shape == (2, 16)
    assert [group.ids.shape for group in batch.questions] == [(2, 8), (1, 8)]
    assert [group.mask.sum(dim=1).tolist() for group in batch.questions] == [[3, 3], [6]]
    assert batch.passage_tokens == len(windows[0].ids) + len(windows[1].ids)
    assert batch.question_tokens == 3 + 6 + 3
    assert batch.weight_Q.tolist() == [1.0, 1.0, 1.0]
    assert batch.passages.ids[1, len(windows[1].ids) :].tolist() == [PAD] * (16 - len(windows[1].ids))


def test_columns_shifted_are_positions_in_the_passage(tokens: Tokens) -> None:
    batch, windows = collated(tokens)
    start = windows[0].start
    assert start > 0, "a later window of its passage"
    assert (batch.starts_QK[:, 0] + batch.shift_Q).tolist() == [start, 1, start + 2]
    assert (batch.ends_QK[:, 0] + batch.shift_Q).tolist() == [start + 1, 1, start + 2]


LARGER = Padding(passages=4, questions=5, occurrences=3, passage_tokens=32, question_tokens=16)


@pytest.mark.parametrize("teacher", [False, True])
def test_filling_rows_repeat_the_first_and_count_for_nothing(tokens: Tokens, teacher: bool) -> None:
    least, _ = collated(tokens, teacher)
    batch, _ = collated(tokens, teacher, padding=LARGER)
    assert batch.passages.ids.shape == batch.content_PT.shape == (4, 32)
    assert [group.ids.shape for group in batch.questions] == [(3, 16), (2, 16)]
    assert [group.mask.sum(dim=1).tolist() for group in batch.questions] == [[3, 3, 3], [3, 6]]
    assert batch.starts_QK.shape == batch.ends_QK.shape == (5, 3)
    assert batch.weight_Q.tolist() == [0.0, 0.0, 1.0, 1.0, 1.0]
    assert not batch.content_PT[2:].any(), "no token of a filling passage competes"
    assert (batch.passage_tokens, batch.question_tokens) == (least.passage_tokens, least.question_tokens)
    for name in ("owner_Q", "answer_Q", "passage_Q", "shift_Q", "starts_QK", "ends_QK"):
        values, expected = getattr(batch, name), getattr(least, name)
        assert torch.equal(values[2:].reshape(3, -1)[:, : expected[0].numel()], expected.reshape(3, -1)), name
        assert torch.equal(values[:2], values[2:3].expand_as(values[:2])), name
    assert (batch.starts_QK[:, 2] == -1).all()
    assert torch.equal(batch.passages.ids[2:], batch.passages.ids[:1].expand(2, -1))
    assert torch.equal(batch.passages.ids[:2, :16], least.passages.ids)
    assert torch.equal(batch.content_PT[:2, :16], least.content_PT)
    assert not batch.passages.mask[:, 16:].any()
    if teacher:
        assert batch.teacher_start_QT is not None
        assert least.teacher_start_QT is not None
        assert torch.equal(batch.teacher_start_QT[2:, :16], least.teacher_start_QT)
        assert (batch.teacher_start_QT[:, 16:] == -torch.inf).all()


def test_a_batch_beyond_the_padding_keeps_its_size(tokens: Tokens) -> None:
    least, _ = collated(tokens)
    batch, _ = collated(tokens, padding=Padding(questions=2, occurrences=1))
    assert batch.signature() == least.signature()
    assert batch.weight_Q.tolist() == [1.0, 1.0, 1.0]


def test_weight_of_a_batch(tokens: Tokens) -> None:
    batch, _ = collated(tokens, padding=LARGER, weight=0.0)
    assert batch.weight_Q.tolist() == [0.0] * 5
    assert batch.content_PT[:2].any(dim=1).all(), "its losses stay finite"


@given(DATA, PLANS)
def test_every_batch_of_an_epoch_fits(data: list[PassageExample], plan: BatchPlan) -> None:
    planned = [plan_epoch(data, plan, seed=1, epoch=epoch) for epoch in (0, 1)]
    padding = Padding.fitting(planned)
    made = [collate(batch, PAD, padding=padding) for epoch in planned for batch in epoch]
    assert {b.starts_QK.shape for b in made} == {(padding.questions, padding.occurrences)}
    assert {sum(len(group.ids) for group in b.questions) for b in made} == {padding.questions}
    assert {group.ids.shape[1] for b in made for group in b.questions} == {16}
    assert {b.passages.ids.shape[1] for b in made} == {32}, "all windows have up to 30 tokens"
    assert all(len(b.passages.ids) % 16 == 0 for b in made)
    assert all(0 <= len(b.passages.ids) - int(b.content_PT.any(dim=1).sum()) < 16 for b in made)
    assert len({b.signature() for b in made}) <= 2, "of up to 16 passages and of more"
    assert max(int(b.weight_Q.sum()) for b in made) == padding.questions, "no larger than needed"


def test_few_shapes_an_epoch() -> None:
    """Widths come in steps of 32, so that many lengths make few shapes; without the padding nearly each is one."""
    data = [example(number, 0, 1 + number % 3, 1 + number % 120) for number in range(240)]
    planned = plan_epoch(data, BatchPlan(questions=8), 0, 0)
    padding = Padding.fitting([planned])
    assert len(planned) > 50
    assert len({collate(batch, PAD, padding=padding).signature() for batch in planned}) <= 4
    assert len({collate(batch, PAD).signature() for batch in planned}) > 15


def test_most_occurrences_are_fitted() -> None:
    data = [example(0, 0, 1, 9), example(1, 0, 2, 9)]
    often = replace(data[1].questions[1], spans=((0, 0), (2, 2), (4, 5)))
    data[1] = replace(data[1], questions=(data[1].questions[0], often))
    padding = Padding.fitting([[data[:1]], [data[1:]]])
    assert (padding.questions, padding.occurrences) == (2, 3)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=20))
def test_questions_in_two_groups(lengths: list[int]) -> None:
    """Three quarters of the questions, the short ones, are not padded to the longest."""
    rows = [np.full(length, 7) for length in sorted(lengths)]
    groups = question_groups(rows, PAD, 8)
    assert [len(group.ids) for group in groups] == [n for n in (len(rows) * 3 // 4, -(-len(rows) // 4)) if n]
    assert [n for group in groups for n in group.mask.sum(dim=1).tolist()] == sorted(lengths)
    for group in groups:
        assert group.ids.shape[1] == -(-int(group.mask.sum(dim=1).max()) // 8) * 8
        assert torch.equal(group.ids, group.mask * 7)
        assert not group.types.any()


def test_columns() -> None:
    rows = [np.array([4]), np.array([1, 2])]
    assert columns(rows).tolist() == [[4, -1], [1, 2]]
    assert columns(rows, 3).tolist() == [[4, -1, -1], [1, 2, -1]]


def test_content_is_the_passages_text(tokens: Tokens, tokenizer: Tokenizer) -> None:
    batch, windows = collated(tokens)
    text = [
        [tokenizer.id_to_token(int(i)) for i in row[inside]]
        for row, inside in zip(batch.passages.ids, batch.content_PT, strict=True)
    ]
    assert set(text[0]) == {"the", "city", "of"}  # neither title nor special tokens nor padding
    assert len(text[0]) == windows[0].stop - windows[0].start
    assert text[1] == ["a", "river"]


def test_teacher_rows_stand_under_their_tokens(tokens: Tokens) -> None:
    batch, windows = collated(tokens, teacher=True)
    assert batch.teacher_start_QT is not None
    assert batch.teacher_end_QT is not None
    for row, owner in enumerate((0, 1, 0)):
        w, content = windows[owner], batch.content_PT[owner]
        assert batch.teacher_start_QT[row, content].tolist() == list(range(w.start, w.stop))
        assert batch.teacher_end_QT[row, content].tolist() == [-i for i in range(w.start, w.stop)]
        assert (batch.teacher_start_QT[row, ~content] == -torch.inf).all()


def test_mask_and_spread_of_one_window() -> None:
    w = Window(np.zeros(7, np.int64), np.zeros(7, np.int64), 2, 10, 13, 10, 13)
    assert content_mask([w], 8).tolist() == [[False, False, True, True, True, False, False, False]]
    row = np.arange(20, dtype=np.float32)
    inf = -np.inf
    assert spread([row], [w], 8).tolist() == [[inf, inf, 10, 11, 12, inf, inf, inf]]


def test_tensors_travel_together(tokens: Tokens) -> None:
    batch, _ = collated(tokens, teacher=True)
    moved = batch.to(torch.device("meta"))
    assert moved.owner_Q.device.type == moved.passages.ids.device.type == "meta"
    assert moved.teacher_end_QT is not None
    assert moved.teacher_end_QT.device.type == "meta"
    assert batch.owner_Q.device.type == "cpu"
    assert collated(tokens)[0].to(torch.device("cpu")).teacher_start_QT is None


@pytest.mark.parametrize("teacher", [False, True])
def test_signature_says_the_shape_of_every_tensor(tokens: Tokens, teacher: bool) -> None:
    batch, _ = collated(tokens, teacher)
    assert batch.signature() == tuple(t.shape for t in batch.tensors())
    assert len(batch.signature()) == 3 + 2 * 3 + 11 + 2 * teacher, "passages, two groups of questions, columns"
    assert batch.signature() == collated(tokens, teacher)[0].signature()
    assert batch.signature() != collated(tokens, teacher, padding=LARGER)[0].signature()
    assert batch.signature() != collated(tokens, not teacher)[0].signature()


def test_a_batch_is_copied_to_where_another_stands(tokens: Tokens) -> None:
    source, _ = collated(tokens, teacher=True)
    target, _ = collated(tokens, teacher=True)
    for tensor in target.tensors():
        tensor.zero_()
    places = [tensor.data_ptr() for tensor in target.tensors()]
    target.copy_(source)
    assert all(torch.equal(one, other) for one, other in zip(target.tensors(), source.tensors(), strict=True))
    assert [tensor.data_ptr() for tensor in target.tensors()] == places
    for tensor in source.tensors():
        tensor.zero_()
    assert target.passages.ids.any(), "it shares nothing with what it was copied from"
