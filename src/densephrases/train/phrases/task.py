"""Training the phrase model (paper §4): single-passage, distillation and negative losses, and the filter."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import cast

import torch
from accelerate import PartialState
from accelerate.utils import broadcast_object_list
from torch import Tensor, nn

from densephrases.data.decontaminate import HeldOut
from densephrases.data.squad import QuestionedPassage, read_squad
from densephrases.errors import ConfigError, DataError
from densephrases.evaluate.reading import ReadingScores, encode_dataset, read_collection, read_passages
from densephrases.model.card import write_card
from densephrases.model.config import ModelConfig, QuestionBackbone
from densephrases.model.folders import bundled_names, resolve
from densephrases.model.tokenizer import Tokens
from densephrases.nn.backbone import backbone_parameters
from densephrases.nn.device import placed
from densephrases.nn.onnx.restore import read_model
from densephrases.nn.phrase_model import PhraseModel
from densephrases.nn.reader import Reader
from densephrases.nn.towers import QuestionStates
from densephrases.train.loop.loop import Loop, LoopConfig, Observer, Outcome
from densephrases.train.phrases.batches import Padding, PhraseBatch, collate
from densephrases.train.phrases.distillation import Distributions, TeacherLogits
from densephrases.train.phrases.examples import (
    AlignmentReport,
    Ambiguous,
    ExampleBuilder,
    PassageExample,
    read_training_data,
    without_held_out,
)
from densephrases.train.phrases.hard_negatives import HardNegatives, hard_negative_passages
from densephrases.train.phrases.losses import Direction, filter_loss
from densephrases.train.phrases.negatives import PreBatchQueue, gather
from densephrases.train.phrases.objective import (
    LossWeights,
    gold_negative_losses,
    gold_phrases,
    gold_positions,
    phrase_losses,
)
from densephrases.train.phrases.passage_scores import TorchPassageScores
from densephrases.train.phrases.sampling import BatchPlan, draw_generated, plan_epoch

CONFUSED = 4  # times as many passages as stand together are mined: some will have been taken along by others

# Shape suffixes: P passages, T tokens of a passage, Q questions, K occurrences, N candidates, D vector size.


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """The switches of `ModelConfig` that a recipe may set."""

    share: bool = False
    split: bool = False
    dim: int | None = None
    question_backbone: QuestionBackbone = "separate"
    passage_tokens: int = 384
    overlap: int = 128


@dataclass(frozen=True, kw_only=True)
class PhraseRecipe:
    """One whole training run of a phrase model.

    Attributes:
        base: Hugging Face folder or hub name of the encoder to start from; or a phrase model to go on with, a bundled
            one's name or a folder, whose architecture is kept.
        train: SQuAD files to learn from.
        dev: SQuAD file to evaluate on.
        teacher: Folder of a trained reader; None trains without distillation.
        temperature: Softens the teacher's distributions.
        divergence: Direction of the KL divergence; the paper's is student_teacher.
        prebatches: Batches in the pre-batch queue, the paper's C.
        prebatch_from: First epoch (from 0) whose negatives include the queue.
        filter_positive_weight: How much a gold position outweighs another token in the filter's loss.
        ambiguous: Match answers of uncertain place at any occurrence, at the given one, or drop them.
        freeze_embeddings: Keep the base's word embeddings, so that the encoders share one table.
        dropout: Share of states and attention weights that is dropped in training; None keeps the base's own.
        collection: Evaluate over all dev passages at once as well.
        held_out: Test files: nothing of their articles and passages is learned.
        generated_share: Share of the generated questions that an epoch draws, others each time.
        annotated_from: First epoch (from 0) without generated questions; None uses them to the end.
        hard_negatives_from: Folder of a trained phrase model: `batches.neighbours` passages that it confuses meet in
            a batch, instead of passages of one article.
    """

    base: str | Path
    train: tuple[Path, ...]
    dev: Path
    teacher: Path | None = None
    architecture: Architecture = field(default_factory=Architecture)
    batches: BatchPlan = field(default_factory=BatchPlan)
    weights: LossWeights = field(default_factory=LossWeights)
    loop: LoopConfig = field(default_factory=LoopConfig)
    temperature: float = 1.0
    divergence: Direction = "student_teacher"
    prebatches: int = 2
    prebatch_from: int = 2
    filter_positive_weight: float = 8.0
    ambiguous: Ambiguous = "any"
    freeze_embeddings: bool = True
    dropout: float | None = None
    collection: bool = True
    held_out: tuple[Path, ...] = ()
    generated_share: float = 1.0
    annotated_from: int | None = None
    hard_negatives_from: Path | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.generated_share <= 1:
            raise ConfigError(f"generated_share={self.generated_share} must be a share, from 0 to 1.")
        if self.dropout is not None and not 0 <= self.dropout < 1:
            raise ConfigError(f"dropout={self.dropout} must be a share, from 0 to below 1.")
        if self.hard_negatives_from is not None and self.batches.neighbours < 2:
            raise ConfigError(
                "hard_negatives_from has no effect without neighbours: set batches.neighbours to 2 or more."
            )

    def share(self, epoch: int) -> float:
        """Of the generated questions in an epoch."""
        is_annotated = self.annotated_from is not None and epoch >= self.annotated_from
        return 0.0 if is_annotated else self.generated_share


@dataclass(frozen=True)
class TrainingData:
    """A recipe's data as its model reads it; runs that differ in other settings only can share it."""

    examples: list[PassageExample]
    dev: list[QuestionedPassage]
    teacher: Distributions | None
    alignment: AlignmentReport
    hard_negatives: HardNegatives | None = None

    @classmethod
    def prepare(cls, recipe: PhraseRecipe, tokens: Tokens, cpu: bool = False) -> "TrainingData":
        builder = ExampleBuilder(tokens, recipe.ambiguous)
        held_out, dev = HeldOut.read(recipe.held_out), read_squad(recipe.dev)
        passages = without_held_out(read_training_data(recipe.train), held_out, builder.report)
        tokenized = tokens.passages([p.passage for p in passages])
        examples = builder.build(passages, tokenized)
        builder.report.require_some()
        teacher = None
        if recipe.teacher is not None:
            logits = teacher_logits(recipe.teacher, passages, cpu)
            teacher = logits.distributions(passages, tokenized, recipe.temperature)
        hard_negatives = (
            None
            if recipe.hard_negatives_from is None
            else mined(recipe.hard_negatives_from, recipe.batches, passages, cpu)
        )
        return cls(examples, dev, teacher, builder.report, hard_negatives)


class PhraseTask:
    """Plans, batches, losses and evaluation of a phrase model, for the loop."""

    def __init__(self, recipe: PhraseRecipe, model: PhraseModel, data: TrainingData) -> None:
        self.recipe, self.model, self.data = recipe, model, data
        self.backbone_parameters = backbone_parameters(model.passage)
        self.padding = Padding()
        self._plans: dict[int, list[list[PassageExample]]] = {}

    def prepare(self, device: torch.device, world: int, fixed_shapes: bool) -> None:
        largest = Padding.fitting(map(self.plan, range(self.recipe.loop.epochs)))
        if fixed_shapes:
            self.padding = largest
        capacity = largest.questions + world  # a process without a question of its own adds one that does not count
        self.queue = PreBatchQueue(self.recipe.prebatches, capacity, self.model.config.vector_size, device)

    def begin_epoch(self, epoch: int) -> None:
        self.queue.active.fill_(epoch >= self.recipe.prebatch_from)

    def plan(self, epoch: int) -> list[list[PassageExample]]:
        if epoch not in self._plans:
            seed = self.recipe.loop.seed
            examples = draw_generated(self.data.examples, self.recipe.share(epoch), seed, epoch)
            if not examples:
                raise DataError(f"Epoch {epoch} has no annotated question; set annotated_from and generated_share.")
            self._plans[epoch] = plan_epoch(examples, self.recipe.batches, seed, epoch, self.data.hard_negatives)
        return self._plans[epoch]

    def size(self, planned: list[PassageExample]) -> int:
        return sum(len(example.questions) for example in planned)

    def local(self, planned: list[PassageExample], rank: int, world: int) -> PhraseBatch:
        own, weight = planned[rank::world], 1.0
        if not own:
            own, weight = [replace(planned[0], questions=planned[0].questions[:1])], 0.0
        return collate(own, self.model.tokens.pad_id, self.data.teacher, self.padding, weight)

    def losses(self, model: nn.Module, batch: PhraseBatch) -> dict[str, Tensor]:
        vectors_PTD, filter_PT2, questions = model(
            batch.passages.arguments, [group.arguments for group in batch.questions]
        )
        with torch.autocast(vectors_PTD.device.type, enabled=False):  # bfloat16 scores would be too coarse to rank by
            return self._losses(batch, vectors_PTD.float(), filter_PT2.float(), questions.float())

    def _losses(
        self, batch: PhraseBatch, vectors_PTD: Tensor, filter_PT2: Tensor, questions: QuestionStates
    ) -> dict[str, Tensor]:
        weights, config = self.recipe.weights, self.model.config
        losses = phrase_losses(batch, vectors_PTD, questions, weights, self.recipe.divergence, config)
        losses["negative"] = (self._negatives(batch, vectors_PTD, questions) * batch.weight_Q).sum()
        positive_weight = self.recipe.filter_positive_weight
        filtered = filter_loss(filter_PT2, gold_positions(batch), batch.content_PT, positive_weight)
        losses["filter"] = filtered * batch.weight_Q.sum()
        weighted = [getattr(weights, name) * value for name, value in losses.items()]
        return losses | {"loss": torch.stack(weighted).sum()}

    def _negatives(self, batch: PhraseBatch, vectors_PTD: Tensor, questions: QuestionStates) -> Tensor:
        """Losses of the local questions against the golds of all processes and, in time, of preceding batches."""
        golds, first = gather(gold_phrases(batch, vectors_PTD, questions))
        candidates = self.queue.extend(golds)
        self.queue.push(golds)
        return gold_negative_losses(questions, candidates, first)

    def floating_point_operations(self, batch: PhraseBatch) -> float:
        """Six per parameter and token: forward, and twice that backward; padding does not count."""
        encoders = 1 if self.model.config.one_question_backbone else 2
        return 6.0 * self.backbone_parameters * (batch.passage_tokens + encoders * batch.question_tokens)

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
    model.config = model.config.unfitted()
    if recipe.freeze_embeddings:
        model.freeze_word_embeddings()
    if recipe.dropout is not None:
        set_dropout(model, recipe.dropout)
    return model


def trained_base(base: str | Path) -> Path | None:
    """The folder of the phrase model that a recipe names as its base; None if it names another encoder."""
    folder = resolve(base) if base in bundled_names() else Path(base)
    return folder if ModelConfig.describes(folder) else None


def set_dropout(model: nn.Module, share: float) -> None:
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = share


def train_phrases(
    recipe: PhraseRecipe,
    out: Path,
    observers: Sequence[Observer] = (),
    resume: bool = True,
    cpu: bool = False,
    data: TrainingData | None = None,
) -> Outcome:
    """Trains the model of a recipe and saves it in `out`; a run that was killed there goes on where it was."""
    model = build_model(recipe)
    data = data or TrainingData.prepare(recipe, model.tokens, cpu)
    task = PhraseTask(recipe, model, data)
    loop = Loop(task, recipe.loop, out, observers, cpu)
    scores = loop.run(resume)
    if loop.accelerator.is_main_process:
        write_card(out, model.config, [path.name for path in recipe.train], scores)
    return Outcome(scores, data.alignment)


def teacher_logits(folder: Path, passages: Sequence[QuestionedPassage], cpu: bool) -> TeacherLogits:
    """Computed by one process, read from its cache by the others."""
    process = PartialState(cpu=cpu)
    with process.main_process_first():
        return TeacherLogits.cached(folder, lambda: placed(Reader.from_pretrained(folder), process.device), passages)


def mined(folder: Path, plan: BatchPlan, passages: list[QuestionedPassage], cpu: bool) -> HardNegatives:
    """Computed by one process: the plan of an epoch must be the same for all."""
    process = PartialState(cpu=cpu)
    found: list[HardNegatives | None] = [None]
    if process.is_main_process:
        model = placed(read_model(folder), process.device)
        search = partial(TorchPassageScores, device=process.device)
        found = [hard_negative_passages(model.encoder(), model.config, passages, CONFUSED * plan.neighbours, search)]
    (hard_negatives,) = broadcast_object_list(found)
    return cast(HardNegatives, hard_negatives)
