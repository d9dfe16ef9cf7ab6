"""Nothing to be tested on is learned: found by title and by eight words in a row."""

from pathlib import Path

import pytest

from densephrases.data.decontaminate import HeldOut, LeakReport, grams
from densephrases.data.squad import sample_path
from densephrases.text.passages import Passage

TEXT = "The Eiffel Tower was built in Paris in 1889, by Gustave Eiffel."


def test_grams() -> None:
    assert list(grams("One, two three four-five six seven eight nine!")) == [
        "one two three four five six seven eight",
        "two three four five six seven eight nine",
    ]
    assert list(grams("Only three words")) == ["only three words"]
    assert list(grams(" ")) == []


@pytest.mark.parametrize(
    ("passage", "reason"),
    [
        (Passage("something else", "Eiffel_Tower"), "title"),
        (Passage("something else", "eiffel tower"), "title"),
        (Passage("They say the Eiffel tower -- was built in Paris in 1889.", "Paris"), "overlap"),
        (Passage("The Eiffel Tower was built in Paris.", "Paris"), None),
        (Passage("", ""), None),
    ],
)
def test_reasons(passage: Passage, reason: str | None) -> None:
    assert HeldOut([Passage(TEXT, "Eiffel Tower"), Passage("untitled")]).reason(passage) == reason


def test_everything_is_counted() -> None:
    held_out, report = HeldOut.read([sample_path()]), LeakReport()
    assert not held_out.admits(Passage("x", next(iter(held_out.titles))), report)
    assert not held_out.admits(Passage(f"so {next(iter(held_out.grams))} on", "x"), report)
    assert held_out.admits(Passage("an innocent text", "x"), report)
    assert report == LeakReport(checked=3, title=1, overlap=1)
    assert report.clean == 1
    assert str(report) == "3 passages checked, 1 left out by title and 1 by a shared sequence of 8 words"


def test_nothing_held_out_admits_all(tmp_path: Path) -> None:
    assert HeldOut.read([]).reason(Passage(TEXT, "")) is None
