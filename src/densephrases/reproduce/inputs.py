"""What a table is made from: the folders and models that the user names, and the files of data sets in them."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from densephrases.atomic_files import make_folder, replace_file
from densephrases.errors import ConfigError
from densephrases.json_input import read_json_file

Size = Literal["smoke", "small", "base"]

SETTINGS_FILE = "settings.json"

# Each file by the names that it may have below the data folder: first as recipes name it, then as `data get` leaves it.
FILES = {
    "squad-train": ("squad-train.json.gz", "squad/train-v1.1.json"),
    "squad-dev": ("squad-test.json.gz", "squad/dev-v1.1.json"),
    "nq-train": ("nq-passages-train.json.gz", "nq-passages/nq-passages-train.json.gz"),
    "nq-dev": ("nq-passages-dev.json.gz", "nq-passages/nq-passages-dev.json.gz"),
    "generated": ("squad-generated.json.gz", "squad-entities.json.gz"),
    "NQ-train": ("nq/nq-train.qa.csv", "questions/nq-train.jsonl.gz"),
    "NQ-test": ("nq/nq-test.qa.csv", "questions/nq-dev.jsonl.gz"),
    "WQ-train": ("webq/webquestions.examples.train.json.bz2", "questions/webq-train.jsonl.gz"),
    "WQ-test": ("webq/webq-test.qa.csv", "questions/webq-dev.jsonl.gz"),
    "TREC-train": ("trec/large2180-train.tsv", "questions/trec-train.jsonl.gz"),
    "TREC-test": ("trec/curatedtrec-test.qa.csv", "questions/trec-dev.jsonl.gz"),
    "TQA-train": ("tqa/trivia-train.qa.csv.gz", "questions/trivia-train.jsonl.gz"),
    "TQA-test": ("tqa/trivia-test.qa.csv.gz", "questions/trivia-dev.jsonl.gz"),
    "SQuAD-train": ("squad-train.json.gz", "squad/train-v1.1.json"),
    "SQuAD-test": ("squad-test.json.gz", "squad/dev-v1.1.json"),
    "T-REx-train": ("kilt/trex-train-kilt.jsonl", "slots/trex-train.jsonl.gz"),
    "T-REx-dev": ("kilt/trex-dev-kilt.jsonl", "slots/trex-dev.jsonl.gz"),
    "ZsRE-train": ("kilt/structured_zeroshot-train-kilt.jsonl",),
    "ZsRE-dev": ("kilt/structured_zeroshot-dev-kilt.jsonl",),
}


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """Attributes:
    data: Folder of data sets, with the names of `FILES`.
    models: Folder of base models, as recipes name them.
    out: Folder of this run: its settings, steps and models.
    size: What is trained: `smoke` tries out all steps with random weights and the bundled sample.
    model: A phrase model that is there: it is evaluated or fine-tuned, and none is trained.
    reader: A reader that is there, for the same.
    base: Base model of everything that is trained, instead of the size's.
    index: An index that is there, to ask questions of.
    documents: Files to make an index of, if there is none.
    limit: Most questions of a file that are asked; a sample.
    settings: Overrides of the recipe of what is trained, such as `loop.epochs=2`.
    cpu: Whether to use the CPU even if there is a GPU.
    """

    data: Path
    models: Path
    out: Path
    size: Size = "small"
    model: str | None = None
    reader: Path | None = None
    base: str | None = None
    index: Path | None = None
    documents: tuple[Path, ...] = ()
    limit: int | None = None
    settings: tuple[str, ...] = ()
    cpu: bool = False

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise ConfigError(f"limit={self.limit} leaves no question; expected at least 1, or none to ask all.")

    def file(self, name: str) -> Path | None:
        """The file of a data set; None if the data folder has it under none of its names."""
        if self.size == "smoke":
            from densephrases.reproduce.smoke import stand_in

            return stand_in(name, self.out)
        return next((self.data / each for each in FILES[name] if (self.data / each).is_file()), None)

    def missing(self, *names: str) -> str | None:
        """A sentence about files that are not there; None if all are."""
        absent = [" or ".join(FILES[name]) for name in names if self.file(name) is None]
        return f"'{self.data}' lacks {', '.join(absent)}" if absent else None


def keep_settings(table: str, inputs: Inputs) -> None:
    """Write down what a run is made from; a folder of a run with other settings is refused."""
    path, now = inputs.out / SETTINGS_FILE, _described(table, inputs)
    if path.is_file():
        _refuse_other(inputs.out, _read(path), now)
        return
    make_folder(inputs.out)
    replace_file(path, json.dumps(now, indent=1) + "\n")


def _described(table: str, inputs: Inputs) -> dict[str, Any]:
    """As JSON has it. The CPU gives the same result, except for rounding."""
    values = {"table": table} | asdict(inputs)
    kept = {name: value for name, value in values.items() if name not in ("out", "cpu")}
    described: dict[str, Any] = json.loads(json.dumps(kept, default=lambda path: str(path.resolve())))
    return described


def _read(path: Path) -> dict[str, Any]:
    try:
        values = read_json_file(path)
    except (OSError, ValueError) as error:
        raise ConfigError(f"'{path}' cannot be read: {error}; give another folder with --out.") from error
    return values if isinstance(values, dict) else {}


def _refuse_other(out: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
    for name, value in now.items():
        if before.get(name) != value:
            raise ConfigError(
                f"'{out}' has a run with {name}={before.get(name)!r}, not {value!r}: give the same settings to go on, "
                "or another folder with --out."
            )
