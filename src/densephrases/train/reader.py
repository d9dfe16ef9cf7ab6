"""Training the cross-attention reader, the teacher of the phrase model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from densephrases.data.decontaminate import HeldOut
from densephrases.data.squad import QuestionedPassage, read_squad
from densephrases.evaluate.reading import Prediction, ReadingScores
from densephrases.model.card import write_card
from densephrases.model.tokenizer import Window
from densephrases.nn.backbone import backbone_parameters
from densephrases.nn.reader import Reader
from densephrases.search.scoring.in_passage import NO_SPAN, best_span
from densephrases.train.loop.loop import Loop, LoopConfig, Observer, Outcome
from densephrases.train.loop.tensors import Inputs, Tensors, columns, content_mask, inputs
from densephrases.train.phrases.batches import Padding
from densephrases.train.phrases.examples import (
    AlignmentReport,
    Ambiguous,
    ExampleBuilder,
    PassageExample,
    best_window,
    read_training_data,
    without_held_out,
)
from densephrases.train.phrases.losses import marginal_loss
from densephrases.train.phrases.objective import one_hot_columns
from densephrases.train.phrases.sampling import length_pools


@dataclass(frozen=True, kw_only=True)
class ReaderRecipe:
    """One training run of a reader.

    Attributes:
        base: Hugging Face folder or hub name of the encoder to start from.
        train: SQuAD files to train on.
        dev: SQuAD file to evaluate on.
        batch_size: Questions per batch.
        ambiguous: For answers of uncertain position: accept any occurrence, take the given one, or drop them.
        held_out: Test files, whose articles and passages are left out.
    """

    base: str | Path
    train: tuple[Path, ...]
    dev: Path
    loop: LoopConfig = field(default_factory=lambda: LoopConfig(epochs=2))
    batch_size: int = 32
    passage_tokens: int = 384
    overlap: int = 128
    question_tokens: int = 64
    ambiguous: Ambiguous = "any"
    held_out: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class ReaderExample:
    """Question and passage window as one input, with the columns of the answer's first and last tokens.

    Without an answer that is the first column, of no passage's token.
    """

    window: Window
    starts: tuple[int, ...]
    ends: tuple[int, ...]


@dataclass(frozen=True)
class ReaderBatch(Tensors):
    tokens: Inputs
    content_QT: Tensor
    starts_QK: Tensor
    ends_QK: Tensor
    weight_Q: Tensor  # 0 on padding rows
    token_count: int  # without padding


class ReaderTask:
    """A reader as a task of the training loop: batches, losses, evaluation."""

    def __init__(
        self, recipe: ReaderRecipe, model: Reader, examples: Sequence[PassageExample], dev: list[QuestionedPassage]
    ) -> None:
        self.recipe, self.model, self.dev = recipe, model, dev
        self.examples = [example for passage in examples for example in reader_examples(model, passage)]
        model.config = replace(model.config, null_logit=any(passage.unanswerable for passage in examples))
        self.backbone_parameters = backbone_parameters(model.backbone)
        self.padding = Padding()

    def prepare(self, device: torch.device, world: int, fixed_shapes: bool) -> None:
        if fixed_shapes:
            rows = max(len(batch) for epoch in range(self.recipe.loop.epochs) for batch in self.plan(epoch))
            occurrences = max(len(example.starts) for example in self.examples)
            self.padding = Padding(questions=rows, occurrences=occurrences, passage_tokens=32)

    def begin_epoch(self, epoch: int) -> None:
        """Nothing changes between epochs."""

    def plan(self, epoch: int) -> list[list[ReaderExample]]:
        rng = np.random.default_rng((self.recipe.loop.seed, epoch))
        units = [[example] for example in self.examples]
        size = self.recipe.batch_size
        return length_pools(units, size=len, length=lambda unit: len(unit[0].window.ids), capacity=size, rng=rng)

    def size(self, planned: list[ReaderExample]) -> int:
        return len(planned)

    def local(self, planned: list[ReaderExample], rank: int, world: int) -> ReaderBatch:
        own = planned[rank::world]
        weight = 1.0 if own else 0.0
        return collate_reader(own or planned[:1], self.model.tokens.pad_id, self.padding, weight)

    def losses(self, model: nn.Module, batch: ReaderBatch) -> dict[str, Tensor]:
        logits_Q2T = model(*batch.tokens.arguments)
        allowed_QT = batch.content_QT
        if self.model.config.null_logit:
            allowed_QT = torch.cat([torch.ones_like(allowed_QT[:, :1]), allowed_QT[:, 1:]], dim=1)
        scores_Q2T = logits_Q2T.masked_fill(~allowed_QT[:, None], -torch.inf)
        sides = zip(scores_Q2T.unbind(1), (batch.starts_QK, batch.ends_QK), strict=True)
        losses_Q = [marginal_loss(s, one_hot_columns(columns, s.shape[-1])) for s, columns in sides]
        return {"loss": ((losses_Q[0] + losses_Q[1]) * batch.weight_Q).sum() / 2}

    def floating_point_operations(self, batch: ReaderBatch) -> float:
        return 6.0 * self.backbone_parameters * batch.token_count

    def evaluate(self) -> dict[str, float]:
        scores = ReadingScores.from_predictions(reader_predictions(self.model, self.dev))
        return {"exact_match": scores.exact_match, "f1": scores.f1}

    def save(self, folder: Path) -> None:
        self.model.save_pretrained(folder)

    def state(self) -> dict[str, Tensor]:
        return {}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        assert not state


def reader_predictions(reader: Reader, passages: list[QuestionedPassage], abstains: bool = False) -> list[Prediction]:
    """The reader's answer to every answerable question; if it `abstains`, none where its null logit is higher."""
    asked = [(p.passage.text, [q for q in p.questions if q.answers]) for p in passages]
    predictions = []
    reading = reader.read([(text, [q.text for q in questions]) for text, questions in asked])
    for number, ((text, questions), read) in enumerate(zip(asked, reading, strict=True)):
        for question, (start_T, end_T), null in zip(questions, read.logits_Q2T, read.null_Q, strict=True):
            span = best_span(start_T, end_T, read.max_span_T) or NO_SPAN
            if abstains and reader.config.null_logit and null > span.score:
                span = NO_SPAN
            start, end = (read.offsets_T2[span.start, 0], read.offsets_T2[span.end, 1]) if span.end >= 0 else (0, 0)
            predictions.append(Prediction(question, text[start:end], number, span.score, int(start)))
    return predictions


def reader_examples(reader: Reader, example: PassageExample) -> list[ReaderExample]:
    """For each question the window with most context around its answer, cut for question and passage together."""
    whole = example.window
    passage = whole.ids[whole.first : whole.first + whole.stop - whole.start].tolist()
    results = []
    for question in example.questions:
        windows = reader.windows(question.ids, passage)
        spans = [(start - whole.start, end - whole.start) for start, end in question.spans]
        number = best_window(windows, spans[0])
        if number is None:
            continue
        w = windows[number]
        inside = [(s, e) for s, e in spans if w.start <= s and e < w.stop]
        starts, ends = (tuple(span[side] - w.start + w.first for span in inside) for side in (0, 1))
        results.append(ReaderExample(w, starts, ends))
    for question in example.unanswerable:
        results.append(ReaderExample(reader.windows(question.ids, passage)[0], (0,), (0,)))
    return results


def collate_reader(
    examples: Sequence[ReaderExample], pad_id: int, padding: Padding, weight: float = 1.0
) -> ReaderBatch:
    rows = [*examples, *[examples[0]] * (padding.questions - len(examples))]
    windows = [e.window for e in rows]
    tokens = inputs([w.ids for w in windows], [w.types for w in windows], pad_id, padding.passage_tokens)
    return ReaderBatch(
        tokens,
        content_QT=torch.from_numpy(content_mask(windows, tokens.ids.shape[1])),
        starts_QK=columns([np.array(e.starts) for e in rows], padding.occurrences),
        ends_QK=columns([np.array(e.ends) for e in rows], padding.occurrences),
        weight_Q=(torch.arange(len(rows)) < len(examples)).float() * weight,
        token_count=sum(len(e.window.ids) for e in examples),
    )


def train_reader(
    recipe: ReaderRecipe, out: Path, observers: Sequence[Observer] = (), resume: bool = True, cpu: bool = False
) -> Outcome:
    """Trains the reader of a recipe and saves it in `out`, resuming an interrupted run there."""
    report = AlignmentReport()
    passages = without_held_out(read_training_data(recipe.train), HeldOut.read(recipe.held_out), report)
    torch.manual_seed(recipe.loop.seed)
    limits = {"passage_tokens": recipe.passage_tokens, "overlap": recipe.overlap}
    reader = Reader.from_base(recipe.base, **limits, question_tokens=recipe.question_tokens)
    builder = ExampleBuilder(reader.tokens, recipe.ambiguous, report=report)
    tokenized = reader.tokens.passages([p.passage for p in passages])
    task = ReaderTask(recipe, reader, builder.build(passages, tokenized), read_squad(recipe.dev))
    unanswerable = sum(0 in example.starts for example in task.examples)
    lost = builder.report.used - (len(task.examples) - unanswerable)
    builder.report.used -= lost
    builder.report.across_windows += lost
    builder.report.require_some()
    loop = Loop(task, recipe.loop, out, observers, cpu)
    scores = loop.run(resume)
    if loop.accelerator.is_main_process:
        write_card(out, reader.config, [path.name for path in recipe.train], scores)
    return Outcome(scores, builder.report)
