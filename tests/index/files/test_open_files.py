"""Limits on open files: raised as far as the system allows, then explained."""

import subprocess
import sys
from pathlib import Path

import pytest

from densephrases.index.folder import IndexFolder
from densephrases.index.settings import IndexSettings
from densephrases.text.documents import Document
from tests.index.made_up import HashEncoder, long_text

OPENED = """
import resource, sys
from pathlib import Path
from densephrases.errors import PhraseIndexError
from densephrases.index.folder import IndexFolder
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[2]), int(sys.argv[3])))
try:
    print(IndexFolder.open(Path(sys.argv[1])).documents, "documents")
except PhraseIndexError as error:
    print(error)
"""


def opened(folder: Path, soft: int, hard: int) -> str:
    process = subprocess.run(  # noqa: S603
        [sys.executable, "-c", OPENED, str(folder), str(soft), str(hard)],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return process.stdout.strip()


@pytest.mark.skipif(sys.platform == "win32", reason="has no such limit")
def test_an_index_of_many_segments_opens_where_few_files_may_be_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("densephrases.index.folder.IndexFolder._merge", lambda index, first: None)
    encoder = HashEncoder()
    index = IndexFolder.create(tmp_path / "index", IndexSettings.from_encoder(encoder, "hash", "int8"))
    for number in range(5):
        index.add([Document(str(number), long_text(number, 10))], encoder)
    assert len(index.segments) == 5
    assert opened(index.folder, 60, 400) == "5 documents"
    if sys.version_info < (3, 13):  # before, every mapped file stays open
        assert "the system lets this process open no more files; allow more, for example by `ulimit -n" in opened(
            index.folder, 60, 90
        )
    else:
        assert opened(index.folder, 60, 60) == "5 documents"
