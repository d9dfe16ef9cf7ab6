"""The table of all attacks."""

from pathlib import Path

import pytest

from tests.faults import foreign_files
from tests.faults.campaigns import CAMPAIGNS, Campaign, Result, chosen, main, report, run
from tests.faults.outcome import Outcome


def broken(cases: int, seed: int, folder: Path) -> Outcome:
    raise RuntimeError(f"{cases} of {seed}, {folder.is_dir()}")


def test_names_are_unique_and_attacks_are_many() -> None:
    assert len({each.name for each in CAMPAIGNS}) == len(CAMPAIGNS)
    fuzzed = sum(each.cases for each in CAMPAIGNS if each.name.startswith("fuzzed"))
    damaged = sum(each.cases for each in CAMPAIGNS if each.name.startswith("damaged"))
    assert fuzzed >= 100_000
    assert damaged >= 2_000


def test_an_attack_that_fails_itself_is_a_failure() -> None:
    result = run(Campaign("broken", broken, 200), seed=3, share=0.01)
    assert result.outcome.failures == ("the attack ended with RuntimeError: 2 of 3, True",)


def test_the_table_names_promises_cases_and_failures() -> None:
    results = [
        Result("kills", Outcome("Nothing is lost", 600), 12.0),
        Result("soak", Outcome("Memory stays flat", 2000, ("it grew",)), 60.2),
    ]
    first, *rows, total, failure = report(results, seed=5).splitlines()
    assert first.split() == ["promise", "cases", "failures", "seconds", "attack"]
    assert [row.split()[-4:] for row in rows] == [["600", "0", "12", "kills"], ["2,000", "1", "60", "soak"]]
    assert total.split() == ["in", "all", "2,600", "1", "seed", "5"]
    assert failure == "soak: it grew"


def test_only_some(capsys: pytest.CaptureFixture[str]) -> None:
    assert [each.attack for each in chosen(["files of others"])] == [foreign_files.attack]
    with pytest.raises(SystemExit, match="'nothing' is no attack; expected one of fuzzed documents"):
        chosen(["nothing"])
    assert main(["--only", "files of others", "--share", "0.05"]) == 0
    assert "files of others" in capsys.readouterr().out


def test_every_attack_stands_in_the_document() -> None:
    text = (Path(__file__).parents[2] / "docs" / "reliability.md").read_text()
    assert [each.name for each in CAMPAIGNS if f"| {each.name} |" not in text] == []
