"""Table 2: a cross-attention reader and a phrase model on SQuAD and Natural Questions."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from densephrases.data.squad import read_squad
from densephrases.evaluate.reading import ReadingScores, encode_dataset, read_passages
from densephrases.model.folders import resolve
from densephrases.reproduce.inputs import Inputs
from densephrases.reproduce.plan import Plan, Result, Row, Step
from densephrases.reproduce.training import (
    Watch,
    model_folder,
    phrase_recipe,
    reader_recipe,
    teacher,
    train_phrases,
    train_reader,
)

if TYPE_CHECKING:
    from densephrases.model.encoder import Encoder

_FILES = {"SQuAD": "squad", "NQ": "nq"}


def plan(inputs: Inputs, watch: Watch) -> Plan:
    """Models that the user names are evaluated; without any, both are trained on both data sets."""
    made = Plan()
    trains = inputs.model is None and inputs.reader is None
    sets = {name: file for name, file in _FILES.items() if _is_there(inputs, name, file, made, trains=trains)}
    if trains and sets:
        made.steps += _training(inputs, watch, list(sets.values()))
    for file in sets.values():
        if trains or inputs.reader is not None:
            made.steps.append(Step(f"reader-{file}", partial(_read_by_reader, inputs, file)))
        if trains or inputs.model is not None:
            made.steps.append(Step(f"phrases-{file}", partial(_read_by_phrases, inputs, file, as_searched=False)))
        if inputs.model is not None:
            searched = partial(_read_by_phrases, inputs, file, as_searched=True)
            made.steps.append(Step(f"phrases-{file}-as-searched", searched))
    steps = {step.name for step in made.steps}
    for row, suffix in (("reader", ""), ("phrase model", ""), ("phrase model, as an index searches", "-as-searched")):
        kind = "reader" if row == "reader" else "phrases"
        there = {name: f"{kind}-{file}{suffix}" for name, file in sets.items() if f"{kind}-{file}{suffix}" in steps}
        if there:
            made.rows.append(Row(row, _figures(there)))
    if not trains and inputs.reader is None:
        made.leave_out("The reader", "name one with --reader, or no model at all to train both")
    return made


def _is_there(inputs: Inputs, name: str, file: str, made: Plan, *, trains: bool) -> bool:
    reason = inputs.missing(*([f"{file}-train"] if trains else []), f"{file}-dev")
    if reason is not None:
        made.leave_out(name, reason)
    return reason is None


def _figures(steps: dict[str, str]) -> dict[str, tuple[str, str]]:
    exact = {f"{name} EM": (step, "exact_match") for name, step in steps.items()}
    return exact | {f"{name} F1": (step, "f1") for name, step in steps.items()}


def _training(inputs: Inputs, watch: Watch, files: list[str]) -> list[Step]:
    """A reader, and with it as teacher a phrase model, on all data sets that are there."""
    train = tuple(path for each in files if (path := inputs.file(f"{each}-train")) is not None)
    dev = inputs.file(f"{files[0]}-dev")
    assert dev is not None
    taught = replace(phrase_recipe(inputs, train, dev), teacher=teacher(inputs))
    return [
        Step("reader", partial(train_reader, inputs, watch, "reader", reader_recipe(inputs, train, dev))),
        Step("phrases", partial(train_phrases, inputs, watch, "phrases", taught)),
    ]


def _read_by_reader(inputs: Inputs, file: str) -> Result:
    from densephrases.nn.device import best_device, placed
    from densephrases.nn.reader import Reader
    from densephrases.train.reader import reader_predictions

    loaded = placed(Reader.from_pretrained(teacher(inputs)), best_device(inputs.cpu))
    return _scores(ReadingScores.from_predictions(reader_predictions(loaded, read_squad(_dev(inputs, file)))))


def _read_by_phrases(inputs: Inputs, file: str, *, as_searched: bool) -> Result:
    """By vectors alone as in the paper; or with lexical overlap and ranking, as an index searches."""
    encoder = _encoder(inputs)
    encoded = encode_dataset(encoder, read_squad(_dev(inputs, file)))
    config = encoder.config if as_searched else encoder.config.with_lexical_weight(0.0).with_ranking(None)
    return _scores(ReadingScores.from_predictions(read_passages(encoded, config)))


def _scores(found: ReadingScores) -> Result:
    return {"questions": found.questions, "exact_match": found.exact_match, "f1": found.f1}


def _dev(inputs: Inputs, file: str) -> Path:
    path = inputs.file(f"{file}-dev")
    assert path is not None
    return path


def _encoder(inputs: Inputs) -> "Encoder":
    """Of an exported model without torch, else of a checkpoint."""
    from densephrases.model.load import load
    from densephrases.model.onnx import exported_precisions

    folder = model_folder(inputs, "phrases") if inputs.model is None else resolve(inputs.model)
    if exported_precisions(folder):
        return load(folder)
    from densephrases.nn.device import best_device, placed
    from densephrases.nn.phrase_model import PhraseModel

    return placed(PhraseModel.from_pretrained(folder), best_device(inputs.cpu)).encoder()
