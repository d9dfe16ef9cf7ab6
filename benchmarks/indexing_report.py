"""What indexing on a GPU took: said and written down as it is measured, and a table at the end."""

import json
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

BAR = 0.6
WIKIPEDIA_TOKENS = 3.1e9
PAPER_HOURS, PAPER_GPUS = 20, 4

console = Console(width=120)


@dataclass(frozen=True, slots=True)
class Speed:
    """Tokens are those of passages; columns are those and titles, special tokens and overlaps."""

    name: str
    seconds: float
    tokens: int
    columns: int
    operations: float = 0.0
    share: float | None = None  # of the measured peak

    @property
    def hours(self) -> float:
        """For all of Wikipedia as the paper counts it."""
        return WIKIPEDIA_TOKENS / (self.tokens / self.seconds) / 3600

    def cells(self) -> list[str]:
        rates = (f"{number / self.seconds:,.0f}" for number in (self.tokens, self.columns))
        teraflops = f"{self.operations / self.seconds / 1e12:,.1f}" if self.operations else ""
        share = "" if self.share is None else f"{100 * self.share:.1f}"
        return [self.name, f"{self.seconds:.2f}", *rates, teraflops, share, f"{self.hours:,.2f}"]


def announce(stage: str) -> None:
    """What is done next, for whoever waits, or wonders where a run was cut off."""
    console.print(f"{time.strftime('%X')} {stage} ...", highlight=False)


@dataclass(frozen=True)
class Report:
    """What was measured up to now, always in the file as well."""

    file: Path | None
    values: dict[str, Any] = field(default_factory=dict)
    speeds: list[Speed] = field(default_factory=list)

    def add(self, *speeds: Speed, **values: Any) -> None:
        for speed in speeds:
            console.print(f"{speed.name}: {speed.seconds:.2f} s, {speed.tokens / speed.seconds:,.0f} tokens/s")
        if values:
            console.print(", ".join(f"{name} {value}" for name, value in values.items()))
        self.speeds.extend(speeds)
        self.values.update(values, gpu_gigabytes=_gpu_gigabytes())
        if self.file is not None:
            rows = [asdict(speed) | {"wikipedia_hours": speed.hours} for speed in self.speeds]
            self.file.write_text(json.dumps(self.values | {"speeds": rows}, indent=1))

    def print_table(self) -> None:
        table = Table(
            "what", "seconds", "tokens/s", "with titles etc.", "TFLOP/s", "share of peak %", "hours for 3.1e9"
        )
        for speed in self.speeds:
            table.add_row(*speed.cells())
        console.print(table)
        if shares := [speed.share for speed in self.speeds if speed.share is not None]:
            verdict = "reached" if max(shares) >= BAR else "missed"
            peak = self.values["peak"] / 1e12
            console.print(f"Peak {peak:,.0f} TFLOP/s; the bar of {100 * BAR:.0f}% of it is {verdict}.")
        if (seconds := self.values.get("finish_seconds")) is not None:
            console.print(f"Merging and building candidates for {self.values['vectors']:,} vectors: {seconds:.1f} s.")
        console.print(f"The paper takes {PAPER_HOURS} hours on {PAPER_GPUS} GPUs for 3.1e9 tokens.")


def _gpu_gigabytes() -> float | None:
    """The most that were taken at once."""
    return torch.cuda.max_memory_allocated() / 1e9 if torch.cuda.is_available() else None
