"""Text to token ids with offsets; only this module knows about special tokens, titles and windows."""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from densephrases.checksums import read_verified
from densephrases.errors import ModelError
from densephrases.model.config import ModelConfig
from densephrases.text.passages import Passage
from densephrases.text.words import skip_spaces, word_numbers

logger = logging.getLogger(__name__)

TOKENIZER_FILE = "tokenizer.json"
MAX_PHRASE_TOKENS = 64  # bounds phrases in scripts that do not separate words by spaces
SEPARATOR = "[SEP]"  # separates the parts of a question for every model, as in "Ada Lovelace [SEP] place of birth"

_SEPARATOR = re.compile(r"(?:^|(?<=\s))\[SEP\](?=\s|$)")
_PROBE = "Who was it, in 1889? \u00e9\u4e2d\U0001f600"
_CASES = ("Aa", "Bb", "Ee", "Ss")

Ids = NDArray[np.int64]


def parted_question(text: str) -> list[str]:
    """The parts of a question before, between and after "[SEP]" that stands between spaces."""
    return _SEPARATOR.split(text)


@dataclass(frozen=True, slots=True)
class Window:
    """One input of the passage encoder: special tokens, title, and the passage tokens `start:stop`.

    Neighbouring windows overlap. Each takes the results of the half of the overlap for which it has more context, so
    that the ranges `own_start:own_stop` of a passage's windows cover every token exactly once.
    """

    ids: Ids
    types: Ids
    first: int  # index in `ids` of passage token `start`
    start: int
    stop: int
    own_start: int
    own_stop: int

    @property
    def own(self) -> slice:
        """The passage's tokens whose results are taken from this window."""
        return slice(self.own_start, self.own_stop)

    @property
    def own_columns(self) -> slice:
        """Their range in `ids`."""
        shift = self.first - self.start
        return slice(self.own_start + shift, self.own_stop + shift)


@dataclass(frozen=True, slots=True)
class TokenizedPassage:
    offsets: NDArray[np.int64]  # (tokens, 2): begin and end of each token in the passage's text
    max_span: NDArray[np.int64]  # the last token of the longest phrase that starts with this one
    windows: tuple[Window, ...]


@dataclass(frozen=True, slots=True)
class _Specials:
    """The special tokens that a tokenizer puts around a pair of texts, and the token types of both."""

    before: list[int]
    between: list[int]
    after: list[int]
    types: tuple[int, int]

    @classmethod
    def from_tokenizer(cls, tokenizer: Tokenizer) -> "_Specials":
        pair = tokenizer.encode("a", "b")
        sequence = list(pair.sequence_ids)
        if 0 not in sequence or 1 not in sequence or sequence[0] is not None or sequence[-1] is not None:
            raise ModelError(
                "The tokenizer puts no special tokens around a pair of texts ([CLS] title [SEP] passage [SEP]): "
                "use a BERT-like encoder's tokenizer."
            )
        a, b = sequence.index(0), sequence.index(1)
        a_end = max(i for i, s in enumerate(sequence) if s == 0) + 1
        b_end = max(i for i, s in enumerate(sequence) if s == 1) + 1
        return cls(pair.ids[:a], pair.ids[a_end:b], pair.ids[b_end:], (pair.type_ids[a], pair.type_ids[b]))

    @property
    def count(self) -> int:
        return len(self.before) + len(self.between) + len(self.after)


class Tokens:
    """A tokenizer together with the limits of a model's inputs."""

    def __init__(self, tokenizer: Tokenizer, config: ModelConfig) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True  # "[SEP]" in a text means these five characters
        self.tokenizer = tokenizer
        self.config = config
        self.specials = _Specials.from_tokenizer(tokenizer)

    @classmethod
    def load(cls, folder: Path, config: ModelConfig) -> "Tokens":
        return cls(load_tokenizer(folder), config)

    @cached_property
    def pad_id(self) -> int:
        for token in ("<pad>", "[PAD]"):  # MPNet has both and uses the first
            if (number := self.tokenizer.token_to_id(token)) is not None:
                return number
        return 0

    @cached_property
    def cased(self) -> bool:
        """Whether the tokenizer distinguishes upper and lower case."""
        ids = self.tokenizer.encode_batch([letter for pair in _CASES for letter in pair], add_special_tokens=False)
        return any(upper.ids != lower.ids for upper, lower in zip(ids[::2], ids[1::2], strict=True))

    def questions(self, texts: Sequence[str]) -> list[Ids]:
        """Token ids of questions, without their final question mark.

        "[SEP]" between spaces becomes the tokens that the model puts between two texts.
        """
        parted = [parted_question(re.sub(r"[\s?]+$", "", text)) for text in texts]
        encodings = iter(self.tokenizer.encode_batch([part.rstrip() for parts in parted for part in parts]))
        joined = [self._joined([next(encodings).ids for _ in parts]) for parts in parted]
        return [self._question(ids, text) for ids, text in zip(joined, texts, strict=True)]

    def _joined(self, parts: list[list[int]]) -> list[int]:
        if len(parts) == 1:
            return parts[0]
        before, after = len(self.specials.before), len(self.specials.after)
        ids = list(self.specials.before)
        for number, part in enumerate(parts):
            ids += (self.specials.between if number else []) + part[before : len(part) - after]
        return ids + self.specials.after

    def _question(self, ids: list[int], text: str) -> Ids:
        limit = self.config.question_tokens
        if len(ids) > limit:
            logger.warning("A question of %d tokens was cut to %d: %.60s...", len(ids), limit, text)
            closing = len(self.specials.after)
            ids = ids[: limit - closing] + ids[-closing:]
        return np.array(ids, dtype=np.int64)

    def passages(self, passages: Sequence[Passage]) -> list[TokenizedPassage]:
        texts = self.tokenizer.encode_batch([p.text for p in passages], add_special_tokens=False)
        titles = self.tokenizer.encode_batch([p.title for p in passages], add_special_tokens=False)
        sections = self.tokenizer.encode_batch([p.section for p in passages], add_special_tokens=False)
        limit = self.config.title_tokens
        return [
            self._passage(passage.text, text, title_ids(title.ids, section.ids, limit))
            for passage, text, title, section in zip(passages, texts, titles, sections, strict=True)
        ]

    def _passage(self, text: str, encoding: Encoding, title: list[int]) -> TokenizedPassage:
        offsets = token_offsets(encoding, text)
        room = self.config.passage_tokens - self.specials.count - len(title)
        windows = tuple(
            self.frame(title, encoding.ids[start:stop], start, own)
            for start, stop, own in spread_windows(len(encoding.ids), room, self.config.overlap)
        )
        return TokenizedPassage(offsets, phrase_max_span(text, offsets, self.config.max_words), windows)

    def reading_window(self, question: Ids, window: Window) -> Window:
        """The input of the reader: a passage's window with the question, as `questions` returns it, before it."""
        rest = window.ids[len(self.specials.before) :]
        types = [np.full(len(question), self.specials.types[0]), np.full(len(rest), self.specials.types[1])]
        shift = len(question) - len(self.specials.before)
        return replace(
            window, ids=np.concatenate([question, rest]), types=np.concatenate(types), first=window.first + shift
        )

    def excerpt(self, window: Window, start: int, stop: int) -> Window:
        """A passage's window with only the tokens `start:stop` of its text, all of them its own."""
        first, shift, closing = window.first, window.first - window.start, len(self.specials.after)
        kept = np.r_[0:first, start + shift : stop + shift, len(window.ids) - closing : len(window.ids)]
        return Window(window.ids[kept], window.types[kept], first, start, stop, start, stop)

    def frame(self, first: list[int], second: list[int], start: int, own: tuple[int, int]) -> Window:
        """Two texts with special tokens before, between and after them."""
        s = self.specials
        head = s.before + first + s.between
        ids = head + second + s.after
        types = [s.types[0]] * len(head) + [s.types[1]] * (len(ids) - len(head))
        return Window(
            np.array(ids, dtype=np.int64), np.array(types, dtype=np.int64), len(head), start, start + len(second), *own
        )


def title_ids(title: list[int], section: list[int], limit: int) -> list[int]:
    """At most `limit` tokens of a title and of the headings below it, which have half of them if both are long."""
    for_section = max(limit - len(title), limit // 2)
    own = section[:for_section]
    return title[: limit - len(own)] + own


def load_tokenizer(folder: Path) -> Tokenizer:
    path = folder / TOKENIZER_FILE
    if not path.is_file():
        raise ModelError(f"Model folder '{folder}' has no {TOKENIZER_FILE}; it is incomplete.")
    content = read_verified(path)
    try:
        tokenizer = Tokenizer.from_buffer(content)
        tokenizer.encode_batch([_PROBE, (_PROBE, _PROBE)])  # what can be read may still name tokens that it lacks
    except BaseException as error:  # the library raises plain Exception, and its panics are not even that
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise ModelError(f"'{path}' cannot be read as a tokenizer ({error}); copy the model folder again.") from error
    return tokenizer


def token_offsets(encoding: Encoding, text: str) -> NDArray[np.int64]:
    """Begin and end of each token in the text."""
    offsets = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
    # A SentencePiece token includes the space before its word; no phrase should begin with it.
    offsets[:, 0] = np.minimum(skip_spaces(text, offsets[:, 0]), offsets[:, 1])
    return offsets


def spread_windows(count: int, room: int, overlap: int) -> list[tuple[int, int, tuple[int, int]]]:
    """Windows (start, stop, (own_start, own_stop)) of at most `room` tokens over `count` tokens."""
    if count == 0:
        return []
    step = room - overlap
    starts = list(range(0, max(count - overlap, 1), step))
    stops = [min(start + room, count) for start in starts]
    borders = [0, *((start + stop) // 2 for start, stop in zip(starts[1:], stops[:-1], strict=True)), count]
    return [
        (start, stop, (own_start, own_stop))
        for start, stop, own_start, own_stop in zip(starts, stops, borders[:-1], borders[1:], strict=True)
    ]


def phrase_max_span(text: str, offsets_T2: NDArray[np.int64], max_words: int) -> NDArray[np.int64]:
    """For each token the last token of the longest phrase that starts with it."""
    count = len(offsets_T2)
    if count == 0:
        return np.zeros(0, dtype=np.int64)
    words_T = word_numbers(text, offsets_T2[:, 0])
    by_words = np.searchsorted(words_T, words_T + max_words, side="left") - 1
    return np.asarray(np.minimum(by_words, np.arange(count) + MAX_PHRASE_TOKENS - 1), dtype=np.int64)
