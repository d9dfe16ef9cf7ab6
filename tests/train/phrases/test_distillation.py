"""The teacher's distributions, carried over to other tokens, and their cache."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors

from densephrases.data.squad import Question, QuestionedPassage
from densephrases.errors import ModelError
from densephrases.model.config import ModelConfig
from densephrases.model.tokenizer import TokenizedPassage, Tokens
from densephrases.nn.phrase_model import PhraseModel
from densephrases.nn.reader import Reader
from densephrases.train.phrases.distillation import (
    TeacherLogits,
    align_boundaries,
    fingerprint,
    log_softmax,
    merge_probabilities,
)


@pytest.fixture(scope="module")
def reader(tiny_base: Path) -> Reader:
    torch.manual_seed(0)
    reader = Reader.from_base(tiny_base, passage_tokens=32, overlap=4, title_tokens=2, question_tokens=16)
    torch.nn.init.normal_(reader.boundaries.weight)
    return reader


@pytest.fixture(scope="module")
def teacher(reader: Reader, questioned: list[QuestionedPassage]) -> TeacherLogits:
    return TeacherLogits.compute(reader, questioned)


def split_tokenizer(pattern: str) -> Tokenizer:
    """Every match of the pattern is a token, all of them unknown."""
    tokenizer = Tokenizer(models.WordLevel({"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3}, unk_token="[UNK]"))  # noqa: S106
    splitter = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
    tokenizer.pre_tokenizer = splitter
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer


def students(passages: Sequence[QuestionedPassage], tokenizer: Tokenizer) -> list[TokenizedPassage]:
    tokens = Tokens(tokenizer, ModelConfig(base="tiny", backbone={"hidden_size": 8}))
    return tokens.passages([p.passage for p in passages])


def own_rows(
    reader: Reader, passages: Sequence[QuestionedPassage]
) -> dict[str, tuple[NDArray[np.int64], NDArray[np.float32]]]:
    """For each question the offsets of the reader's tokens and its log-probabilities (2, tokens)."""
    rows = {}
    for p in passages:
        (read,) = reader.read([(p.passage.text, [q.text for q in p.questions])])
        for q, logits in zip(p.questions, read.logits_Q2T, strict=True):
            rows[q.id] = read.offsets_T2, torch.log_softmax(torch.from_numpy(logits), dim=-1).numpy()
    return rows


def test_same_tokens_same_distributions(
    reader: Reader, teacher: TeacherLogits, questioned: list[QuestionedPassage], tokenizer: Tokenizer
) -> None:
    found = teacher.distributions(questioned, students(questioned, tokenizer))
    expected = own_rows(reader, questioned)
    assert found.keys() == expected.keys()
    for key, (_, rows) in expected.items():
        assert np.allclose(found[key], rows, atol=0.02)  # logits are kept in half precision


@pytest.mark.parametrize("pattern", [r"\S+", r"\S", r"[a-z]+|\d"], ids=["words", "characters", "mixed"])
def test_mass_lands_at_the_right_characters(
    reader: Reader, teacher: TeacherLogits, questioned: list[QuestionedPassage], pattern: str
) -> None:
    tokenized = students(questioned, split_tokenizer(pattern))
    found = teacher.distributions(questioned, tokenized)
    expected = own_rows(reader, questioned)
    for passage, student in zip(questioned, tokenized, strict=True):
        for question in passage.questions:
            offsets, rows = expected[question.id]
            for tower, mine in enumerate(found[question.id]):
                assert np.exp(mine).sum() == pytest.approx(1, abs=1e-3)
                for token, (begin, end) in enumerate(student.offsets):
                    place = offsets[:, 0] if tower == 0 else offsets[:, 1] - 1  # the boundary's own character
                    inside = (begin <= place) & (place < end)
                    assert np.exp(mine[token]) == pytest.approx(np.exp(rows[tower, inside]).sum(), abs=5e-3)


def test_temperature_softens(teacher: TeacherLogits, questioned: list[QuestionedPassage], tokenizer: Tokenizer) -> None:
    tokenized = students(questioned, tokenizer)
    plain, soft = (teacher.distributions(questioned, tokenized, t) for t in (1.0, 3.0))
    for key, (start, end) in plain.items():
        for sharp, flat in zip((start, end), soft[key], strict=True):
            assert np.allclose(flat, log_softmax(sharp / np.float32(3)), atol=1e-4)


WORDS = st.lists(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=8)


@given(WORDS, st.sampled_from([r"\S+", r"\S", r"\S{1,2}"]), st.sampled_from([r"\S+", r"\S", r"\S{1,3}"]))
def test_carrying_over_conserves_mass(words: list[str], teachers: str, students_: str) -> None:
    text = " ".join(words)
    own, other = (
        np.array(split_tokenizer(pattern).encode(text, add_special_tokens=False).offsets)
        for pattern in (teachers, students_)
    )
    rows = log_softmax(np.arange(len(own), dtype=np.float32))
    for tower, column in (("start", 0), ("end", 1)):
        into = align_boundaries(own[:, column], other, tower)
        mine = np.exp(merge_probabilities(rows, into, len(other)))
        assert mine.sum() == pytest.approx(1, abs=1e-4)
        for place, token in zip(own[:, column], into, strict=True):
            character = place if tower == "start" else place - 1
            assert other[token, 0] <= character < other[token, 1]


def test_boundaries_by_hand() -> None:
    """Teacher: 'new' 'york' 'city'; student: 'new york' as 'newyork' would be split, 'ne' 'w' 'york city'."""
    own, other = np.array([[0, 3], [4, 8], [9, 13]]), np.array([[0, 2], [2, 3], [4, 13]])
    assert align_boundaries(own[:, 0], other, "start").tolist() == [0, 2, 2]
    assert align_boundaries(own[:, 1], other, "end").tolist() == [1, 2, 2]
    rows = np.log(np.array([0.5, 0.2, 0.3], dtype=np.float32))
    assert np.exp(merge_probabilities(rows, np.array([0, 2, 2]), 3)).tolist() == pytest.approx([0.5, 0, 0.5], abs=1e-6)


def test_empty_passages() -> None:
    empty = np.zeros((0, 2), dtype=np.int64)
    assert align_boundaries(np.zeros(0, np.int64), empty, "start").tolist() == []
    assert log_softmax(np.zeros(0, np.float32)).tolist() == []
    assert merge_probabilities(np.zeros(0, np.float32), np.zeros(0, np.int64), 0).tolist() == []


@pytest.fixture
def folder(reader: Reader, tmp_path: Path) -> Path:
    reader.save_pretrained(tmp_path / "reader")
    return tmp_path / "reader"


def counting_loader(folder: Path) -> tuple[Callable[[], Reader], list[Path]]:
    loaded: list[Path] = []

    def load() -> Reader:
        loaded.append(folder)
        return Reader.from_pretrained(folder)

    return load, loaded


def same(one: TeacherLogits, other: TeacherLogits) -> bool:
    return all(np.array_equal(value, vars(other)[name]) for name, value in vars(one).items())


def test_cache_is_used_the_second_time(folder: Path, questioned: list[QuestionedPassage]) -> None:
    load, loaded = counting_loader(folder)
    advanced: list[int] = []
    first = TeacherLogits.load_or_compute(folder, load, questioned, advanced.append)
    second = TeacherLogits.load_or_compute(folder, load, questioned)
    assert (len(loaded), sum(advanced)) == (1, len(questioned))
    assert same(first, second)
    assert not list(folder.glob("*.partial"))


def test_cache_is_not_used_for_other_data(folder: Path, questioned: list[QuestionedPassage]) -> None:
    load, loaded = counting_loader(folder)
    TeacherLogits.load_or_compute(folder, load, questioned[:2])
    passage = questioned[1]
    asked = replace(passage, questions=(Question("new", "what?", ()), *passage.questions))
    other_text = replace(passage, passage=replace(passage.passage, text="the city"))
    for changed in (questioned[:1], [questioned[0], asked], [questioned[0], other_text], questioned[1::-1]):
        before = len(loaded)
        logits = TeacherLogits.load_or_compute(folder, load, changed)
        assert len(loaded) == before + 1
        assert len(logits.token_counts) == len(changed)


def test_cache_is_not_used_for_other_weights(
    folder: Path, questioned: list[QuestionedPassage], tiny_base: Path
) -> None:
    load, loaded = counting_loader(folder)
    first = TeacherLogits.load_or_compute(folder, load, questioned)
    torch.manual_seed(99)
    Reader.from_base(tiny_base, passage_tokens=32, overlap=4, title_tokens=2, question_tokens=16).save_pretrained(
        folder
    )
    second = TeacherLogits.load_or_compute(folder, load, questioned)
    assert len(loaded) == 2
    assert not same(first, second)


def test_fingerprint_ignores_what_the_reader_does_not_see(folder: Path, questioned: list[QuestionedPassage]) -> None:
    moved = [replace(p, article=p.article + 1) for p in questioned]
    assert fingerprint(folder, moved) == fingerprint(folder, questioned)


def test_a_teacher_must_be_a_reader(
    folder: Path, tiny_model: PhraseModel, questioned: list[QuestionedPassage], tmp_path: Path
) -> None:
    load, loaded = counting_loader(folder)
    tiny_model.save_pretrained(tmp_path / "phrases")
    (folder / "model.safetensors").unlink()
    for path, message in (
        (tmp_path / "nowhere", "does not exist"),
        (tmp_path / "phrases", "expected 'reader'"),
        (folder, r"has no model\.safetensors"),
    ):
        with pytest.raises(ModelError, match=message):
            TeacherLogits.load_or_compute(path, load, questioned)
    assert loaded == []
