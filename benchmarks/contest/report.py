"""Tables, and the bars that phrase retrieval should max_span."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table

from contest.contenders import NAMES, Contender, Result

SPEED_BAR = 30.0  # times the questions a second of a retriever with a reader, in batches
BATCH_BAR = 1.5  # times the encoding alone, in batches
SINGLE_BAR = 2.0  # times the encoding alone, one question at a time


@dataclass(frozen=True, slots=True)
class Bar:
    what: str
    value: float
    bar: str
    reached: bool


def bars(results: Sequence[Result]) -> list[Bar]:
    """Those for which everything was measured."""
    by_name: dict[Contender, Result] = {result.contender: result for result in results}
    ours = by_name.get("ours")
    if ours is None:
        return []
    baselines = [by_name[name] for name in ("bm25", "dense") if name in by_name]
    return [bar for other in baselines for bar in against(ours, other)] + beside_encoding(ours)


def against(ours: Result, other: Result) -> list[Bar]:
    ratio = ours.batched.questions_per_second / other.batched.questions_per_second
    gain = ours.exact_match - other.exact_match
    name = NAMES[other.contender]
    return [
        Bar(f"questions a second, times {name}", ratio, f">= {SPEED_BAR:g}", ratio >= SPEED_BAR),
        Bar(f"exact match above {name}", gain, ">= 0", gain >= 0),
    ]


def beside_encoding(ours: Result) -> list[Bar]:
    """By medians of the same batches."""
    single_alone, batched_alone = (timed["p50_ms"] for timed in ours.details["encoding"])
    batched, single = ours.batched.milliseconds(50) / batched_alone, ours.single.milliseconds(50) / single_alone
    return [
        Bar("time in batches, times the encoding alone", batched, f"<= {BATCH_BAR:g}", batched <= BATCH_BAR),
        Bar("time of one question, times the encoding alone", single, f"<= {SINGLE_BAR:g}", single <= SINGLE_BAR),
    ]


def results_table(results: Sequence[Result]) -> Table:
    batch = results[0].batched.batch
    table = Table("", "EM", "Q/s, 1", f"Q/s, {batch}", "p50 ms, 1", "p99 ms, 1", f"p50 ms, {batch}", f"p99 ms, {batch}")
    for name in ("resident MB", "peak MB", "index MB"):
        table.add_column(name)
    for r in results:
        speeds = (f"{timed.questions_per_second:.3g}" for timed in (r.single, r.batched))
        waits = (f"{timed.milliseconds(percent):.1f}" for timed in (r.single, r.batched) for percent in (50, 99))
        sizes = (f"{value:.0f}" for value in (r.memory.resident, r.memory.peak))
        table.add_row(named(r), f"{r.exact_match:.2f}", *speeds, *waits, *sizes, f"{r.index_bytes / 1e6:.1f}")
    return table


def named(result: Result) -> str:
    """With the number of passages it reads."""
    setting = result.details.get("setting")
    return NAMES[result.contender] + (f" ({setting['passages']})" if setting else "")


def tuning_table(results: Sequence[Result]) -> Table:
    """Every number of passages, so that a faster and worse baseline can be judged as well."""
    ours = next((result.batched.questions_per_second for result in results if result.contender == "ours"), None)
    table = Table("on tuning questions", "passages", "weight of retrieval", "EM", "Q/s in batches", "ours, times")
    for result in results:
        for each in result.details.get("tuned", []):
            speed, setting = each["questions_per_second"], each["setting"]
            ratio = "" if ours is None else f"{ours / speed:.0f}"
            values = (str(setting["passages"]), f"{setting['weight']:g}", f"{each['exact_match']:.1f}", f"{speed:.3g}")
            table.add_row(NAMES[result.contender], *values, ratio)
    return table


def bars_table(found: Sequence[Bar]) -> Table:
    table = Table("bar", "measured", "expected", "")
    for bar in found:
        table.add_row(bar.what, f"{bar.value:.2f}", bar.bar, "reached" if bar.reached else "missed")
    return table
