"""Table 4: slot filling on T-REx and Zero-Shot RE, as trained and after fine-tuning on 5,000 and 10,000 examples."""

from functools import partial
from pathlib import Path

from densephrases.data.kilt import KiltRecord, read_kilt
from densephrases.evaluate.slot_filling import fill_slots, provable, slot_scores
from densephrases.reproduce.asking import index_folder, needs_index
from densephrases.reproduce.inputs import Inputs
from densephrases.reproduce.plan import Plan, Result, Row, Step
from densephrases.reproduce.query_tuning import fit_queries
from densephrases.reproduce.training import Watch, model_folder
from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.request import SearchRequest

_SETS = ("T-REx", "ZsRE")
_EXAMPLES = {"5,000 examples": 5_000, "10,000 examples": 10_000}


def plan(inputs: Inputs, watch: Watch) -> Plan:
    """The scores are of all facts of the dev file, since the test answers are not published; nothing is read again."""
    made = Plan()
    sets = [name for name in _SETS if _is_there(inputs, name, made)]
    if not sets or not needs_index(inputs, made):
        return Plan(left_out=made.left_out)
    figures: dict[str, dict[str, tuple[str, str]]] = {row: {} for row in ("as trained", *_EXAMPLES)}
    for name in sets:
        made.steps.append(Step(f"facts-{name}", partial(_filled, inputs, name, None)))
        figures["as trained"] |= _columns(name, f"facts-{name}")
        train = inputs.file(f"{name}-train")
        if train is None:
            made.leave_out(f"Fine-tuning on {name}", inputs.missing(f"{name}-train") or "")
            continue
        for row, examples in _EXAMPLES.items():
            tuned = f"facts-{name}-{examples}"
            made.steps.append(
                Step(f"fit-{name}-{examples}", partial(fit_queries, inputs, watch, tuned, (train,), examples))
            )
            made.steps.append(Step(tuned, partial(_filled, inputs, name, model_folder(inputs, tuned))))
            figures[row] |= _columns(name, tuned)
    made.rows += [Row(row, columns) for row, columns in figures.items() if columns]
    return made


def _is_there(inputs: Inputs, name: str, made: Plan) -> bool:
    reason = inputs.missing(f"{name}-dev")
    if reason is not None:
        made.leave_out(name, reason)
    return reason is None


def _columns(name: str, step: str) -> dict[str, tuple[str, str]]:
    return {f"{name} AC": (step, "kilt_accuracy"), f"{name} F1": (step, "kilt_f1")}


def _filled(inputs: Inputs, name: str, model: Path | None) -> Result:
    index = PhraseIndex.open(index_folder(inputs), model or inputs.model)
    records = _records(inputs, name)
    there = provable(index, records)
    scores = slot_scores(list(fill_slots(index, records, SearchRequest(verify=0))), there)
    counts = {"facts": scores.facts_in_file, "facts_in_index": scores.facts, "documents": len(index)}
    return counts | {
        "kilt_accuracy": scores.all_facts.kilt_accuracy,
        "kilt_f1": scores.all_facts.kilt_f1,
        "kilt_accuracy_in_index": scores.in_index.kilt_accuracy,
        "kilt_f1_in_index": scores.in_index.kilt_f1,
    }


def _records(inputs: Inputs, name: str) -> list[KiltRecord]:
    path = inputs.file(f"{name}-dev")
    assert path is not None
    records = read_kilt(path)
    return records if inputs.limit is None else records[:: max(-(-len(records) // inputs.limit), 1)]
