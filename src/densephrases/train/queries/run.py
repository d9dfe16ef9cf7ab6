"""One run of query-side fine-tuning: from questions to the best query encoder on dev."""

import logging
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from densephrases.data.questions import OpenQuestion
from densephrases.errors import ConfigError, DataError
from densephrases.evaluate.tune.calibration import fit_calibration
from densephrases.index.folder import IndexFolder
from densephrases.model.config import ModelConfig
from densephrases.model.encoder import Encoder
from densephrases.nn.device import few_threads
from densephrases.nn.question_tower import AdaptedEncoder, QuestionTower
from densephrases.search.confidence import Calibration
from densephrases.search.searcher import Searcher
from densephrases.train.loop.checkpoint import CHECKPOINT_FOLDER
from densephrases.train.loop.loop import Loop, Observer
from densephrases.train.queries.adaptation import Adaptation
from densephrases.train.queries.as_searched import FirstAnswers, first_answers, rescaled
from densephrases.train.queries.best_epoch import MEASURES
from densephrases.train.queries.held_out import FEWEST, hold_out
from densephrases.train.queries.relevance import UNITS
from densephrases.train.queries.retrieve import Lookup, LookupSettings, default_processes, spread_lookup
from densephrases.train.queries.task import QuerySettings, QueryTask

_MANY = 50  # held-out questions; of fewer, one more right answer is chance

logger = logging.getLogger(__name__)


def learn_queries(
    index: IndexFolder,
    base: Encoder,
    tower: QuestionTower,
    asked: Sequence[OpenQuestion],
    dev: Sequence[OpenQuestion],
    settings: QuerySettings,
    run: Path,
    observers: Sequence[Observer] = (),
    resume: bool = True,
    cpu: bool = False,
    keep: Sequence[OpenQuestion] = (),
) -> Adaptation:
    """Trains the query encoder in place; `run` is the folder for checkpoints, from which a killed run resumes.

    Without dev questions some of the others are held out. A query encoder whose first answers to them are not better
    than before is dropped: then all is as it was. The vectors of questions to keep shall change little.
    """
    index.settings.refuse_other_model(base)
    _refuse_nothing_to_learn(index, asked)
    is_given = bool(dev) or len(asked) < FEWEST
    if not dev:
        asked, dev = hold_out(asked, settings.hold_out, settings.loop.seed)
    torch.manual_seed(settings.loop.seed)
    if settings.rank:
        tower.learn_beside(settings.rank, settings.layers)
    if settings.freeze_embeddings:
        tower.freeze_word_embeddings()
    with few_threads():
        former = Former(tower, first_answers(index, AdaptedEncoder(base, tower), dev, settings.target))
        task, scores = _trained(index, base, tower, asked, dev, settings, run, observers, resume, cpu, keep)
        scores |= _choose(index, base, former, task, dev, least_gain=1 if is_given or len(dev) >= _MANY else 2)
    tower.eval()
    shutil.rmtree(run / CHECKPOINT_FOLDER, ignore_errors=True)
    if not task.hits.any():
        raise DataError(
            f"None of the {len(asked):,} questions has an answer among its {settings.top_k} best results, so nothing "
            "could be learned: check that the index contains the answers, or increase top_k."
        )
    return Adaptation(AdaptedEncoder(base, tower), scores, task.coverage)


def _refuse_nothing_to_learn(index: IndexFolder, asked: Sequence[OpenQuestion]) -> None:
    if not asked:
        raise DataError("There is no question to learn from; give at least one with its answers.")
    if not index.documents or not index.vectors:
        raise DataError(f"The index in '{index.folder}' is empty: add documents before training on it.")


def _trained(
    index: IndexFolder,
    base: Encoder,
    tower: QuestionTower,
    asked: Sequence[OpenQuestion],
    dev: Sequence[OpenQuestion],
    settings: QuerySettings,
    run: Path,
    observers: Sequence[Observer],
    resume: bool,
    cpu: bool,
    keep: Sequence[OpenQuestion],
) -> tuple[QueryTask, dict[str, float]]:
    encoder = AdaptedEncoder(base, tower)
    asked, dev, keep = (_as_asked(questions, index, encoder) for questions in (asked, dev, keep))
    sought = LookupSettings(
        target=settings.target,
        effort=settings.effort,
        length_penalty=tower.config.length_penalty,
        lexical_weight=tower.config.lexical_weight,
        max_words=tower.config.max_words,
    )
    processes = default_processes() if settings.processes is None else settings.processes
    with spread_lookup(index, sought, processes) as look_up:
        task = QueryTask(settings, encoder, asked, dev, look_up, Lookup(index, sought), keep)
        scores = Loop(task, task.loop, run, observers, cpu).run(resume)
        task.fitted_confidence = _confidence(task) if tower.config.confidence is None else None
    return task, scores


class Former:
    """The query encoder before training, and what it finds."""

    def __init__(self, tower: QuestionTower, found: FirstAnswers) -> None:
        self.config = tower.config
        self.weights = {name: tensor.detach().to("cpu", copy=True) for name, tensor in tower.state_dict().items()}
        self.found = found

    def restore(self, tower: QuestionTower) -> None:
        tower.load_state_dict(self.weights)
        tower.config = self.config


def _choose(
    index: IndexFolder,
    base: Encoder,
    former: Former,
    task: QueryTask,
    dev: Sequence[OpenQuestion],
    *,
    least_gain: int,
) -> dict[str, float]:
    """Keep what finds most on dev as users search: the former, or the new one with the former's ranking or without."""
    tower, target = task.model, task.settings.target
    if not dev:
        tower.config = former.config
        return {}
    rivals = [former.config, former.config.with_ranking(None)] if former.config.ranking else [former.config]
    best: tuple[ModelConfig | None, FirstAnswers] = None, former.found
    for config in rivals:
        tower.config = config
        found = first_answers(index, AdaptedEncoder(base, tower), dev, target)
        if sum(found.right) - sum(former.found.right) >= least_gain and sum(found.right) > sum(best[1].right):
            best = config, found
    chosen, found = best
    if chosen is None:
        logger.info("No epoch gave more right first answers than before; the query encoder stays as it was.")
        former.restore(tower)
    else:
        tower.config = chosen
        tower.config = chosen.with_confidence(_recalibrated(index, AdaptedEncoder(base, tower), task, dev))
    name = MEASURES[target]
    return {f"{name}_before": former.found.percent, name: found.percent}


def _recalibrated(
    index: IndexFolder, encoder: AdaptedEncoder, task: QueryTask, dev: Sequence[OpenQuestion]
) -> dict[str, float] | None:
    """The former calibration, rescaled where there is enough to fit it to; one fitted to dev if there is no former."""
    former = encoder.config.confidence
    if former is None:
        return task.fitted_confidence
    if UNITS[task.settings.target] != "phrase":
        return former
    found = first_answers(index, encoder, dev, task.settings.target, read=False)
    return rescaled(Calibration.from_dict(former), found).to_dict()


def _as_asked(questions: Sequence[OpenQuestion], index: IndexFolder, encoder: Encoder) -> list[OpenQuestion]:
    """Truecased as in search, if the model is cased."""
    texts = Searcher.from_snapshot(index.snapshot, encoder).truecased([question.text for question in questions])
    return [replace(question, text=text) for question, text in zip(questions, texts, strict=True)]


def _confidence(task: QueryTask) -> dict[str, float] | None:
    """A calibration for the changed scores, fitted on dev; None without phrases to fit it on."""
    if not task.dev or UNITS[task.settings.target] != "phrase":
        return None
    found = task.dev_scores().found if task.best.scores is None else task.best.scores.found
    lists = [row[there] for row, there in zip(found.score_QK, found.segment_QK >= 0, strict=True)]
    right = [row[:1].tolist() if len(scores) else [] for row, scores in zip(found.right_QK, lists, strict=True)]
    try:
        return fit_calibration(lists, right).to_dict()
    except ConfigError as error:  # all dev answers are right, or all are wrong
        logger.warning("No confidence was fitted to the new query encoder: %s", error)
        return None
