"""Training the question generator (paper §4.1): from a passage with a marked answer to the question."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from densephrases.atomic_files import replace_file
from densephrases.data.decontaminate import HeldOut
from densephrases.data.squad import QuestionedPassage, read_squad
from densephrases.evaluate.bleu_rouge import bleu_rouge_scores
from densephrases.model.card import write_generator_card
from densephrases.model.padding import batches_by_length, pad_rows
from densephrases.model.prompts import Prompts
from densephrases.model.tokenizer import Ids
from densephrases.nn.device import inference
from densephrases.nn.question_generator import QuestionGenerator
from densephrases.train.loop.loop import Loop, LoopConfig, Observer, Outcome
from densephrases.train.loop.tensors import Tensors
from densephrases.train.phrases.batches import Padding
from densephrases.train.phrases.examples import (
    AlignmentReport,
    Ambiguous,
    read_training_data,
    token_span,
    usable_answer,
    without_held_out,
)
from densephrases.train.phrases.sampling import length_pools

SAMPLES = 20
SAMPLES_FILE = "samples.jsonl"
DEV_TOKENS = 16384  # per batch on dev; their logits take some gigabytes

# Shape suffixes: Q questions, P tokens of a prompt, K tokens of a question, V vocabulary size.


@dataclass(frozen=True, kw_only=True)
class QuestionRecipe:
    """One training run of a question generator.

    Attributes:
        base: Hugging Face folder or hub name of the language model to start from, seq2seq or causal.
        train: SQuAD files to train on.
        dev: SQuAD file to evaluate on.
        held_out: Test files, whose articles and passages are left out.
        dev_questions: Number of dev questions to score, evenly spaced; None scores all.
        context_tokens: Tokens of the passage around the answer.
        title_tokens: Tokens of the title before them.
        question_tokens: Maximum length of a question.
        ambiguous: For answers of uncertain position: take the given one, or drop them.
    """

    base: str | Path
    train: tuple[Path, ...]
    dev: Path
    held_out: tuple[Path, ...] = ()
    loop: LoopConfig = field(default_factory=lambda: LoopConfig(epochs=2))
    batch_size: int = 64
    dev_questions: int | None = 1000
    context_tokens: int = 192
    title_tokens: int = 10
    question_tokens: int = 48
    ambiguous: Ambiguous = "given"


@dataclass(frozen=True, slots=True)
class GeneratorExample:
    prompt: Ids
    question: Ids
    asked: str
    answer: str


@dataclass(frozen=True, slots=True)
class SampleQuestion:
    """A generated question for a dev answer, with the question that a person asked."""

    answer: str
    asked: str
    written: str

    def __str__(self) -> str:
        return f"{self.answer!r}: {self.written}  (asked: {self.asked})"


@dataclass(frozen=True)
class GeneratorBatch(Tensors):
    prompt_QP: Tensor
    prompt_mask_QP: Tensor
    question_QK: Tensor
    mask_QK: Tensor  # 1 on the question's tokens and the end token
    weight_Q: Tensor  # 0 on padding rows
    prompt_tokens: int  # without padding
    question_tokens: int

    @property
    def arguments(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        return self.prompt_QP, self.prompt_mask_QP, self.question_QK, self.mask_QK


class QuestionTask:
    """A question generator as a task of the training loop: batches, losses, evaluation."""

    def __init__(
        self,
        recipe: QuestionRecipe,
        model: QuestionGenerator,
        examples: Sequence[GeneratorExample],
        dev: Sequence[GeneratorExample],
    ) -> None:
        self.recipe, self.model, self.examples, self.dev = recipe, model, examples, dev
        self.padding = Padding()
        self.samples: tuple[SampleQuestion, ...] = ()

    def prepare(self, device: torch.device, world: int, fixed_shapes: bool) -> None:
        if fixed_shapes:
            rows = max(len(batch) for epoch in range(self.recipe.loop.epochs) for batch in self.plan(epoch))
            self.padding = Padding(questions=rows, passage_tokens=64, question_tokens=16)

    def begin_epoch(self, epoch: int) -> None:
        """Nothing changes between epochs."""

    def plan(self, epoch: int) -> list[list[GeneratorExample]]:
        rng = np.random.default_rng((self.recipe.loop.seed, epoch))
        units = [[example] for example in self.examples]
        size = self.recipe.batch_size
        return length_pools(units, size=len, length=lambda unit: len(unit[0].prompt), capacity=size, rng=rng)

    def size(self, planned: list[GeneratorExample]) -> int:
        return len(planned)

    def local(self, planned: list[GeneratorExample], rank: int, world: int) -> GeneratorBatch:
        own = planned[rank::world]
        return collate_generator(own or planned[:1], self.model, self.padding, 1.0 if own else 0.0)

    def losses(self, model: nn.Module, batch: GeneratorBatch) -> dict[str, Tensor]:
        losses_Q = question_losses(model(*batch.arguments), batch.question_QK, batch.mask_QK)
        return {"loss": (losses_Q * batch.weight_Q).sum()}

    def floating_point_operations(self, batch: GeneratorBatch) -> float:
        """Six per parameter and token; the output layer computes only the question's tokens."""
        body, vocabulary = self._parameters
        return 6.0 * (body * (batch.prompt_tokens + batch.question_tokens) + vocabulary * batch.question_tokens)

    @cached_property
    def _parameters(self) -> tuple[float, int]:
        vocabulary: int = self.model.network.get_input_embeddings().weight.numel()
        whole: int = sum(p.numel() for p in self.model.parameters())
        tables = vocabulary * (1 if self.model.network.config.tie_word_embeddings else 2)
        # in a seq2seq model a token passes either the encoder or the decoder, about half of the parameters
        return (whole - tables) * (0.5 if self.model.writes_apart else 1.0), vocabulary

    def evaluate(self) -> dict[str, float]:
        scores = {"loss": self._dev_loss()}
        written = [text or "" for text in self.model.generate([e.prompt for e in self.dev])]
        pairs = zip(self.dev, written, strict=True)
        everything = [SampleQuestion(example.answer, example.asked, text) for example, text in pairs]
        self.samples = tuple(everything[i] for i in spread_evenly(len(everything), SAMPLES))
        return scores | bleu_rouge_scores(written, [example.asked for example in self.dev])

    def _dev_loss(self) -> float:
        device, total = self.model.device, 0.0
        for rows in batches_by_length([len(e.prompt) + len(e.question) for e in self.dev], DEV_TOKENS):
            batch = collate_generator([self.dev[i] for i in rows], self.model, Padding()).to(device)
            with inference(self.model, device):
                total += float(self.losses(self.model, batch)["loss"])
        return total / len(self.dev)

    def save(self, folder: Path) -> None:
        self.model.save_pretrained(folder)

    def state(self) -> dict[str, Tensor]:
        return {}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        assert not state


def question_losses(logits_QKV: Tensor, question_QK: Tensor, mask_QK: Tensor) -> Tensor:
    """Mean over the tokens of each question of -log of the token's probability."""
    logits_QVK = logits_QKV.float().transpose(1, 2)
    losses_QK = cross_entropy(logits_QVK, question_QK, reduction="none") * mask_QK
    return losses_QK.sum(dim=1) / mask_QK.sum(dim=1)


def collate_generator(
    examples: Sequence[GeneratorExample], model: QuestionGenerator, padding: Padding, weight: float = 1.0
) -> GeneratorBatch:
    rows = [*examples, *[examples[0]] * (padding.questions - len(examples))]
    prompt_QP, prompt_mask_QP = model.prompt_rows([e.prompt for e in rows], padding.passage_tokens)
    questions = [e.question for e in rows]
    ones = [np.ones_like(question) for question in questions]
    multiple = padding.question_tokens
    return GeneratorBatch(
        prompt_QP,
        prompt_mask_QP,
        question_QK=torch.from_numpy(pad_rows(questions, model.prompts.end_id, np.int64, multiple)),
        mask_QK=torch.from_numpy(pad_rows(ones, 0, np.int64, multiple)),
        weight_Q=(torch.arange(len(rows)) < len(examples)).float() * weight,
        prompt_tokens=sum(len(e.prompt) for e in examples),
        question_tokens=sum(len(e.question) for e in examples),
    )


def generator_examples(
    prompts: Prompts, passages: Sequence[QuestionedPassage], ambiguous: Ambiguous, report: AlignmentReport
) -> list[GeneratorExample]:
    """One example for every question with a usable answer; the others are counted in the report."""
    encoded = prompts.passages([p.passage for p in passages])
    ids = iter(prompts.questions([q.text for p in passages for q in p.questions]))
    examples = []
    for passage, tokens in zip(passages, encoded, strict=True):
        for question, question_ids in zip(passage.questions, ids, strict=False):
            answer = usable_answer(question, passage.passage.text, ambiguous, report)
            if answer is None:
                continue
            if len(question_ids) > prompts.config.question_tokens:
                report.too_long += 1
                continue
            span = token_span(tokens.offsets, answer.start, answer.start + len(answer.text))
            prompt = None if span is None else prompts.prompt(tokens, *span)
            if prompt is None:
                report.across_windows += 1
                continue
            report.used += 1
            report.ambiguous += answer.ambiguous
            examples.append(GeneratorExample(prompt, question_ids, question.text, answer.text))
    return examples


def spread_evenly(count: int, limit: int | None) -> list[int]:
    """At most `limit` evenly spaced numbers below `count`."""
    if limit is None or count <= limit:
        return list(range(count))
    return [at * count // limit for at in range(limit)]


def train_questions(
    recipe: QuestionRecipe, out: Path, observers: Sequence[Observer] = (), resume: bool = True, cpu: bool = False
) -> Outcome:
    """Trains the generator of a recipe and saves it in `out`, resuming an interrupted run there."""
    report = AlignmentReport()
    passages = without_held_out(read_training_data(recipe.train), HeldOut.read(recipe.held_out), report)
    asked = read_squad(recipe.dev)
    torch.manual_seed(recipe.loop.seed)
    limits = {"context_tokens": recipe.context_tokens, "title_tokens": recipe.title_tokens}
    model = QuestionGenerator.from_base(recipe.base, **limits, question_tokens=recipe.question_tokens)
    examples = generator_examples(model.prompts, passages, recipe.ambiguous, report)
    report.require_some()
    dev = generator_examples(model.prompts, asked, "given", dev_report := AlignmentReport())
    dev_report.require_some()
    chosen = [dev[i] for i in spread_evenly(len(dev), recipe.dev_questions)]
    task = QuestionTask(recipe, model, examples, chosen)
    loop = Loop(task, recipe.loop, out, observers, cpu)
    scores = loop.run(resume)
    if loop.accelerator.is_main_process:
        write_generator_card(out, model.config, [path.name for path in recipe.train], scores)
        lines = [json.dumps(asdict(sample), ensure_ascii=False) + "\n" for sample in task.samples]
        replace_file(out / SAMPLES_FILE, "".join(lines))
    return Outcome(scores, report, tuple(map(str, task.samples)))
