"""How long `densephrases` takes from the shell beyond Python's own start, with the index and the model unopened.

python benchmarks/start.py INDEX [--question TEXT] [--times 15] [--json FILE]

Four commands take turns: Python doing nothing, `densephrases --version`, a question asked of the index, and the same
question with the checksums of index and model not compared, which shows what comparing them costs. Files are in the
system's cache after the first turn, which is not counted.
"""

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

BARS = {"version": 0.25, "ask": 1.3}  # seconds beyond Python's start
UNVERIFIED = """
from densephrases import checksums
from densephrases.cli.main import main
from densephrases.index.files.checked import CheckedFile

CheckedFile._verify = CheckedFile._compare_whole = lambda *_: None
checksums._compare = lambda *_: None
checksums._hash = lambda _: ""
main()
"""


def main(
    index: Annotated[Path, typer.Argument(help="Folder of an index.")],
    question: Annotated[str, typer.Option(help="What is asked.")] = "Who was the architect of the Sydney Opera House?",
    times: Annotated[int, typer.Option(help="Turns that are counted.")] = 15,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures here as well.")] = None,
) -> None:
    """Prints medians and what they are beyond Python's start."""
    package = [sys.executable, "-m", "densephrases"]
    commands = {
        "python": [sys.executable, "-c", "pass"],
        "version": [*package, "--version"],
        "ask": [*package, "ask", str(index), question],
        "ask, unverified": [sys.executable, "-c", UNVERIFIED, "ask", str(index), question],
    }
    turns = [{name: seconds(command) for name, command in commands.items()} for _ in range(times + 1)][1:]
    medians = {name: statistics.median(turn[name] for turn in turns) for name in commands}
    table = Table("command", "median s", "least s", "beyond python s")
    for name, median in medians.items():
        least = min(turn[name] for turn in turns)
        table.add_row(name, f"{median:.2f}", f"{least:.2f}", f"{median - medians['python']:.2f}")
    console = Console()
    console.print(table)
    beyond = {name: medians[name] - medians["python"] for name in BARS}
    for name, bar in BARS.items():
        console.print(f"{name}: the bar of {bar} s is {'reached' if beyond[name] <= bar else 'missed'}.")
    console.print(f"Comparing checksums takes {medians['ask'] - medians['ask, unverified']:.2f} s of it.")
    if json_file is not None:
        json_file.write_text(json.dumps({"medians": medians, "beyond": beyond, "turns": turns}, indent=1))


def seconds(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
    return time.perf_counter() - began


if __name__ == "__main__":
    typer.run(main)
