"""Seconds of `densephrases cluster build` and of `densephrases index` for the same documents, in turns.

Both are whole commands, from the start of Python to the end of the process; that on Ray starts a Ray of its own, with
as many encoders as the machine has cores. The indexes must have the same files.
"""

import json
import os
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from densephrases.index.manifest import Manifest
from densephrases.sample import articles_path
from densephrases.text.readers.read import read_documents

BAR = 1.15  # of the plain builder's seconds


def build(
    corpus: Annotated[Path | None, typer.Option(help="Anything that can be indexed; else the bundled sample.")] = None,
    documents: Annotated[int | None, typer.Option(help="Only the first so many.")] = None,
    turns: Annotated[int, typer.Option(help="How many times each is measured.")] = 2,
    encoders: Annotated[int, typer.Option(help="Encoder actors.")] = os.cpu_count() or 1,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures here as well.")] = None,
) -> None:
    """Prints the seconds of each turn, and the ratio of the medians."""
    with TemporaryDirectory() as place:
        source = Path(place) / "corpus.jsonl"
        characters = _write(corpus or articles_path(), documents, source)
        print(f"{characters:,} characters, {encoders} encoders")
        plain = ["index", str(source), "--out"]
        cluster = ["cluster", "build", str(source), "--encoders", str(encoders), "--out"]
        seconds: dict[str, list[float]] = {"plain": [], "cluster": []}
        for turn in range(turns):
            both = {"plain": plain, "cluster": cluster}
            for name in both if turn % 2 == 0 else reversed(both):
                seconds[name].append(_seconds([*both[name], f"{place}/{name}-{turn}"]))
                print(f"turn {turn + 1}, {name}: {seconds[name][-1]:.1f} s", flush=True)
            _refuse_different(Path(place) / f"plain-{turn}", Path(place) / f"cluster-{turn}")
    ratio = median(seconds["cluster"]) / median(seconds["plain"])
    verdict = "reached" if ratio <= BAR else "missed"
    print(f"On Ray it takes {ratio:.3f} of the seconds without; at most {BAR} is {verdict}.")
    if json_file is not None:
        values = {"characters": characters, "encoders": encoders, "seconds": seconds, "ratio": ratio, "bar": BAR}
        json_file.write_text(json.dumps(values, indent=1))


def _write(corpus: Path, documents: int | None, target: Path) -> int:
    characters = 0
    with target.open("w") as file:
        for document in islice(read_documents([corpus]), documents):
            characters += len(document.text)
            file.write(json.dumps({"id": document.id, "title": document.title, "text": document.text}) + "\n")
    return characters


def _seconds(arguments: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "densephrases", *arguments], check=True, capture_output=True)  # noqa: S603
    return time.perf_counter() - began


def _refuse_different(plain: Path, cluster: Path) -> None:
    one, other = ([entry.files for entry in Manifest.load(folder).segments] for folder in (plain, cluster))
    assert one == other, "the indexes differ"
