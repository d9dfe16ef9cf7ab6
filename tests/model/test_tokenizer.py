"""Tokens, windows and offsets, with three kinds of tokenizers small enough to build here."""

import json
import logging
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer
from tokenizers.models import BPE, Unigram, WordPiece
from tokenizers.normalizers import BertNormalizer, Replace
from tokenizers.pre_tokenizers import BertPreTokenizer, ByteLevel, Metaspace
from tokenizers.processors import BertProcessing, RobertaProcessing, TemplateProcessing

from densephrases.errors import ModelError
from densephrases.model.config import ModelConfig
from densephrases.model.tokenizer import (
    MAX_PHRASE_TOKENS,
    TOKENIZER_FILE,
    Ids,
    Tokens,
    Window,
    load_tokenizer,
    phrase_max_span,
    spread_windows,
    title_ids,
)
from densephrases.text.passages import Passage
from tests.conftest import small_tokenizer

LETTERS = "abcdefghijklmnopqrstuvwxyz.,é中"
ODD_TEXT = st.text(st.sampled_from("ab. \t\n\u00a0\u3000\u200b\x00é中\U0001d538\u0301"), max_size=60)


def bert_like() -> Tokenizer:
    """WordPiece of single letters: a word of n letters is n tokens."""
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *LETTERS, *("##" + letter for letter in LETTERS)]
    tokenizer = Tokenizer(WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))  # noqa: S106
    tokenizer.normalizer = BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer


def roberta_like() -> Tokenizer:
    """Byte-level BPE without merges: each byte is a token, spaces included."""
    pieces = ["<s>", "<pad>", "</s>", *sorted(ByteLevel.alphabet())]
    tokenizer = Tokenizer(BPE({piece: i for i, piece in enumerate(pieces)}, []))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = RobertaProcessing(("</s>", 2), ("<s>", 0))
    return tokenizer


def sentencepiece_like() -> Tokenizer:
    """Unigram whose tokens take the space before a word along, as XLM-R's do."""
    pieces = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁a", "▁b", "▁ab", *LETTERS]
    tokenizer = Tokenizer(Unigram([(piece, -len(LETTERS) / (1 + len(piece))) for piece in pieces], unk_id=3))
    tokenizer.normalizer = Replace(Regex(r"\s"), " ")
    tokenizer.pre_tokenizer = Metaspace()
    tokenizer.post_processor = TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return tokenizer


KINDS: list[Callable[[], Tokenizer]] = [bert_like, roberta_like, sentencepiece_like]
every_kind = pytest.mark.parametrize("kind", KINDS)


def tokens(kind: Callable[[], Tokenizer] = bert_like, **settings: Any) -> Tokens:
    small = {"passage_tokens": 24, "overlap": 6, "title_tokens": 4, "question_tokens": 12, "max_words": 3}
    return Tokens(kind(), ModelConfig(base="tiny", backbone={"hidden_size": 8}, **(small | settings)))


def question(made: Tokens, text: str) -> Ids:
    (ids,) = made.questions([text])
    return ids


@st.composite
def window_sizes(draw: st.DrawFn) -> tuple[int, int, int]:
    room = draw(st.integers(1, 60))
    return draw(st.integers(0, 400)), room, draw(st.integers(0, room - 1))


@given(window_sizes())
def test_windows_own_every_token_exactly_once(sizes: tuple[int, int, int]) -> None:
    count, room, overlap = sizes
    windows = spread_windows(count, room, overlap)
    assert [token for _, _, own in windows for token in range(*own)] == list(range(count))


@given(window_sizes())
def test_windows_are_short_enough_and_see_context(sizes: tuple[int, int, int]) -> None:
    count, room, overlap = sizes
    windows = spread_windows(count, room, overlap)
    for start, stop, (own_start, own_stop) in windows:
        assert start <= own_start < own_stop <= stop <= start + room
        assert start == 0 or own_start - start >= overlap // 2
        assert stop == count or stop - own_stop >= overlap // 2
    for (_, stop, _), (start, _, _) in pairwise(windows):
        assert stop - start == overlap


def test_what_fits_is_one_window() -> None:
    assert spread_windows(20, 20, 6) == [(0, 20, (0, 20))]
    assert len(spread_windows(21, 20, 6)) == 2


@every_kind
@given(text=ODD_TEXT, title=st.sampled_from(["", "ab", "a long title with many words"]))
def test_each_window_keeps_the_limit_and_its_tokens(kind: Callable[[], Tokenizer], text: str, title: str) -> None:
    made = tokens(kind)
    (passage,) = made.passages([Passage(text, title)])
    ids = made.tokenizer.encode(text, add_special_tokens=False).ids
    assert len(passage.offsets) == len(passage.max_span) == len(ids)
    for window in passage.windows:
        assert len(window.ids) == len(window.types) <= made.config.passage_tokens
        assert (
            window.ids[window.first : window.first + window.stop - window.start].tolist()
            == ids[window.start : window.stop]
        )


def pieces(made: Tokens, ids: np.ndarray[Any, Any]) -> list[str]:
    return [str(made.tokenizer.id_to_token(int(i))) for i in ids]


def test_bert_layout() -> None:
    made = tokens(bert_like)
    (window,) = made.passages([Passage("ab c", "t")])[0].windows
    assert pieces(made, window.ids) == ["[CLS]", "t", "[SEP]", "a", "##b", "c", "[SEP]"]
    assert window.types.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert (window.first, window.start, window.stop) == (3, 0, 3)
    assert pieces(made, question(made, "ab")) == ["[CLS]", "a", "##b", "[SEP]"]


def test_roberta_layout() -> None:
    made = tokens(roberta_like)
    (window,) = made.passages([Passage("ab c", "t")])[0].windows
    assert pieces(made, window.ids) == ["<s>", "t", "</s>", "</s>", "a", "b", "Ġ", "c", "</s>"]
    assert window.types.tolist() == [0] * 9
    assert window.first == 4
    assert pieces(made, question(made, "ab")) == ["<s>", "a", "b", "</s>"]


def test_no_title_leaves_the_separators() -> None:
    made = tokens(bert_like)
    (window,) = made.passages([Passage("a")])[0].windows
    assert pieces(made, window.ids) == ["[CLS]", "[SEP]", "a", "[SEP]"]


def test_tokenizer_without_special_tokens_is_refused() -> None:
    def bare() -> Tokenizer:
        tokenizer = Tokenizer(WordPiece({"[UNK]": 0, "a": 1, "b": 2}, unk_token="[UNK]"))  # noqa: S106
        tokenizer.pre_tokenizer = BertPreTokenizer()
        return tokenizer

    with pytest.raises(ModelError, match="no special tokens around a pair"):
        tokens(bare)


def test_title_is_cut_to_its_share() -> None:
    made = tokens(title_tokens=2)
    (window,) = made.passages([Passage("x", "abcdef")])[0].windows
    assert pieces(made, window.ids) == ["[CLS]", "a", "##b", "[SEP]", "x", "[SEP]"]


def test_long_passages_repeat_the_title_in_each_window() -> None:
    made = tokens()
    windows = made.passages([Passage("a " * 50, "t")])[0].windows
    assert len(windows) > 1
    assert {tuple(pieces(made, w.ids[: w.first])) for w in windows} == {("[CLS]", "t", "[SEP]")}
    assert {pieces(made, w.ids[-1:])[0] for w in windows} == {"[SEP]"}


def test_tokenizers_own_truncation_and_padding_are_switched_off() -> None:
    def limited() -> Tokenizer:
        tokenizer = bert_like()
        tokenizer.enable_truncation(5)
        tokenizer.enable_padding(length=40)
        return tokenizer

    assert len(tokens(limited).passages([Passage("a " * 30)])[0].offsets) == 30


def test_long_question_is_cut_with_a_warning_and_closed(caplog: pytest.LogCaptureFixture) -> None:
    made = tokens(question_tokens=64)
    with caplog.at_level(logging.WARNING):
        ids = question(made, "ab " * 40 + "?")
    assert len(ids) == 64
    assert pieces(made, ids)[:3] + pieces(made, ids)[-2:] == ["[CLS]", "a", "##b", "##b", "[SEP]"]
    assert "82 tokens was cut to 64" in caplog.text


def test_question_of_the_full_length_is_not_cut(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        ids = question(tokens(question_tokens=12), "abcde fghij")
    assert len(ids) == 12
    assert caplog.text == ""


@every_kind
@pytest.mark.parametrize("ending", ["?", "??", " ?", " ? ?", "?\n", "  "])
def test_question_marks_at_the_end_are_irrelevant(kind: Callable[[], Tokenizer], ending: str) -> None:
    made = tokens(kind)
    assert question(made, "ab b" + ending).tolist() == question(made, "ab b").tolist()


def test_a_question_mark_within_counts() -> None:
    made = tokens(roberta_like)
    assert question(made, "a? b").tolist() != question(made, "a b").tolist()


@pytest.mark.parametrize("text", ["", "?", " ?? "])
def test_empty_question_is_special_tokens_only(text: str) -> None:
    assert pieces(tokens(), question(tokens(), text)) == ["[CLS]", "[SEP]"]


@pytest.mark.parametrize("text", ["abc de, f.", "é 中中  ab", "\tab\n"])
def test_offsets_slice_back_to_the_tokens(text: str) -> None:
    made = tokens()
    (passage,) = made.passages([Passage(text)])
    tokens_found = made.tokenizer.encode(text, add_special_tokens=False).tokens
    assert [text[a:b] for a, b in passage.offsets] == [token.removeprefix("##") for token in tokens_found]


@every_kind
@given(text=ODD_TEXT)
def test_offsets_are_ordered_and_begin_at_no_space(kind: Callable[[], Tokenizer], text: str) -> None:
    offsets = tokens(kind).passages([Passage(text)])[0].offsets
    assert np.all(np.diff(offsets, axis=0) >= 0)
    for start, end in offsets.tolist():
        assert 0 <= start <= end <= len(text)
        assert not text[start:end][:1].isspace()


@every_kind
@given(text=ODD_TEXT)
def test_no_phrase_has_more_words_than_allowed(kind: Callable[[], Tokenizer], text: str) -> None:
    made = tokens(kind, max_words=2)
    (passage,) = made.passages([Passage(text)])
    for i, last in enumerate(passage.max_span.tolist()):
        assert i <= last < len(passage.offsets)
        assert len(text[passage.offsets[i, 0] : passage.offsets[last, 1]].split()) <= 2


def test_space_before_a_word_belongs_to_no_word_before_it() -> None:
    """SentencePiece tokens begin with a space, which once counted them to the word before."""
    made = tokens(sentencepiece_like, max_words=2)
    (passage,) = made.passages([Passage("ab a b ab")])
    assert passage.offsets.tolist() == [[0, 2], [3, 4], [5, 6], [7, 9]]
    assert passage.max_span.tolist() == [1, 2, 3, 3]


@every_kind
def test_empty_passage_has_no_windows(kind: Callable[[], Tokenizer]) -> None:
    (passage,) = tokens(kind).passages([Passage("", "title")])
    assert passage.windows == ()
    assert passage.offsets.shape == (0, 2)
    assert passage.max_span.shape == (0,)


def test_no_passages() -> None:
    assert tokens().passages([]) == []


@every_kind
def test_trailing_space_is_no_obstacle(kind: Callable[[], Tokenizer]) -> None:
    """Byte-level tokens for trailing spaces stand behind the last character once trimmed."""
    (passage,) = tokens(kind).passages([Passage(" ab  ")])
    assert len(passage.max_span) == len(passage.offsets) > 0


def test_text_without_spaces_is_bounded_by_tokens() -> None:
    made = tokens()
    (passage,) = made.passages([Passage("a" * 90)])
    assert passage.max_span.tolist() == [min(i + MAX_PHRASE_TOKENS - 1, 89) for i in range(90)]


def brute_reach(text: str, offsets: list[tuple[int, int]], max_words: int) -> list[int]:
    def word(position: int) -> int:
        in_word = position < len(text) and not text[position].isspace()
        return len(text[: position + 1].split()) - 1 if in_word else len(text[:position].split())

    count = len(offsets)
    return [
        max(
            j
            for j in range(i, min(i + MAX_PHRASE_TOKENS, count))
            if word(offsets[j][0]) - word(offsets[i][0]) < max_words
        )
        for i in range(count)
    ]


@st.composite
def texts_with_offsets(draw: st.DrawFn) -> tuple[str, list[tuple[int, int]]]:
    text = draw(ODD_TEXT | st.text(st.sampled_from("ab"), min_size=70, max_size=100))
    begins = sorted(draw(st.lists(st.integers(0, len(text)), max_size=120)))
    return text, [(begin, min(begin + 1, len(text))) for begin in begins]


@given(texts_with_offsets(), st.integers(1, 5))
def test_phrase_reach_like_brute_force(case: tuple[str, list[tuple[int, int]]], max_words: int) -> None:
    text, offsets = case
    array = np.array(offsets, dtype=np.int64).reshape(-1, 2)
    assert phrase_max_span(text, array, max_words).tolist() == brute_reach(text, offsets, max_words)


def mpnet_like() -> Tokenizer:
    """BERT's vocabulary behind special tokens of its own: two tokens look like padding, the first is."""
    pieces = ["<s>", "<pad>", "</s>", "<unk>", "[PAD]", "a", "b"]
    tokenizer = Tokenizer(WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="<unk>"))  # noqa: S106
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = RobertaProcessing(("</s>", 2), ("<s>", 0))
    return tokenizer


@pytest.mark.parametrize(("kind", "expected"), [(bert_like, 0), (roberta_like, 1), (mpnet_like, 1)])
def test_padding_token(kind: Callable[[], Tokenizer], expected: int) -> None:
    assert tokens(kind).pad_id == expected


def test_tokenizer_folder_round_trip(tmp_path: Path) -> None:
    bert_like().save(str(tmp_path / TOKENIZER_FILE))
    made = Tokens.load(tmp_path, tokens().config)
    assert question(made, "ab").tolist() == question(tokens(), "ab").tolist()


@pytest.mark.parametrize("content", [None, "", "{", '{"version": "1.0"}'])
def test_unusable_tokenizer_files(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / TOKENIZER_FILE).write_text(content)
    with pytest.raises(ModelError, match=TOKENIZER_FILE):
        load_tokenizer(tmp_path)


def test_a_windows_own_tokens_and_where_they_stand() -> None:
    ids = np.arange(10, 20)
    window = Window(ids, np.zeros_like(ids), first=3, start=100, stop=106, own_start=102, own_stop=105)
    assert list(range(200))[window.own] == [102, 103, 104]
    assert ids[window.own_columns].tolist() == [15, 16, 17]  # token 100 stands in column 3


@every_kind
def test_separator_of_a_question_is_the_models_own(kind: Callable[[], Tokenizer]) -> None:
    made = tokens(kind, question_tokens=32)
    expected = made.tokenizer.encode("ada", " birth")
    assert made.questions(["ada [SEP] birth?"])[0].tolist() == expected.ids
    assert made.questions(["ada", "ada [SEP] birth"])[1].tolist() == expected.ids  # beside other questions


def test_separator_survives_the_cut_of_a_long_question() -> None:
    made = tokens()
    found = made.questions([f"ada [SEP] {'b' * 100}"])[0].tolist()
    assert len(found) == made.config.question_tokens
    assert found.count(3) == 2
    assert found[-1] == 3


def test_special_tokens_spelled_in_texts_are_no_special_tokens() -> None:
    tokenizer = bert_like()
    tokenizer.add_special_tokens(["[SEP]", "[CLS]"])
    made = tokens(lambda: tokenizer)
    window = made.passages([Passage("a [SEP] b [CLS]", "[SEP]")])[0].windows[0]
    assert (window.ids.tolist().count(2), window.ids.tolist().count(3)) == (1, 2)
    assert made.questions(["what[SEP]is [CLS]"])[0].tolist().count(3) == 1


@pytest.mark.parametrize(("lowercase", "cased"), [(True, False), (False, True)])
def test_cased(lowercase: bool, cased: bool) -> None:
    tokenizer = bert_like()
    tokenizer.normalizer = BertNormalizer(lowercase=lowercase)
    assert tokens(lambda: tokenizer).cased is cased


def test_a_template_of_tokens_that_are_not_there_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The library panics, with an exception that is none of Python's."""
    for form in ("single", "pair"):
        values = json.loads(small_tokenizer().to_str())
        values["post_processor"][form][0]["SpecialToken"]["id"] = "[NONE]"
        (tmp_path / TOKENIZER_FILE).write_text(json.dumps(values))
        with pytest.raises(ModelError, match="cannot be read as a tokenizer"):
            load_tokenizer(tmp_path)
    capfd.readouterr()


@pytest.mark.parametrize(
    ("title", "section", "expected"),
    [
        ("abc", "", "abc"),
        ("abc", "xy", "abcxy"),
        ("abcdefgh", "", "abcdef"),
        ("abcdefgh", "xy", "abcdxy"),
        ("abcdefgh", "vwxyz", "abcvwx"),
        ("ab", "vwxyz", "abvwxy"),
        ("", "tuvwxyz", "tuvwxy"),
    ],
)
def test_titles_and_sections_share_the_room(title: str, section: str, expected: str) -> None:
    found = title_ids([ord(letter) for letter in title], [ord(letter) for letter in section], 6)
    assert "".join(map(chr, found)) == expected
