"""A few files and links of others, and that a link which is followed is noticed."""

import sys
from pathlib import Path

import pytest

from densephrases.index import commits, own_files
from densephrases.index.segment.files import SEGMENT_FILES

from .foreign_files import PROMISE, attack

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")


def test_foreign_files(tmp_path: Path) -> None:
    outcome = attack(40, 1, tmp_path)
    assert outcome.failures == ()
    assert (outcome.promise, outcome.cases) == (PROMISE, 40)


def test_a_removal_of_too_much_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_files, "SEGMENT_FILES", (*SEGMENT_FILES, "clip.mp4", "notes"))
    assert any("lost or changed" in failure for failure in attack(60, 1, tmp_path).failures)


def test_links_that_are_followed_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commits, "refuse_links", lambda folder, manifest: None)
    assert any("a link was not refused" in failure for failure in attack(40, 1, tmp_path).failures)
