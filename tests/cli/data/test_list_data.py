"""`densephrases data list`."""

import json
from pathlib import Path

from densephrases.data.download.catalog import DATA_SETS
from tests.cli.conftest import Command


def test_all_data_sets(densephrases: Command) -> None:
    out = densephrases("data", "list").out
    assert all(f"{name}: " in out for name in DATA_SETS)
    assert "2 files, 35.1 MB; licence: CC BY-SA 4.0; read by: eval reading" in out
    assert {each["name"] for each in json.loads(densephrases("data", "list", "--json").out)} == set(DATA_SETS)


def test_where_files_are_expected(densephrases: Command, tmp_path: Path) -> None:
    out = densephrases("data", "list", "nq-passages", "--out", tmp_path).out
    assert f"{tmp_path}/nq-passages/mrqa-nq-dev.jsonl.gz\n  https://" in out
    assert f"made of it: {tmp_path}/nq-passages/nq-passages-dev.json.gz" in out
    assert (
        "SHA-1 in https://dumps.wikimedia.org/dewiki"
        in densephrases("data", "list", "wikipedia", "--language", "de").out
    )
    assert "recorded when it first comes" in densephrases("data", "list", "trec").out
