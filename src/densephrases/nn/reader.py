"""The cross-attention reader: question and passage in one input. Slow and accurate, it teaches the phrase model."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor, nn

from densephrases.arrays import Floats
from densephrases.model.config import ModelConfig
from densephrases.model.padding import batches_by_length, token_batch
from densephrases.model.tokenizer import (
    Ids,
    Tokens,
    Window,
    load_tokenizer,
    phrase_max_span,
    spread_windows,
    token_offsets,
)
from densephrases.nn.backbone import build_backbone, load_backbone, read_config, read_tokenizer
from densephrases.nn.checkpoint import load_weights, save_folder
from densephrases.nn.device import inference, to_device, to_numpy

TOKENS_PER_BATCH = 65536
PASSAGES_AT_ONCE = 512


@dataclass(frozen=True, slots=True)
class ReadPassage:
    """A passage's tokens and, for each of its questions, their start and end logits (questions, 2, tokens).

    `null_Q` is the logit of no answer, start and end together: of several windows the lowest.
    """

    offsets_T2: NDArray[np.int64]
    max_span_T: NDArray[np.int64]
    logits_Q2T: Floats
    null_Q: Floats


class Reader(nn.Module):
    def __init__(self, config: ModelConfig, tokenizer: Tokenizer) -> None:
        super().__init__()
        self.config = config
        self.tokens = Tokens(tokenizer, config)
        self.backbone = build_backbone(config.backbone)
        self.boundaries = nn.Linear(config.hidden, 2)

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        """Start and end logits (rows, 2, tokens)."""
        states = self.backbone(ids, types, mask)
        with torch.autocast(states.device.type, enabled=False):  # few operations, so float32 costs little
            logits: Tensor = self.boundaries(states.float()).transpose(1, 2)
        return logits

    @classmethod
    def from_base(cls, base: str | Path, **settings: Any) -> Self:
        config = ModelConfig(base=Path(base).name, backbone=read_config(base).to_dict(), kind="reader", **settings)
        reader = cls(config, read_tokenizer(base))
        reader.backbone.load_state_dict(load_backbone(base).state_dict())
        return reader

    def save_pretrained(self, folder: str | Path, card: str = "") -> None:
        save_folder(Path(folder), self, self.config, self.tokens.tokenizer, card)

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> Self:
        path = Path(folder)
        reader = cls(ModelConfig.load(path, kind="reader"), load_tokenizer(path))
        load_weights(path, reader)
        return reader

    def windows(self, question: Ids, passage: list[int]) -> list[Window]:
        """Windows of the passage, each with the question before it."""
        inner = question[len(self.tokens.specials.before) : -len(self.tokens.specials.after)].tolist()
        room = self.config.passage_tokens - self.tokens.specials.count - len(inner)
        spread = spread_windows(len(passage), room, min(self.config.overlap, room // 2))
        return [self.tokens.frame(inner, passage[start:stop], start, own) for start, stop, own in spread]

    def read(self, passages: Sequence[tuple[str, Sequence[str]]]) -> Iterator[ReadPassage]:
        """The logits of all tokens of each passage, for each of its questions.

        The next passages are tokenized by a thread meanwhile: a GPU reads as fast as they are.
        """
        chunks = [passages[at : at + PASSAGES_AT_ONCE] for at in range(0, len(passages), PASSAGES_AT_ONCE)]
        with ThreadPoolExecutor(max_workers=1) as thread:
            coming = [thread.submit(self._prepared, chunk) for chunk in chunks[:1]]
            for following in [*chunks[1:], None]:
                if not coming:
                    return
                results, jobs = coming.pop().result()
                if following is not None:
                    coming.append(thread.submit(self._prepared, following))
                self._fill(jobs)
                yield from results

    def _prepared(
        self, passages: Sequence[tuple[str, Sequence[str]]]
    ) -> tuple[list[ReadPassage], list[tuple[ReadPassage, int, Window]]]:
        """Passages whose logits are still zero, and for each question and window where its logits belong."""
        encodings = self.tokens.tokenizer.encode_batch([text for text, _ in passages], add_special_tokens=False)
        results, jobs = [], []
        for (text, questions), encoding in zip(passages, encodings, strict=True):
            offsets = token_offsets(encoding, text)
            logits = np.zeros((len(questions), 2, len(offsets)), dtype=np.float32)
            null = np.full(len(questions), np.inf, dtype=np.float32)
            read = ReadPassage(offsets, phrase_max_span(text, offsets, self.config.max_words), logits, null)
            results.append(read)
            for row, question in enumerate(self.tokens.questions(questions)):
                jobs += [(read, row, window) for window in self.windows(question, encoding.ids)]
        return results, jobs

    def _fill(self, jobs: list[tuple[ReadPassage, int, Window]]) -> None:
        device = next(self.parameters()).device
        for rows in batches_by_length([len(window.ids) for *_, window in jobs], TOKENS_PER_BATCH):
            picked = [jobs[i] for i in rows]
            batch = token_batch([w.ids for *_, w in picked], [w.types for *_, w in picked], self.tokens.pad_id)
            with inference(self, device):
                logits = to_numpy(self(*to_device(batch, device)))
            for result, (read, row, window) in zip(logits, picked, strict=True):
                read.logits_Q2T[row][:, window.own] = result[:, window.own_columns]
                read.null_Q[row] = min(read.null_Q[row], result[:, 0].sum())
