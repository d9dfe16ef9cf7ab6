"""Manifests of indexes and the files of model folders, damaged and malicious."""

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from densephrases.errors import DensePhrasesError
from densephrases.index.folder import IndexFolder
from densephrases.index.manifest import MANIFEST_FILE
from densephrases.index.settings import IndexSettings
from densephrases.model.config import CONFIG_FILE, ModelConfig
from densephrases.model.prompts import GENERATOR_FILE, GeneratorConfig
from densephrases.model.tasks import TASKS_FOLDER, task_config
from densephrases.model.tokenizer import TOKENIZER_FILE, Tokens
from densephrases.quantize.codebooks import CODEBOOKS_FILE, ProductQuantizer
from densephrases.text.documents import Document
from tests.faults.fuzz_documents import MOST_MEMORY, peak_memory, quiet
from tests.faults.mutate import mutated, mutated_json
from tests.faults.outcome import Outcome
from tests.index.made_up import DIM, HashEncoder, code_for

PROMISE = "A manifest or a model folder of any content is opened or refused"
DOCUMENTS = [Document("a", "the tower in paris was built in the year 1889", "tower", {"year": 1889})]

Case = Callable[[random.Random], None]


def attack(cases: int, seed: int, folder: Path) -> Outcome:
    chance = random.Random(seed)  # noqa: S311
    quiet()
    targets = [_index(folder / "index"), *_model(folder / "model")]
    failures = []
    before = peak_memory()
    for number in range(cases):
        target = chance.choice(targets)
        try:
            target(chance)
        except DensePhrasesError:
            continue
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            failures.append(f"case {number}, {target.__name__}: {type(error).__name__}: {error}"[:300])
    if (grown := peak_memory() - before) > MOST_MEMORY:
        failures.append(f"opening took {grown:,} bytes of memory")
    return Outcome(PROMISE, cases, tuple(failures))


def _index(folder: Path) -> Case:
    """An index is opened, described, and a document of it read, with a changed manifest."""
    encoder = HashEncoder()
    made = IndexFolder.create(folder, IndexSettings.from_encoder(encoder, "hash"))
    made.add(DOCUMENTS, encoder)
    values = json.loads((folder / MANIFEST_FILE).read_bytes())
    del values["checksum"]  # or it would refuse every change before anything else is looked at

    def manifest(chance: random.Random) -> None:
        (folder / MANIFEST_FILE).write_bytes(mutated_json(values, chance))
        opened = IndexFolder.open(folder)
        opened.info()
        opened.disk_usage()
        assert opened.find("a") in (*DOCUMENTS, None)
        for segment in opened.segments:
            for number in range(min(segment.documents, 3)):
                segment.document(number)

    return manifest


def _model(folder: Path) -> list[Case]:
    encoder = HashEncoder()
    folder.mkdir()
    encoder.config.save(folder)
    GeneratorConfig(base="tiny").save(folder)
    task = folder / TASKS_FOLDER / "slots"
    task.mkdir(parents=True)
    shutil.copy(folder / CONFIG_FILE, task / CONFIG_FILE)
    tokenizer = json.loads(encoder.tokens.tokenizer.to_str())
    books = code_for(DIM).to_bytes()

    def config(chance: random.Random) -> None:
        _write(folder / CONFIG_FILE, _json_of(encoder.config), chance)
        loaded = ModelConfig.load(folder)
        assert loaded.vector_size > 0
        ModelConfig.describes(folder)

    def config_of_task(chance: random.Random) -> None:
        _write(task / CONFIG_FILE, _json_of(encoder.config), chance)
        task_config(folder, "slots", encoder.config)

    def generator(chance: random.Random) -> None:
        _write(folder / GENERATOR_FILE, _json_of(GeneratorConfig(base="tiny")), chance)
        GeneratorConfig.load(folder)

    def tokens(chance: random.Random) -> None:
        _write(folder / TOKENIZER_FILE, tokenizer, chance)
        with _silent():
            Tokens.load(folder, encoder.config).questions(["who built the tower"])

    def codebooks(chance: random.Random) -> None:
        (folder / CODEBOOKS_FILE).write_bytes(mutated(books, chance))
        ProductQuantizer.read(folder, DIM)

    return [config, config_of_task, generator, tokens, codebooks]


@contextmanager
def _silent() -> Iterator[None]:
    """Panics of the tokenizer's library are written straight to the file of standard error."""
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


def _json_of(config: ModelConfig | GeneratorConfig) -> dict[str, Any]:
    return {name: getattr(config, name) for name in config.__dataclass_fields__}


def _write(path: Path, value: Any, chance: random.Random) -> None:
    path.write_bytes(mutated_json(value, chance))
