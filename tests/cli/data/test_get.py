"""`densephrases data get`, from a server on this machine."""

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from densephrases.data.download import catalog
from densephrases.data.squad import sample_path
from tests.cli.conftest import Command
from tests.cli.test_main import is_one_sentence
from tests.data.download.conftest import Web, web

__all__ = ["web"]  # a fixture
SAMPLE = sample_path().read_bytes()


@pytest.fixture
def published(web: Web, monkeypatch: pytest.MonkeyPatch) -> Web:
    """SQuAD of two files, the second without a known checksum."""
    first, second = catalog.DATA_SETS["squad"].files
    files = (
        replace(first, address=web.serve(first.name, SAMPLE), sha256=sha256(SAMPLE).hexdigest()),
        replace(second, address=web.serve(second.name, SAMPLE), sha256=None),
    )
    monkeypatch.setitem(catalog.DATA_SETS, "squad", replace(catalog.DATA_SETS["squad"], files=files))
    return web


def test_get(densephrases: Command, published: Web, tmp_path: Path) -> None:
    result = densephrases("data", "get", "squad", "--out", tmp_path)
    first, second, licence = result.out.splitlines()
    assert result.code == 0
    assert first.startswith(f"{tmp_path}/squad/train-v1.1.json: ")
    assert "downloaded, verified against the published checksum" in first
    assert "recorded, to be verified from now on" in second
    assert licence.startswith("Licence: CC BY-SA 4.0. Read by: eval reading")
    again = densephrases("data", "get", "squad", "--out", tmp_path, "--only", "dev*", "--json")
    (file,) = json.loads(again.out)
    assert (file["check"], file["downloaded"]) == ("as before", False)
    assert len(published.asked) == 2


def test_mistakes(densephrases: Command, published: Web, tmp_path: Path) -> None:
    published.files.clear()
    for arguments, message in (
        (["squad"], "Without a network, download it elsewhere, put it at"),
        (["squads"], "There is no data set 'squads'; known are squad, "),
        (["squad", "--only", "test*"], "--only 'test*' matches no file of 'squad'"),
        (["wikipedia", "--date", "now"], "--date 'now' is no date of a dump"),
    ):
        result = densephrases("data", "get", *arguments, "--out", tmp_path)
        assert is_one_sentence(result)
        assert message in result.err
