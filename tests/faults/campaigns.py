"""`make faults`: all attacks, two at a time, and a table of what they found. The exit code is 1 if a promise broke.

`python -m tests.faults --share 0.01 --seed 7 --only kills` attacks less, elsewhere, or one promise.
"""

import argparse
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.faults import (
    disk_faults,
    flips,
    foreign_files,
    fuzz_commands,
    fuzz_configs,
    fuzz_data,
    fuzz_documents,
    http_fuzz,
    kills,
    power_loss,
    readers,
    soak,
    state_machine,
)
from tests.faults.outcome import Outcome

Attack = Callable[[int, int, Path], Outcome]

_AT_ONCE = 2
_SHOWN_FAILURES = 5
_IN_MEMORY = Path("/dev/shm")  # noqa: S108


@dataclass(frozen=True, slots=True)
class Campaign:
    name: str
    attack: Attack
    cases: int


# The longest first, so that none is left over at the end.
CAMPAIGNS = (
    Campaign("fuzzed documents", fuzz_documents.attack, 50_000),
    Campaign("damaged indexes", flips.attack_indexes, 1_500),
    Campaign("kills", kills.attack, 600),
    Campaign("soak", soak.attack, 10_000),
    Campaign("fuzzed requests", http_fuzz.attack, 20_000),
    Campaign("power losses", power_loss.attack, 2_000),
    Campaign("readers beside writers", readers.attack, 3_000),
    Campaign("fuzzed data files", fuzz_data.attack, 20_000),
    Campaign("handles", state_machine.attack, 1_000),
    Campaign("damaged models", flips.attack_models, 520),
    Campaign("fuzzed configurations", fuzz_configs.attack, 8_000),
    Campaign("disk faults", disk_faults.attack, 250),
    Campaign("forged indexes", flips.attack_forged, 200),
    Campaign("fuzzed commands", fuzz_commands.attack, 4_000),
    Campaign("files of others", foreign_files.attack, 300),
)


@dataclass(frozen=True, slots=True)
class Result:
    campaign: str
    outcome: Outcome
    seconds: float


def run(campaign: Campaign, seed: int, share: float) -> Result:
    """An attack that fails itself is a failure, too."""
    begin = time.perf_counter()
    with TemporaryDirectory(prefix="densephrases-faults-", dir=_fast_folder(), ignore_cleanup_errors=True) as folder:
        try:
            outcome = campaign.attack(max(int(share * campaign.cases), 1), seed, Path(folder))
        except Exception as error:
            outcome = Outcome(campaign.name, 0, (f"the attack ended with {type(error).__name__}: {error}",))
    return Result(campaign.name, outcome, time.perf_counter() - begin)


def _fast_folder() -> str | None:
    """In memory where the system has such a folder: a disk would be synced tens of thousands of times."""
    return str(_IN_MEMORY) if os.access(_IN_MEMORY, os.W_OK) else None


def report(results: Sequence[Result], seed: int) -> str:
    width = max(len(each.outcome.promise) for each in results)
    lines = [f"{'promise':{width}}  {'cases':>7}  {'failures':>8}  {'seconds':>7}  attack"]
    lines += [
        f"{each.outcome.promise:{width}}  {each.outcome.cases:7,}  {len(each.outcome.failures):8,}  "
        f"{each.seconds:7.0f}  {each.campaign}"
        for each in results
    ]
    cases = sum(each.outcome.cases for each in results)
    failures = sum(len(each.outcome.failures) for each in results)
    lines.append(f"{'in all':{width}}  {cases:7,}  {failures:8,}  seed {seed}")
    for each in results:
        lines += [f"{each.campaign}: {failure}" for failure in each.outcome.failures[:_SHOWN_FAILURES]]
    return "\n".join(lines)


def chosen(names: Sequence[str]) -> list[Campaign]:
    known = [each.name for each in CAMPAIGNS]
    if unknown := [name for name in names if name not in known]:
        raise SystemExit(f"{unknown[0]!r} is no attack; expected one of {', '.join(known)}.")
    return [each for each in CAMPAIGNS if not names or each.name in names]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description="Attack the promises of the package.")
    parser.add_argument("--seed", type=int, default=0, help="Of all attacks; the same seed makes the same attacks.")
    parser.add_argument("--share", type=float, default=1.0, help="Of the cases of each attack.")
    parser.add_argument("--only", action="append", default=[], metavar="ATTACK", help="May be repeated.")
    given = parser.parse_args(arguments)
    campaigns = chosen(given.only)
    results: dict[str, Result] = {}
    with ProcessPoolExecutor(_AT_ONCE, get_context("spawn"), max_tasks_per_child=1) as processes:
        running = [processes.submit(run, campaign, given.seed, given.share) for campaign in campaigns]
        for each in as_completed(running):
            result = each.result()
            results[result.campaign] = result
            print(f"{result.campaign}: {result.outcome.cases:,} cases, {len(result.outcome.failures):,} failures")
    ordered = [results[campaign.name] for campaign in campaigns]
    print(f"\n{report(ordered, given.seed)}")
    return int(any(each.outcome.failures for each in ordered))
