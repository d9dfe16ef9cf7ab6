"""Training the phrase model (paper §4): single-passage, distillation and negative losses, and the filter."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from densephrases.errors import DataError
from densephrases.evaluate.reading import ReadingScores, encode_dataset, read_again, read_collection, read_passages
from densephrases.model.card import write_card
from densephrases.model.config import ModelConfig
from densephrases.model.folders import bundled_names, resolve
from densephrases.nn.backbone import backbone_parameters
from densephrases.nn.onnx.restore import read_model
from densephrases.nn.phrase_model import EncoderInputs, PhraseModel
from densephrases.nn.towers import QuestionStates
from densephrases.train.loop.loop import Loop, Observer, Outcome
from densephrases.train.phrases.batches import Padding, PhraseBatch, collate
from densephrases.train.phrases.examples import (
    PassageExample,
)
from densephrases.train.phrases.losses import filter_loss
from densephrases.train.phrases.negatives import PreBatchQueue, gather
from densephrases.train.phrases.objective import (
    gold_negative_losses,
    gold_phrases,
    gold_positions,
    phrase_losses,
)
from densephrases.train.phrases.passage_scores import TorchPassageScores
from densephrases.train.phrases.reading_head import ReadingLayout, passage_bounds, reading_inputs, reading_losses
from densephrases.train.phrases.recipe import PhraseRecipe
from densephrases.train.phrases.sampling import as_typed, draw_generated, plan_epoch
from densephrases.train.phrases.training_data import TrainingData

# Shape suffixes: P passages, T tokens of a passage, Q questions, K occurrences, N candidates, D vector size.


class PhraseTask:
    """A phrase model as a task of the training loop: batches, losses, evaluation."""

    def __init__(self, recipe: PhraseRecipe, model: PhraseModel, data: TrainingData) -> None:
        self.recipe, self.model, self.data = recipe, model, data
        self.backbone_parameters = backbone_parameters(model.passage)
        self.padding = Padding()
        self._plans: dict[int, list[list[PassageExample]]] = {}

    def prepare(self, device: torch.device, world: int, fixed_shapes: bool) -> None:
        largest = Padding.fitting(map(self.plan, range(self.recipe.loop.epochs)))
        if fixed_shapes:
            self.padding = largest
        capacity = largest.questions + self.recipe.reading.unanswerable
        capacity += world  # a process without questions adds one of weight 0
        self.queue = PreBatchQueue(self.recipe.prebatches, capacity, self.model.config.vector_size, device)
        self.teaches = torch.zeros((), device=device)  # 1 while what is read teaches the phrase scores

    def begin_epoch(self, epoch: int) -> None:
        self.queue.active.fill_(epoch >= self.recipe.prebatch_from)
        self.teaches.fill_(epoch >= self.recipe.reading.teach_from)

    def plan(self, epoch: int) -> list[list[PassageExample]]:
        if epoch not in self._plans:
            seed = self.recipe.loop.seed
            examples = draw_generated(self.data.examples, self.recipe.share(epoch), seed, epoch)
            if not examples:
                raise DataError(f"Epoch {epoch} has no annotated question; change annotated_from or generated_share.")
            examples = as_typed(examples, self.recipe.typed_share, seed, epoch)
            self._plans[epoch] = plan_epoch(
                examples, self.recipe.batches, seed, epoch, self.data.hard_negatives, self.data.unasked
            )
        return self._plans[epoch]

    def size(self, planned: list[PassageExample]) -> int:
        return sum(len(example.questions) for example in planned)

    def local(self, planned: list[PassageExample], rank: int, world: int) -> PhraseBatch:
        own, weight = planned[rank::world], 1.0
        if not any(example.questions for example in own):
            asked = next(example for example in planned if example.questions)
            own, weight = [replace(asked, questions=asked.questions[:1])], 0.0
        return collate(
            own,
            self.model.tokens.pad_id,
            self.data.teacher,
            self.padding,
            weight,
            self.data.penalties,
            self.recipe.reading.questions,
            self.recipe.reading.unanswerable,
        )

    def losses(self, model: nn.Module, batch: PhraseBatch) -> dict[str, Tensor]:
        chosen: list[ReadingLayout] = []

        def to_read(vectors_PTD: Tensor, questions: QuestionStates) -> EncoderInputs:
            bounds_RP = passage_bounds(batch, vectors_PTD, questions)
            before = len(self.model.tokens.specials.before)
            chosen.append(ReadingLayout.most_confused(batch, bounds_RP, self.recipe.reading, before))
            return reading_inputs(batch, chosen[0], self.model.tokens)

        vectors_PTD, filter_PT2, questions, reading_NW2 = model(
            batch.passages.arguments,
            [group.arguments for group in batch.questions],
            to_read if self.recipe.reading.questions else None,
        )
        with torch.autocast(vectors_PTD.device.type, enabled=False):  # bfloat16 is too coarse for ranking
            vectors_PTD, questions = vectors_PTD.float(), questions.float()
            losses = self._phrase_losses(batch, vectors_PTD, filter_PT2.float(), questions)
            if reading_NW2 is not None:
                read = reading_losses(batch, vectors_PTD, questions, reading_NW2, chosen[0], self.recipe.divergence)
                losses |= read | {"across": read["across"] * self.teaches}
            weighted = [getattr(self.recipe.weights, name) * value for name, value in losses.items()]
            return losses | {"loss": torch.stack(weighted).sum()}

    def _phrase_losses(
        self, batch: PhraseBatch, vectors_PTD: Tensor, filter_PT2: Tensor, questions: QuestionStates
    ) -> dict[str, Tensor]:
        weights, config = self.recipe.weights, self.model.config
        losses = phrase_losses(batch, vectors_PTD, questions, weights, self.recipe.divergence, config)
        losses["negative"] = (self._negatives(batch, vectors_PTD, questions) * batch.weight_Q).sum()
        positive_weight = self.recipe.filter_positive_weight
        filtered = filter_loss(filter_PT2, gold_positions(batch), batch.content_PT, positive_weight)
        losses["filter"] = filtered * batch.weight_Q.sum()
        return losses

    def _negatives(self, batch: PhraseBatch, vectors_PTD: Tensor, questions: QuestionStates) -> Tensor:
        """Losses of the local questions with the gold phrases of all processes and preceding batches as negatives."""
        phrases, first = gather(gold_phrases(batch, vectors_PTD, questions))
        candidates = self.queue.extend(phrases)
        self.queue.push(phrases)
        return gold_negative_losses(questions, candidates, first)

    def floating_point_operations(self, batch: PhraseBatch) -> float:
        """Six per parameter and token: two forward, four backward; without padding."""
        encoders = 1 if self.model.config.one_question_backbone else 2
        tokens = batch.passage_tokens + encoders * batch.question_tokens
        return 6.0 * self.backbone_parameters * (tokens + self._tokens_read(batch))

    def _tokens_read(self, batch: PhraseBatch) -> float:
        """An estimate by mean lengths: which passages are read is decided on the device."""
        passages = int(batch.content_PT.any(dim=1).sum())
        questions = int((batch.weight_Q > 0).sum())
        if not passages or not questions:
            return 0.0
        each = batch.passage_tokens / passages + batch.question_tokens / questions
        return len(batch.read_R) * min(self.recipe.reading.passages, passages) * each

    def evaluate(self) -> dict[str, float]:
        encoded = encode_dataset(self.model.encoder(), self.data.dev)
        reading = ReadingScores.from_predictions(read_passages(encoded, self.model.config))
        scores = {"exact_match": reading.exact_match, "f1": reading.f1}
        if self.recipe.collection:
            device = next(self.model.parameters()).device
            search = partial(TorchPassageScores, device=device)
            everywhere = ReadingScores.from_predictions(
                read_collection(encoded, self.model.config, passage_scores=search)
            )
            scores |= {"all_passages_exact_match": everywhere.exact_match, "all_passages_f1": everywhere.f1}
        if self.model.config.reads:
            read = ReadingScores.from_predictions(read_again(self.model.encoder(), self.data.dev))
            scores |= {"reading_exact_match": read.exact_match, "reading_f1": read.f1}
        return scores

    def save(self, folder: Path) -> None:
        self.model.save_pretrained(folder)

    def state(self) -> dict[str, Tensor]:
        return self.queue.state()

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        self.queue.load_state(state)


def build_model(recipe: PhraseRecipe) -> PhraseModel:
    torch.manual_seed(recipe.loop.seed)
    known = trained_base(recipe.base)
    model = PhraseModel.from_base(recipe.base, **asdict(recipe.architecture)) if known is None else read_model(known)
    keeps_vectors = recipe.reading.rank > 0
    model.config = model.config.with_verification(None) if keeps_vectors else model.config.unfitted()
    if recipe.reading.questions:
        model.learn_to_read(null_logit=recipe.weights.null > 0, rank=recipe.reading.rank)
    if keeps_vectors:
        model.freeze_all_but_reading()
    elif recipe.freeze_embeddings:
        model.freeze_word_embeddings()
    if recipe.dropout is not None:
        set_dropout(model, recipe.dropout)
    return model


def trained_base(base: str | Path) -> Path | None:
    """The folder of the base if it is a phrase model; None for any other encoder."""
    folder = resolve(base) if base in bundled_names() else Path(base)
    return folder if ModelConfig.describes(folder) else None


def set_dropout(model: nn.Module, rate: float) -> None:
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = rate


def train_phrases(
    recipe: PhraseRecipe,
    out: Path,
    observers: Sequence[Observer] = (),
    resume: bool = True,
    cpu: bool = False,
    data: TrainingData | None = None,
) -> Outcome:
    """Trains the model of a recipe and saves it in `out`, resuming an interrupted run there."""
    model = build_model(recipe)
    data = data or TrainingData.prepare(recipe, model.tokens, cpu)
    task = PhraseTask(recipe, model, data)
    loop = Loop(task, recipe.loop, out, observers, cpu)
    scores = loop.run(resume)
    if loop.accelerator.is_main_process:
        write_card(out, model.config, [path.name for path in recipe.train], scores)
    return Outcome(scores, data.alignment)
