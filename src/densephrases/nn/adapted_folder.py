"""Model folders whose query encoder was learned further: read a tower to train it, write it beside its passages."""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from densephrases.errors import ConfigError, ModelError
from densephrases.model.card import CARD_FILE
from densephrases.model.config import CONFIG_FILE, ModelConfig
from densephrases.model.encoder import Encoder
from densephrases.model.onnx import (
    OWN_QUESTION_GRAPH,
    OWN_QUESTION_WEIGHTS,
    OnnxEncoder,
    exported_precisions,
    graph_file,
    weights_file,
)
from densephrases.model.tasks import TASKS_FOLDER, task_folder, task_names
from densephrases.model.tokenizer import TOKENIZER_FILE
from densephrases.nn.checkpoint import WEIGHTS_FILE
from densephrases.nn.onnx.export import export_questions
from densephrases.nn.onnx.restore import finest_graphs, restore_questions
from densephrases.nn.phrase_model import PhraseModel
from densephrases.nn.question_tower import QUESTION_WEIGHTS_FILE, QuestionTower, load_task, with_questions
from densephrases.quantize.codebooks import CODEBOOKS_FILE


@dataclass(frozen=True)
class Adaptable:
    """A model folder, what encodes with it, and a copy of its query encoder to be trained."""

    folder: Path
    encoder: Encoder
    tower: QuestionTower


def read_adaptable(folder: Path, task: str | None = None) -> Adaptable:
    """A checkpoint's own weights where the folder has them, else those that its exported graph stands for.

    Learning begins with the query encoder of the task, or with the default one.
    """
    if (folder / WEIGHTS_FILE).is_file():
        model = load_task(folder, task)
        encoder: Encoder = OnnxEncoder.load(folder, task=task) if exported_precisions(folder) else model.encoder()
        tower = QuestionTower.of(model)
    else:
        graphs = finest_graphs(folder, task)
        encoder, tower = graphs, restore_questions(graphs)
    tower.config = replace(tower.config, fingerprint=encoder.fingerprint)
    return Adaptable(folder, encoder, tower)


def refuse_unfit_target(source: Path, out: Path, task: str | None, fingerprint: str) -> None:
    """Before anything is learned: where the result cannot be written, learning it would be in vain."""
    task_folder(out, task)
    if task is None and out.resolve() == source.resolve():
        raise ConfigError(
            f"'{out}' is the model itself, whose query encoder would be lost; give another folder or name a task."
        )
    if (out / CONFIG_FILE).is_file() and _fingerprint(out) not in ("", fingerprint):
        raise ModelError(
            f"'{out}' holds a model with fingerprint {_fingerprint(out)}, the query encoder is learned for "
            f"{fingerprint}; give another folder."
        )


def _fingerprint(folder: Path) -> str:
    return ModelConfig.load(folder).fingerprint


def save_adapted(tower: QuestionTower, source: Path, out: Path, task: str | None = None, card: str = "") -> None:
    """Write a query encoder and, where it is not there yet, the rest of its model: passage graphs are copied as are.

    Without a task the tower becomes the default one of a new folder. What the model folder has, torch weights or
    graphs, the tower gets too.
    """
    refuse_unfit_target(source, out, task, tower.config.fingerprint)
    out.mkdir(parents=True, exist_ok=True)
    place = task_folder(out, task)
    (place / CONFIG_FILE).unlink(missing_ok=True)  # an older tower there is no longer complete
    if task is None:
        _copy(source, out, _passage_files(source))
        if (source / WEIGHTS_FILE).is_file():
            with_questions(PhraseModel.from_pretrained(source), tower).save_pretrained(out)
            (out / CONFIG_FILE).unlink()
    else:
        if not (out / CONFIG_FILE).is_file():
            _copy(source, out, [*_passage_files(source), *_question_files(source), WEIGHTS_FILE, CARD_FILE])
            _copy(source, out, [CONFIG_FILE])
        if (out / WEIGHTS_FILE).is_file():
            tower.save(place)
    if exported_precisions(source if task is None else out):
        export_questions(tower, place)
    if card:
        (place / CARD_FILE).write_text(card, encoding="utf-8")
    tower.config.save(place)  # last: its presence means the tower is complete


def export_tasks(source: Path, out: Path) -> list[str]:
    """Write graphs of a checkpoint's tasks beside those of the model; gives their names."""
    names = [n for n in task_names(source) if (task_folder(source, n) / QUESTION_WEIGHTS_FILE).is_file()]
    for name in names:
        tower = QuestionTower.of(load_task(source, name))
        export_questions(tower, task_folder(out, name))
        tower.config.save(task_folder(out, name))
    return names


def _passage_files(folder: Path) -> list[str]:
    """What all query encoders share, and the sides of other tasks."""
    graphs = [name for p in exported_precisions(folder) for name in (graph_file("passage", p), weights_file(p))]
    return [TOKENIZER_FILE, CODEBOOKS_FILE, *graphs, TASKS_FOLDER]


def _question_files(folder: Path) -> list[str]:
    graphs = [graph_file("question", precision) for precision in exported_precisions(folder)]
    return [*graphs, OWN_QUESTION_GRAPH, OWN_QUESTION_WEIGHTS]


def _copy(source: Path, out: Path, names: list[str]) -> None:
    """Those that are there; nothing is said of the permissions, as a package's files may be read-only."""
    for name in names:
        if source.resolve() == out.resolve():
            return
        if (source / name).is_dir():
            shutil.copytree(source / name, out / name, copy_function=shutil.copyfile, dirs_exist_ok=True)
        elif (source / name).is_file():
            shutil.copyfile(source / name, out / name)
