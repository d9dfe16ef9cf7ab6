"""Paragraphs of other articles to generate questions about: of some articles two each, neither short nor long.

python examples/pick_paragraphs.py enwiki2015-0.jsonl.xz enwiki2015-1.jsonl.xz enwiki2015-2.jsonl.xz --out picked.jsonl
"""

import json
import lzma
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

SHORTEST, LONGEST = 500, 1500  # characters
FEWEST = 3  # such paragraphs in an article


def main(
    articles: Annotated[list[Path], typer.Argument(help="JSON lines, xz, with id, title and paragraphs.")],
    out: Annotated[Path, typer.Option(help="The JSON lines to write, a paragraph each.")],
    share: Annotated[float, typer.Option(help="Of the articles with paragraphs enough.")] = 0.45,
    per_article: Annotated[int, typer.Option(help="Paragraphs of an article.")] = 2,
    seed: Annotated[int, typer.Option(help="Decides which.")] = 7,
    without: Annotated[Path | None, typer.Option(help="JSON lines picked before, not to be picked again.")] = None,
) -> None:
    """Pick paragraphs of articles at random."""
    dice, count = random.Random(seed), 0  # noqa: S311
    before = set() if without is None else {json.loads(line)["text"] for line in without.open(encoding="utf-8")}
    with out.open("w", encoding="utf-8") as file:
        for article in (article for path in articles for article in read(path)):
            fitting = [text for text in article["paragraphs"] if SHORTEST <= len(text) <= LONGEST]
            if len(fitting) < FEWEST or dice.random() > share:
                continue
            for number, text in enumerate(dice.sample(fitting, min(per_article, len(fitting)))):
                if text in before:
                    continue
                line = {"id": f"{article['id']}-{number}", "title": article["title"], "text": text}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
                count += 1
    typer.echo(f"{count:,} paragraphs in {out}")


def read(path: Path) -> Iterator[dict[str, Any]]:
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


if __name__ == "__main__":
    typer.run(main)
