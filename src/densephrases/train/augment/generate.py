"""Generates questions for candidate answers: batched, resumable, reproducible, without duplicates."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch

from densephrases.data.decontaminate import HeldOut, LeakReport
from densephrases.data.generated.answers_file import AnsweredPassage, read_answers
from densephrases.data.generated.candidate_answers import CandidateAnswer
from densephrases.data.generated.resumable_lines import ResumableLines
from densephrases.data.squad import GoldAnswer, Question, QuestionedPassage, write_squad
from densephrases.errors import ConfigError, DataError
from densephrases.model.tokenizer import Ids
from densephrases.nn.checkpoint import WEIGHTS_FILE
from densephrases.nn.device import best_device
from densephrases.nn.question_generator import Decoding, QuestionGenerator
from densephrases.text.normalize import normalize_answer
from densephrases.text.passages import Passage
from densephrases.train.phrases.examples import token_span


@dataclass(frozen=True, kw_only=True)
class Generation:
    """Settings for generating questions.

    Attributes:
        answers: The answers file.
        exclude: SQuAD files whose articles and passages are left out.
        per_passage: Maximum number of questions per passage, for randomly drawn candidates; None takes all.
        decoding: Settings of decoding.
        tokens_per_batch: Prompt tokens per batch.
        limit: Maximum number of passages.
    """

    answers: Path
    exclude: tuple[Path, ...] = ()
    per_passage: int | None = 10
    decoding: Decoding = field(default_factory=Decoding)
    tokens_per_batch: int = 65536
    limit: int | None = None

    def __post_init__(self) -> None:
        if self.per_passage is not None and self.per_passage < 1:
            raise ConfigError(f"per_passage={self.per_passage} is too small; expected at least 1.")

    @property
    def group(self) -> int:
        """Passages whose prompts are batched together, sorted by length: enough for several batches."""
        return max(self.tokens_per_batch // 128, 8)

    def settings(self, model: Path) -> dict[str, Any]:
        """Everything that determines the output."""
        files = {"answers": _digest(self.answers), "model": _digest(model / WEIGHTS_FILE)}
        return asdict(self) | files | {"exclude": [path.name for path in self.exclude]}


@dataclass(slots=True)
class GenerationReport:
    """What became of the candidate answers."""

    passages: int = 0
    candidates: int = 0
    unfinished: int = 0  # the question has no end
    duplicates: int = 0  # the same question exists already, written by a person or the generator
    kept: int = 0
    leaks: LeakReport = field(default_factory=LeakReport)


def generate_questions(
    generation: Generation,
    model: Path,
    out: Path,
    resume: bool = True,
    cpu: bool = False,
    advance: Callable[[int], None] = lambda _: None,
) -> GenerationReport:
    """Writes SQuAD JSON with a question for each candidate, resuming an interrupted run."""
    report = GenerationReport()
    passages = list(islice(_admitted(generation, report.leaks), generation.limit))
    generator = load_generator(model, cpu)
    lines = ResumableLines(out, generation.settings(model), generation.group, resume)
    advance(lines.done)
    for at in range(lines.done, len(passages), generation.group):
        group = passages[at : at + generation.group]
        lines.add(_ask(generator, group, generation))
        advance(len(group))
    written = without_duplicates(passages, lines.records(), report)
    if not written:
        raise DataError(f"No question was generated from the answers in '{generation.answers}': {report}.")
    about = {"generator": generator.config.base, "excluded": [path.name for path in generation.exclude]}
    write_squad(out, written, about)
    lines.discard()
    return report


def load_generator(model: Path, cpu: bool = False) -> QuestionGenerator:
    """In bfloat16 on a GPU, if there is one."""
    generator, device = QuestionGenerator.from_pretrained(model).eval(), best_device(cpu)
    return generator.to(device, torch.bfloat16) if device.type == "cuda" else generator


def _admitted(generation: Generation, leaks: LeakReport) -> Iterator[AnsweredPassage]:
    held_out = HeldOut.read(generation.exclude)
    for passage in read_answers(generation.answers):
        if held_out.admits(passage.source.passage, leaks):
            chosen = sample_candidates(passage, generation.per_passage, generation.decoding.seed)
            yield AnsweredPassage(passage.source, chosen)


def sample_candidates(passage: AnsweredPassage, limit: int | None, seed: int) -> tuple[CandidateAnswer, ...]:
    """At most `limit` candidates in text order, drawn at random with a seed for each passage."""
    found = passage.candidates
    if limit is None or len(found) <= limit:
        return found
    rng = np.random.default_rng((seed, prompt_key(passage.source.id, passage.source.passage, -1)))
    return tuple(found[i] for i in sorted(rng.choice(len(found), limit, replace=False).tolist()))


def prompt_key(name: str, passage: Passage, start: int) -> int:
    """A hash of passage and answer, which seeds sampling independently of the batch."""
    content = f"{name}\n{passage.title}\n{passage.text}\n{start}".encode()
    return int.from_bytes(hashlib.sha256(content).digest()[:8])


def _ask(
    generator: QuestionGenerator, group: Sequence[AnsweredPassage], generation: Generation
) -> Iterator[dict[str, Any]]:
    """For each passage of the group a question per candidate; None where it is incomplete."""
    prompts: list[Ids] = []
    places: list[tuple[int, int]] = []
    encoded = generator.prompts.passages([passage.source.passage for passage in group])
    for row, (passage, tokens) in enumerate(zip(group, encoded, strict=True)):
        for column, candidate in enumerate(passage.candidates):
            span = token_span(tokens.offsets, candidate.start, candidate.end)
            prompt = None if span is None else generator.prompts.prompt(tokens, *span)
            if prompt is not None:
                prompts.append(prompt)
                places.append((row, column))
    numbers = [
        prompt_key(group[row].source.id, group[row].source.passage, group[row].candidates[column].start)
        for row, column in places
    ]
    written = generator.generate(prompts, generation.decoding, numbers, generation.tokens_per_batch)
    asked: list[list[str | None]] = [[None] * len(passage.candidates) for passage in group]
    for (row, column), text in zip(places, written, strict=True):
        asked[row][column] = text
    for passage, texts in zip(group, asked, strict=True):
        yield {"id": passage.source.id, "questions": texts}


def without_duplicates(
    passages: Sequence[AnsweredPassage], records: Sequence[dict[str, Any]], report: GenerationReport
) -> list[QuestionedPassage]:
    """The generated questions with their passages, without questions that occur twice or were asked by people."""
    seen = {normalize_answer(text) for passage in passages for text in passage.source.questions}
    result = []
    for passage, record in zip(passages, records, strict=True):
        report.passages += 1
        questions = []
        for candidate, text in zip(passage.candidates, record["questions"], strict=True):
            report.candidates += 1
            key = normalize_answer(text or "")
            if not key:
                report.unfinished += 1
            elif key in seen:
                report.duplicates += 1
            else:
                seen.add(key)
                report.kept += 1
                questions.append(_question(passage, candidate, text))
        if questions:
            result.append(QuestionedPassage(passage.source.passage, passage.source.article, tuple(questions)))
    return result


def _question(passage: AnsweredPassage, candidate: CandidateAnswer, text: str) -> Question:
    name = f"{passage.source.id}@{candidate.start}-{candidate.end}"
    return Question(name, text, (GoldAnswer(candidate.text, candidate.start),), True, candidate.type)


def _digest(path: Path) -> str:
    if not path.is_file():
        raise DataError(f"'{path}' does not exist; give an answers file and the folder of a generator.")
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]
