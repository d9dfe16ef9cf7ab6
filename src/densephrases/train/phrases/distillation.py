"""Distributions of the reader over the student's tokens; the reader's logits are computed once and cached."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from densephrases.arrays import Floats
from densephrases.atomic_files import replacing
from densephrases.data.squad import QuestionedPassage
from densephrases.model.config import ModelConfig
from densephrases.model.tokenizer import TokenizedPassage
from densephrases.nn.checkpoint import weights_path
from densephrases.nn.reader import Reader

Distributions = Mapping[str, tuple[Floats, Floats]]
"""Start and end log-probabilities over the tokens of the passage, by question id."""

CACHE_VERSION = "1"


@dataclass(frozen=True)
class TeacherLogits:
    """Logits of the reader over its own tokens, concatenated by passage and question."""

    token_counts: NDArray[np.int64]  # per passage
    offsets: NDArray[np.int32]  # (tokens of all passages, 2)
    logits: NDArray[np.float16]  # (2, tokens of all questions' passages)

    @classmethod
    def compute(
        cls, reader: Reader, passages: Sequence[QuestionedPassage], advance: Callable[[int], None] = lambda _: None
    ) -> "TeacherLogits":
        offsets, logits = [], []
        texts = [(p.passage.text, [q.text for q in p.questions]) for p in passages]
        for read in reader.read(texts):
            offsets.append(read.offsets_T2.astype(np.int32))
            logits.append(read.logits_Q2T.transpose(1, 0, 2).reshape(2, -1).astype(np.float16))
            advance(1)
        return cls(np.array([len(o) for o in offsets]), np.concatenate(offsets), np.concatenate(logits, axis=1))

    @classmethod
    def load_or_compute(
        cls,
        reader_folder: Path,
        load_reader: Callable[[], Reader],
        passages: Sequence[QuestionedPassage],
        advance: Callable[[int], None] = lambda _: None,
    ) -> "TeacherLogits":
        """Loads the logits from a cache in the reader's folder, or computes and stores them there."""
        ModelConfig.load(reader_folder, kind="reader")  # refuses any other kind of model
        path = reader_folder / f"logits-{fingerprint(reader_folder, passages)}.safetensors"
        if path.is_file():
            return cls(**load_file(path))
        teacher = cls.compute(load_reader(), passages, advance)
        with replacing(path) as new:
            save_file(vars(teacher), new)
        return teacher

    def distributions(
        self, passages: Sequence[QuestionedPassage], students: Sequence[TokenizedPassage], temperature: float = 1.0
    ) -> Distributions:
        """Distributions over the student's tokens, aligned by character offsets."""
        result: dict[str, tuple[Floats, Floats]] = {}
        offset_at, logit_at = 0, 0
        for passage, student, count in zip(passages, students, self.token_counts.tolist(), strict=True):
            own = self.offsets[offset_at : offset_at + count]
            offset_at += count
            starts = align_boundaries(own[:, 0], student.offsets, side="start")
            ends = align_boundaries(own[:, 1], student.offsets, side="end")
            for question in passage.questions:
                start, end = self.logits[:, logit_at : logit_at + count].astype(np.float32) / temperature
                logit_at += count
                result[question.id] = (
                    merge_probabilities(log_softmax(start), starts, len(student.offsets)),
                    merge_probabilities(log_softmax(end), ends, len(student.offsets)),
                )
        return result


def align_boundaries(positions: NDArray[np.integer], student_T2: NDArray[np.int64], side: str) -> NDArray[np.int64]:
    """The student's token that contains the character at each of the teacher's token boundaries."""
    if len(student_T2) == 0:
        return np.zeros(len(positions), dtype=np.int64)
    if side == "start":
        found = np.searchsorted(student_T2[:, 0], positions, side="right") - 1
    else:
        found = np.searchsorted(student_T2[:, 1], positions, side="left")
    return np.asarray(np.clip(found, 0, len(student_T2) - 1), dtype=np.int64)


def merge_probabilities(log_probabilities: Floats, into: NDArray[np.int64], count: int) -> Floats:
    """Log-probabilities over `count` student tokens: the sum over the teacher tokens aligned with each."""
    if len(into) == count and np.array_equal(into, np.arange(count)):
        return log_probabilities
    mass = np.bincount(into, weights=np.exp(log_probabilities), minlength=count)
    return np.log(np.maximum(mass, 1e-12)).astype(np.float32)


def log_softmax(logits: Floats) -> Floats:
    if len(logits) == 0:
        return logits
    shifted = logits - logits.max()
    return np.asarray(shifted - np.log(np.exp(shifted).sum()), dtype=np.float32)


def fingerprint(reader_folder: Path, passages: Sequence[QuestionedPassage]) -> str:
    """A hash of the reader's weights, the passages and the questions."""
    digest = hashlib.sha256(CACHE_VERSION.encode())
    with weights_path(reader_folder).open("rb") as file:
        digest.update(hashlib.file_digest(file, "sha256").digest())
    for p in passages:
        digest.update(json.dumps([p.passage.text, [(q.id, q.text) for q in p.questions]]).encode())
    return digest.hexdigest()[:16]
