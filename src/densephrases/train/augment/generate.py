"""Questions for candidate answers: batched, the same however often a run was killed, without those already asked."""

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
    """What is generated and how.

    Attributes:
        answers: The answers file.
        exclude: SQuAD files whose articles and passages may not enter.
        per_passage: At most so many questions for a passage, drawn from its candidates; None asks for all.
        decoding: How words are chosen.
        tokens_per_batch: Tokens of the prompts that are read at once.
        limit: Take only so many passages.
    """

    answers: Path
    exclude: tuple[Path, ...] = ()
    per_passage: int | None = 10
    decoding: Decoding = field(default_factory=Decoding)
    tokens_per_batch: int = 65536
    limit: int | None = None

    def __post_init__(self) -> None:
        if self.per_passage is not None and self.per_passage < 1:
            raise ConfigError(f"per_passage={self.per_passage} must be at least 1.")

    @property
    def group(self) -> int:
        """Passages whose prompts are sorted by length together: enough for several batches."""
        return max(self.tokens_per_batch // 128, 8)

    def settings(self, model: Path) -> dict[str, Any]:
        """All that decides what comes out."""
        files = {"answers": _digest(self.answers), "model": _digest(model / WEIGHTS_FILE)}
        return asdict(self) | files | {"exclude": [path.name for path in self.exclude]}


@dataclass(slots=True)
class GenerationReport:
    """What became of every candidate answer that was asked for."""

    passages: int = 0
    candidates: int = 0
    unfinished: int = 0  # the question did not come to its end
    duplicates: int = 0  # asked before, by people or by the generator
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
    """Writes SQuAD JSON with a question for each candidate; a run that was killed goes on where it was."""
    report = GenerationReport()
    passages = list(islice(_admitted(generation, report.leaks), generation.limit))
    generator = load_generator(model, cpu)
    lines = ResumableLines(out, generation.settings(model), generation.group, resume)
    advance(lines.done)
    for at in range(lines.done, len(passages), generation.group):
        group = passages[at : at + generation.group]
        lines.add(_ask(generator, group, generation))
        advance(len(group))
    written = finished(passages, lines.records(), report)
    if not written:
        raise DataError(f"Not one question came out of the answers in '{generation.answers}': {report}.")
    about = {"generator": generator.config.base, "excluded": [path.name for path in generation.exclude]}
    write_squad(out, written, about)
    lines.discard()
    return report


def load_generator(model: Path, cpu: bool = False) -> QuestionGenerator:
    """On a GPU in bfloat16, if there is one."""
    generator, device = QuestionGenerator.from_pretrained(model).eval(), best_device(cpu)
    return generator.to(device, torch.bfloat16) if device.type == "cuda" else generator


def _admitted(generation: Generation, leaks: LeakReport) -> Iterator[AnsweredPassage]:
    held_out = HeldOut.read(generation.exclude)
    for passage in read_answers(generation.answers):
        if held_out.admits(passage.source.passage, leaks):
            chosen = choose(passage, generation.per_passage, generation.decoding.seed)
            yield AnsweredPassage(passage.source, chosen)


def choose(passage: AnsweredPassage, limit: int | None, seed: int) -> tuple[CandidateAnswer, ...]:
    """At most `limit` candidates in order, drawn by the passage's own dice."""
    found = passage.candidates
    if limit is None or len(found) <= limit:
        return found
    rng = np.random.default_rng((seed, row_number(passage.source.id, passage.source.passage, -1)))
    return tuple(found[i] for i in sorted(rng.choice(len(found), limit, replace=False).tolist()))


def row_number(name: str, passage: Passage, start: int) -> int:
    """The same for the same answer of the same passage, in whichever batch."""
    content = f"{name}\n{passage.title}\n{passage.text}\n{start}".encode()
    return int.from_bytes(hashlib.sha256(content).digest()[:8])


def _ask(
    generator: QuestionGenerator, group: Sequence[AnsweredPassage], generation: Generation
) -> Iterator[dict[str, Any]]:
    """For each passage of the group its questions in the order of its candidates, None where none was finished."""
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
        row_number(group[row].source.id, group[row].source.passage, group[row].candidates[column].start)
        for row, column in places
    ]
    written = generator.generate(prompts, generation.decoding, numbers, generation.tokens_per_batch)
    asked: list[list[str | None]] = [[None] * len(passage.candidates) for passage in group]
    for (row, column), text in zip(places, written, strict=True):
        asked[row][column] = text
    for passage, texts in zip(group, asked, strict=True):
        yield {"id": passage.source.id, "questions": texts}


def finished(
    passages: Sequence[AnsweredPassage], records: Sequence[dict[str, Any]], report: GenerationReport
) -> list[QuestionedPassage]:
    """The generated questions with their passages, without those asked before in any of them."""
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
        raise DataError(f"'{path}' does not exist; expected the answers file or the generator's weights.")
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]
