"""Model folders for query-side fine-tuning: read a query encoder to train it, write it beside its passage encoder."""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from densephrases.atomic_files import replace_file
from densephrases.checksums import remove_checksums, verify_file, write_checksums
from densephrases.errors import ConfigError, ModelError
from densephrases.model.card import CARD_FILE
from densephrases.model.config import CONFIG_FILE, ModelConfig
from densephrases.model.encoder import Encoder
from densephrases.model.folders import writable_folder
from densephrases.model.onnx import (
    OWN_QUESTION_GRAPH,
    OWN_QUESTION_WEIGHTS,
    PASSAGE_GRAPHS,
    OnnxEncoder,
    exported_precisions,
    graph_file,
    weights_file,
)
from densephrases.model.tasks import TASKS_FOLDER, task_folder, task_names
from densephrases.model.tokenizer import TOKENIZER_FILE
from densephrases.nn.checkpoint import WEIGHTS_FILE
from densephrases.nn.onnx.export import export_questions, export_shared_questions
from densephrases.nn.onnx.restore import finest_graphs, read_model, restore_questions
from densephrases.nn.phrase_model import PhraseModel
from densephrases.nn.question_tower import QUESTION_WEIGHTS_FILE, QuestionTower, load_task, with_questions
from densephrases.quantize.codebooks import CODEBOOKS_FILE, codebooks_path


@dataclass(frozen=True)
class AdaptationSource:
    """A model folder, an encoder of it, and a copy of its query encoder to train."""

    folder: Path
    encoder: Encoder
    tower: QuestionTower


def read_adaptation_source(folder: Path, task: str | None = None) -> AdaptationSource:
    """The checkpoint's weights if the folder has them, else the weights of its exported graph.

    Training starts from the query encoder of the task, or from the default one.
    """
    if (folder / WEIGHTS_FILE).is_file():
        model = load_task(folder, task)
        encoder: Encoder = OnnxEncoder.load(folder, task=task) if exported_precisions(folder) else model.encoder()
        tower = QuestionTower.from_model(model)
    else:
        graphs = finest_graphs(folder, task)
        encoder, tower = graphs, restore_questions(graphs)
    tower.config = replace(tower.config, fingerprint=encoder.fingerprint)
    return AdaptationSource(folder, encoder, tower)


def refuse_unfit_target(source: Path, out: Path, task: str | None, fingerprint: str) -> None:
    """Called before training: a result that cannot be written need not be trained."""
    task_folder(out, task)
    writable_folder(out)
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
    """Write a query encoder and, unless it is there already, the rest of its model; passage graphs are copied.

    Without a task the tower becomes the default query encoder of a new folder. It is written in the formats that the
    model folder has: torch weights, graphs or both.
    """
    refuse_unfit_target(source, out, task, tower.config.fingerprint)
    if tower.shares_backbone:
        refuse_shared_task(task)
    out.mkdir(parents=True, exist_ok=True)
    place = task_folder(out, task)
    remove_checksums(place)
    (place / CONFIG_FILE).unlink(missing_ok=True)  # until the new tower is complete
    if task is None:
        _copy(source, out, [TOKENIZER_FILE, TASKS_FOLDER] if tower.shares_backbone else _passage_files(source))
        if (source / WEIGHTS_FILE).is_file():
            with_questions(PhraseModel.from_pretrained(source), tower).save_pretrained(out)
            (out / CONFIG_FILE).unlink()
    else:
        if not (out / CONFIG_FILE).is_file():
            _copy(source, out, [*_passage_files(source), *_question_files(source), WEIGHTS_FILE, CARD_FILE])
            ModelConfig.load(source).save(out)
            write_checksums(out)
        if (out / WEIGHTS_FILE).is_file():
            tower.save(place)
    if exported_precisions(source if task is None else out):
        if tower.shares_backbone:
            export_shared_questions(with_questions(read_model(source), tower), source, out)
        else:
            export_questions(tower, place)
    if card:
        replace_file(place / CARD_FILE, card)
    tower.whole_config.save(place)  # last: its presence means the tower is complete
    write_checksums(place)


def refuse_shared_task(task: str | None) -> None:
    if task is not None:
        raise ConfigError(
            f"task={task!r} cannot be learned with rank: the query encoder of a task has a backbone of its own; leave "
            "rank at 0, or save to a new folder without a task."
        )


def export_tasks(source: Path, out: Path) -> list[str]:
    """Write graphs of a checkpoint's tasks beside those of the model; returns the names of the tasks."""
    names = [n for n in task_names(source) if (task_folder(source, n) / QUESTION_WEIGHTS_FILE).is_file()]
    for name in names:
        tower, place = QuestionTower.from_model(load_task(source, name)), task_folder(out, name)
        remove_checksums(place)
        export_questions(tower, place)
        tower.config.save(place)
        write_checksums(place)
    return names


def _passage_files(folder: Path) -> list[str]:
    """What all query encoders share, and the query encoders of other tasks."""
    graphs = [
        name
        for precision in exported_precisions(folder)
        for name in (*(graph_file(kind, precision) for kind in PASSAGE_GRAPHS), weights_file(precision))
    ]
    return [TOKENIZER_FILE, *graphs, TASKS_FOLDER]


def _question_files(folder: Path) -> list[str]:
    graphs = [graph_file("question", precision) for precision in exported_precisions(folder)]
    return [*graphs, OWN_QUESTION_GRAPH, OWN_QUESTION_WEIGHTS]


def _copy(source: Path, out: Path, names: list[str]) -> None:
    """Copy the codebooks and the files that exist; permissions are not copied, since a package may be read-only."""
    if source.resolve() == out.resolve():
        return
    if (codebooks := codebooks_path(source)) is not None:
        verify_file(codebooks)
        shutil.copyfile(codebooks, out / CODEBOOKS_FILE)
    for name in names:
        if (source / name).is_dir():
            shutil.copytree(source / name, out / name, copy_function=shutil.copyfile, dirs_exist_ok=True)
        elif (source / name).is_file():
            verify_file(source / name)  # else damage would get a checksum that matches it
            shutil.copyfile(source / name, out / name)
