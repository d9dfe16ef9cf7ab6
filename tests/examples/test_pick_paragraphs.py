"""Paragraphs of articles, two each."""

import json
import lzma
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "examples" / "pick_paragraphs.py"


def pick(tmp_path: Path, *options: str) -> list[dict[str, str]]:
    articles = [
        {"id": str(n), "title": f"Title {n}", "paragraphs": [f"{n} {k} " + "x" * 600 for k in range(n)] + ["short"]}
        for n in range(8)
    ]
    with lzma.open(tmp_path / "articles.jsonl.xz", "wt") as file:
        file.writelines(json.dumps(article) + "\n" for article in articles)
    out = tmp_path / "picked.jsonl"
    command: list[str | Path] = [sys.executable, SCRIPT, tmp_path / "articles.jsonl.xz", "--out", out, *options]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_two_of_every_article_with_three_that_fit(tmp_path: Path) -> None:
    picked = pick(tmp_path, "--share", "1")
    assert [line["id"] for line in picked] == [f"{n}-{k}" for n in range(3, 8) for k in range(2)]
    assert all(line["text"].startswith(line["id"].split("-")[0]) and len(line["text"]) > 500 for line in picked)
    assert len({line["text"] for line in picked}) == len(picked)


def test_the_seed_decides(tmp_path: Path) -> None:
    assert pick(tmp_path, "--share", "0.5") == pick(tmp_path, "--share", "0.5")
    assert pick(tmp_path, "--share", "0") == []
