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
from densephrases.model.encoder import Encoder
from densephrases.nn.question_tower import AdaptedEncoder, QuestionTower
from densephrases.search.searcher import Searcher
from densephrases.train.loop.checkpoint import CHECKPOINT_FOLDER
from densephrases.train.loop.loop import Loop, Observer
from densephrases.train.queries.adaptation import Adaptation
from densephrases.train.queries.relevance import UNITS
from densephrases.train.queries.retrieve import Lookup, LookupSettings, default_processes, spread_lookup
from densephrases.train.queries.task import QuerySettings, QueryTask

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
) -> Adaptation:
    """Trains the query encoder in place; `run` is the folder for checkpoints, from which a killed run resumes."""
    index.settings.refuse_other_model(base)
    if not asked:
        raise DataError("There is no question to learn from; give at least one with its answers.")
    if not index.documents or not index.vectors:
        raise DataError(f"The index in '{index.folder}' is empty: add documents before training on it.")
    torch.manual_seed(settings.loop.seed)
    if settings.freeze_embeddings:
        tower.freeze_word_embeddings()
    encoder = AdaptedEncoder(base, tower)
    asked, dev = (_as_asked(questions, index, encoder) for questions in (asked, dev))
    sought = LookupSettings(
        target=settings.target,
        effort=settings.effort,
        length_penalty=tower.config.length_penalty,
        lexical_weight=tower.config.lexical_weight,
        max_words=tower.config.max_words,
    )
    processes = default_processes() if settings.processes is None else settings.processes
    with spread_lookup(index, sought, processes) as look_up:
        task = QueryTask(settings, encoder, asked, dev, look_up, Lookup(index, sought))
        scores = Loop(task, task.loop, run, observers, cpu).run(resume)
        # The model's ranking was fitted to other scores, and the confidence is fitted to scores without one.
        tower.config = tower.config.with_ranking(None).with_confidence(_confidence(task))
    tower.eval()
    shutil.rmtree(run / CHECKPOINT_FOLDER, ignore_errors=True)
    if not task.hits.any():
        raise DataError(
            f"None of the {len(asked):,} questions has an answer among its {settings.top_k} best results, so nothing "
            "could be learned: check that the index contains the answers, or increase top_k."
        )
    return Adaptation(AdaptedEncoder(base, tower), scores, task.coverage)


def _as_asked(questions: Sequence[OpenQuestion], index: IndexFolder, encoder: Encoder) -> list[OpenQuestion]:
    """Truecased as in search, if the model is cased."""
    texts = Searcher(index.snapshot, encoder).truecased([question.text for question in questions])
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
