"""The cross-attention reader over retrieved passages, without torch where its engine is ONNX."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding

from contest.engines import Forward
from densephrases.arrays import Floats
from densephrases.model.config import ModelConfig
from densephrases.model.padding import batches_by_length, token_batch
from densephrases.model.tokenizer import Ids, Tokens, Window, phrase_max_span, spread_windows, token_offsets
from densephrases.search.scoring.in_passage import best_span


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """The best phrase of a passage, and the sum of its start and end logits."""

    text: str
    score: float


NOTHING = ReadAnswer("", -np.inf)


@dataclass(frozen=True, slots=True)
class _TokenizedText:
    encoding: Encoding
    offsets_T2: NDArray[np.int64]
    max_span_T: NDArray[np.int64]


class PassageReader:
    def __init__(self, folder: Path, forward: Forward, tokens_per_batch: int) -> None:
        self.config = ModelConfig.load(folder, kind="reader")
        self.tokens = Tokens.load(folder, self.config)
        self.forward = forward
        self.tokens_per_batch = tokens_per_batch

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[ReadAnswer]:
        """The best answer to each question in the text beside it; all pairs are computed in batches of equal length."""
        texts = self._tokenized({text for _, text in pairs})
        questions = dict(zip(asked := list({q for q, _ in pairs}), self.tokens.questions(asked), strict=True))
        logits = [np.zeros((2, len(texts[text].offsets_T2)), dtype=np.float32) for _, text in pairs]
        jobs = [
            (row_2T, window)
            for row_2T, (question, text) in zip(logits, pairs, strict=True)
            for window in self._windows(questions[question], texts[text].encoding.ids)
        ]
        self._fill(jobs)
        return [_best(text, texts[text], row_2T) for row_2T, (_, text) in zip(logits, pairs, strict=True)]

    def _tokenized(self, texts: set[str]) -> dict[str, _TokenizedText]:
        several = list(texts)
        encodings = self.tokens.tokenizer.encode_batch(several, add_special_tokens=False)
        return {text: self._with_reach(text, encoding) for text, encoding in zip(several, encodings, strict=True)}

    def _with_reach(self, text: str, encoding: Encoding) -> _TokenizedText:
        offsets_T2 = token_offsets(encoding, text)
        return _TokenizedText(encoding, offsets_T2, phrase_max_span(text, offsets_T2, self.config.max_words))

    def _windows(self, question: Ids, passage: list[int]) -> list[Window]:
        """The question before each window of the passage, as the reader was trained."""
        specials = self.tokens.specials
        inner = question[len(specials.before) : -len(specials.after)].tolist()
        room = self.config.passage_tokens - specials.count - len(inner)
        spread = spread_windows(len(passage), room, min(self.config.overlap, room // 2))
        return [self.tokens.frame(inner, passage[start:stop], start, own) for start, stop, own in spread]

    def _fill(self, jobs: list[tuple[Floats, Window]]) -> None:
        for rows in batches_by_length([len(window.ids) for _, window in jobs], self.tokens_per_batch):
            picked = [jobs[i] for i in rows]
            batch = token_batch([w.ids for _, w in picked], [w.types for _, w in picked], self.tokens.pad_id)
            for result, (target, window) in zip(self.forward(batch), picked, strict=True):
                target[:, window.own] = result[:, window.own_columns]


def _best(text: str, tokenized: _TokenizedText, logits_2T: Floats) -> ReadAnswer:
    span = best_span(logits_2T[0], logits_2T[1], tokenized.max_span_T)
    if span is None:
        return NOTHING
    offsets = tokenized.offsets_T2
    return ReadAnswer(text[offsets[span.start, 0] : offsets[span.end, 1]], span.score)
