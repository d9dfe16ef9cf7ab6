"""A table from text: one row for each company, one column for each relation, and the sentence behind each cell.

python examples/table.py [--out FILE.csv]
"""

import argparse
import csv
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TextIO

from densephrases import Document, PhraseIndex
from densephrases.search.facts.relations import Fact

TEXTS = {
    "Harbour Light": "Harbour Light is a maker of ship lamps. It was founded by Marta Lund in 1987 and has its "
    "headquarters in Bergen. About 240 people work there.",
    "Quellwerk": "Quellwerk bottles water. Jonas Weber founded the company in 1954. Its headquarters are in Freiburg.",
    "Tre Fratelli": "The bakery Tre Fratelli was founded by Paolo Ricci. Its oven, built in 1911, is still in use.",
}
RELATIONS = ("founder", "date founded", "headquarters")


def write_table(facts: Iterable[Fact], file: TextIO) -> None:
    """What the texts do not state stays empty."""
    table: dict[str, dict[str, str]] = {name: {"company": name} for name in TEXTS}
    for fact in facts:
        table[fact.subject][fact.relation] = fact.object or ""
    writer = csv.DictWriter(file, ["company", *RELATIONS], lineterminator="\n")
    writer.writeheader()
    writer.writerows(table.values())


def main() -> None:
    parser = argparse.ArgumentParser(description="Fill a table from text.")
    parser.add_argument("--out", type=Path, help="CSV file; without it the table is printed")
    options = parser.parse_args()

    with TemporaryDirectory() as folder:
        index = PhraseIndex.create(Path(folder) / "index", [Document(name, text, name) for name, text in TEXTS.items()])
        facts = [fact for relation in RELATIONS for fact in index.extract(list(TEXTS), relation)]
    if options.out:
        with options.out.open("w", newline="", encoding="utf-8") as file:
            write_table(facts, file)
    else:
        write_table(facts, sys.stdout)
    for fact in facts:
        if fact.answer is not None:
            print(
                f"{fact.subject}, {fact.relation}: {fact.object} ({fact.answer.confidence:.0%}) {fact.answer.sentence}"
            )


if __name__ == "__main__":
    main()
