"""Headers of tables, and what is none."""

import pytest

from densephrases.text.readers.formats.headers import Header, find_header


def rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in text.split("/")]


@pytest.mark.parametrize(
    "table",
    [
        "Name|Born/Ada|1815/Alan|1912",
        "Capital|Country/Paris|France/Berlin|Germany",
        "Country|2019|2020/Germany|83.1|83.2/France|67.0|67.3",
        "Name|Amount|Amount/A|1|2/B|3|4",
        "|Units/North|5/South|7",
        "Name/Ada/Bob",
    ],
)
def test_headers(table: str) -> None:
    assert find_header(rows(table)) == Header(tuple(rows(table)[0]), (), 1)


@pytest.mark.parametrize(
    "table",
    [
        "Ada|1815/Alan|1912",
        "Berlin|Ann/Paris|Bob/Berlin|Eve",
        "ada@x.org|Ada/bob@x.org|Bob",
        "2024-05-03|Rain/2024-05-04|Sun",
        "3.5.2024|Rain/4.5.2024|Sun",
        "Saw|€ 5/Drill|€ 7",
        "Rent|950 euros/Deposit|1,900 euros",
        "France|2019/Spain|2020",
        f"Name|{'x' * 101}/Ada|y",
        "Name|City",
        "a|a/b|c",
    ],
)
def test_no_header(table: str) -> None:
    assert find_header(rows(table)) == Header((), (), 0)


def test_lines_above() -> None:
    table = "Sales report|||/|||/as of May|||/Region|Product|Units|Price/North|Saw|5|1/South|Saw|7|2"
    assert find_header(rows(table)) == Header(("Region", "Product", "Units", "Price"), ("Sales report", "as of May"), 4)


def test_two_levels() -> None:
    table = "|2023|2023|2024|2024/Region|Q1|Q2|Q1|Q2/North|1|2|3|4/South|5|6|7|8"
    assert find_header(rows(table)) == Header(("Region", "2023 Q1", "2023 Q2", "2024 Q1", "2024 Q2"), (), 2)


def test_nothing() -> None:
    assert find_header([]) == Header((), (), 0)
