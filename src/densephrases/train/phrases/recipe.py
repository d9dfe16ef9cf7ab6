"""The configuration of a training run of a phrase model."""

from dataclasses import dataclass, field
from pathlib import Path

from densephrases.errors import ConfigError
from densephrases.model.config import QuestionBackbone
from densephrases.train.loop.loop import LoopConfig
from densephrases.train.phrases.examples import Ambiguous
from densephrases.train.phrases.losses import Direction
from densephrases.train.phrases.objective import LossWeights
from densephrases.train.phrases.reading_head import ReadingPlan
from densephrases.train.phrases.sampling import BatchPlan


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """The settings of `ModelConfig` that a recipe chooses."""

    share: bool = False
    split: bool = False
    dim: int | None = None
    question_backbone: QuestionBackbone = "separate"
    passage_tokens: int = 384
    overlap: int = 128


@dataclass(frozen=True, kw_only=True)
class PhraseRecipe:
    """One training run of a phrase model.

    Attributes:
        base: Hugging Face folder or hub name of the encoder to start from; or a phrase model to train further (folder
            or bundled name), whose architecture is kept.
        train: SQuAD files to train on.
        dev: SQuAD file to evaluate on.
        teacher: Folder of a trained reader; None trains without distillation.
        temperature: Softens the teacher's distributions.
        divergence: Direction of the KL divergence; the paper uses student_teacher.
        prebatches: Batches in the pre-batch queue, the paper's C.
        prebatch_from: First epoch (from 0) with pre-batch negatives.
        filter_positive_weight: Weight of a gold position relative to other tokens in the filter loss.
        ambiguous: For answers of uncertain position: accept any occurrence, take the given one, or drop them.
        freeze_embeddings: Do not train the word embeddings, so that the encoders share one table.
        dropout: Dropout rate; None keeps the base's.
        collection: Also evaluate over all dev passages at once.
        held_out: Test files, whose articles and passages are left out.
        generated_share: Random share of the generated questions per epoch.
        annotated_from: First epoch (from 0) without generated questions; None uses them in all epochs.
        hard_negatives_from: Folder of a trained phrase model, or a bundled name, that finds hard negatives. Groups
            of `batches.passages_per_group` consist of these instead of passages of one article.
        lexical_weight: Weight of the lexical penalty that search will subtract, in the losses and in mining.
        typed_share: Random share of the questions per epoch as people type them: key words, a typo.
        reading: What the reading head learns from each batch.
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
    hard_negatives_from: str | Path | None = None
    lexical_weight: float = 0.0
    typed_share: float = 0.0
    reading: ReadingPlan = field(default_factory=ReadingPlan)

    def __post_init__(self) -> None:
        for name in ("generated_share", "typed_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name}={getattr(self, name)} must be from 0 to 1.")
        if not self.lexical_weight >= 0:
            raise ConfigError(f"lexical_weight={self.lexical_weight} is not a number of at least 0.")
        if self.dropout is not None and not 0 <= self.dropout < 1:
            raise ConfigError(f"dropout={self.dropout} must be at least 0 and below 1.")
        if self.hard_negatives_from is not None and self.batches.passages_per_group < 2:
            raise ConfigError(
                "hard_negatives_from needs groups of passages: set batches.passages_per_group to 2 or more."
            )

    def share(self, epoch: int) -> float:
        """Share of the generated questions in an epoch."""
        is_annotated = self.annotated_from is not None and epoch >= self.annotated_from
        return 0.0 if is_annotated else self.generated_share
