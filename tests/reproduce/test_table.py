"""Every table at smoke size on a CPU: each step runs, and our rows stand beside the paper's."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace

import pytest

from densephrases.errors import DataError
from densephrases.reproduce import ablation, negative_samples, open_questions, query_tuning, slots
from densephrases.reproduce.inputs import Inputs
from densephrases.reproduce.table import TABLE_FILE, ReproducedTable, reproduce
from densephrases.train.phrases.recipe import PhraseRecipe

Steps = tuple[list[str], Callable[[str], None]]


def ours(table: ReproducedTable, row: str) -> tuple[float | None, ...]:
    return next(each.ours for each in table.rows if each.name == row)


def test_reading_trains_reader_and_phrases(inputs: Inputs, counted_steps: Steps) -> None:
    told, tell = counted_steps
    table = reproduce("reading", inputs, tell)
    assert table.number == "Table 2"
    assert set(table.results) == {
        "reader",
        "phrases",
        *(f"{a}-{b}" for a in ("reader", "phrases") for b in ("squad", "nq")),
    }
    assert None not in ours(table, "phrase model")
    assert table.rows[0].paper == (80.8, 88.5, 69.9, 78.2)
    assert json.loads((inputs.out / TABLE_FILE).read_text())["rows"][0]["name"] == "reader (BERT-base)"
    told.clear()
    assert reproduce("reading", inputs, tell) == table  # from the results on disk
    assert told == []


def test_reading_of_a_model_that_is_there(with_model: Inputs) -> None:
    table = reproduce("reading", with_model)
    assert set(table.results) == {f"phrases-{name}{how}" for name in ("squad", "nq") for how in ("", "-as-searched")}
    assert table.left_out == ["The reader is not run: name one with --reader, or no model at all to train both."]


Recipes = dict[str, PhraseRecipe]


@pytest.fixture
def recipes(monkeypatch: pytest.MonkeyPatch) -> Recipes:
    """Of the phrase models of a table, which are not trained here: the reading table tests that."""
    seen: Recipes = {}

    def train(inputs: Inputs, watch: object, name: str, recipe: PhraseRecipe) -> dict[str, float]:
        seen[name] = recipe
        return {"exact_match": len(seen), "all_passages_exact_match": 0.0}

    for module in (ablation, negative_samples):
        monkeypatch.setattr(module, "train_phrases", train)
    monkeypatch.setattr(ablation, "train_reader", lambda *_: {"exact_match": 1.0})
    return seen


def test_ablation(inputs: Inputs, recipes: Recipes) -> None:
    table = reproduce("ablation", inputs)
    assert [row.ours for row in table.rows] == [(1.0,), (2.0,), (3.0,), (4.0,), (5.0,)]
    tried = [
        (each.architecture.share, each.architecture.split, len(each.train), each.teacher) for each in recipes.values()
    ]
    reader = inputs.out / "models" / "reader"
    assert tried == [
        (True, True, 1, None),
        (True, False, 1, None),
        (False, False, 1, None),
        (False, False, 2, None),
        (False, False, 2, reader),
    ]


def test_negatives(inputs: Inputs, recipes: Recipes) -> None:
    table = reproduce("negatives", inputs)
    assert all(None not in row.ours for row in table.rows)
    tried = [
        (each.batches.questions, each.prebatches if each.prebatch_from < each.loop.epochs else 0, each.weights.negative)
        for each in recipes.values()
    ]
    assert tried == [(48, 0, 0.0), (48, 0, 4.0), (84, 0, 4.0), (84, 1, 4.0), (84, 2, 4.0), (84, 4, 4.0)]


@pytest.fixture
def few_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (open_questions, query_tuning):
        monkeypatch.setattr(module, "QUESTION_SETS", ("NQ",))
    monkeypatch.setattr(slots, "_SETS", ("T-REx",))
    monkeypatch.setattr(slots, "_EXAMPLES", {"5,000 examples": 5})

    def fit(inputs: Inputs, watch: object, name: str, train: object, examples: int | None = None) -> dict[str, float]:
        """The model as it was; a random one finds nothing to learn from, and tests/train/queries tests the rest."""
        shutil.copytree(str(inputs.model), inputs.out / "models" / name)
        return {}

    monkeypatch.setattr(query_tuning, "fit_queries", fit)
    monkeypatch.setattr(slots, "fit_queries", fit)


@pytest.mark.usefixtures("few_sets")
def test_tables_of_an_index(with_model: Inputs) -> None:
    """The first makes the index that the others ask."""
    asked = reproduce("open", with_model)
    assert ours(asked, "answerable by this text") == (100.0, None, None, None, None)
    assert asked.results["index"] == {"documents": 4}
    made = with_model.out / "index"
    filled = reproduce("slots", replace(with_model, index=made, out=with_model.out.with_name("slots")))
    assert None not in ours(filled, "as trained")[:2] + ours(filled, "5,000 examples")[:2]
    tuned = reproduce("queries", replace(with_model, index=made, out=with_model.out.with_name("queries")))
    assert None not in (ours(tuned, "before")[0], ours(tuned, "after")[0])
    speed = reproduce("speed", replace(with_model, index=made, out=with_model.out.with_name("speed")))
    assert all(ours(speed, "this index, CPU, nothing read"))
    assert speed.results["speed"]["questions"] == 4


def test_nothing_to_run(inputs: Inputs) -> None:
    small = replace(inputs, size="small")
    with pytest.raises(
        DataError, match=r"Nothing of table 'ablation' can be run. The table is not run: '.*' lacks squad"
    ):
        reproduce("ablation", small)
    (small.data / "questions").mkdir(parents=True)
    (small.data / "questions" / "nq-dev.jsonl.gz").touch()
    with pytest.raises(DataError, match="it needs an index to ask: name one with --index, or --documents"):
        reproduce("speed", small)
    assert not small.out.exists()
