"""An index in step with folders, against reading them anew."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from densephrases.errors import ConfigError, DataError
from densephrases.index.folder import IndexFolder
from densephrases.index.segment.document_record import DocumentRecord
from densephrases.index.segment.reader import Segment
from densephrases.index.settings import IndexSettings
from densephrases.index.sync.folder_sync import Changes, FolderSync
from densephrases.index.sync.options import SyncOptions
from densephrases.text.documents import Document
from densephrases.text.readers.folders.read_report import ReadReport
from densephrases.text.readers.read import read_documents
from tests.index.made_up import HashEncoder


@pytest.fixture(scope="module")
def encoder() -> HashEncoder:
    return HashEncoder()


@pytest.fixture
def index(encoder: HashEncoder, tmp_path: Path) -> IndexFolder:
    return IndexFolder.create(tmp_path / "index", IndexSettings.from_encoder(encoder, "hash"))


def sync(
    index: IndexFolder, encoder: HashEncoder, *paths: Path, report: ReadReport | None = None, **options: Any
) -> Changes:
    return FolderSync(index, paths, SyncOptions.from_options(options), report or ReadReport()).apply(encoder)


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def contents(index: IndexFolder) -> dict[str, str]:
    found = {}
    for segment, deleted in zip(index.segments, index.deleted, strict=True):
        for number in range(segment.documents):
            if deleted is None or not deleted[number]:
                document = segment.document(number)
                found[document.id] = document.text
    return found


def test_new_changed_touched_and_vanished_files(index: IndexFolder, encoder: HashEncoder, tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {"a.txt": "the city", "b.txt": "a tower", "c/d.txt": "the river"})
    assert sync(index, encoder, docs).added == ["a.txt", "b.txt", "c/d.txt"]
    before = encoder.forwards
    assert sync(index, encoder, docs) == Changes(unchanged=3)
    os.utime(docs / "a.txt", ns=(1, 1))
    assert sync(index, encoder, docs) == Changes(unchanged=3)
    assert encoder.forwards == before, "nothing was encoded"
    assert FolderSync(index, [docs], SyncOptions(), ReadReport()).files == [], "it is not read again"
    write(docs, {"b.txt": "a bridge", "new.txt": "the sea"})
    shutil.rmtree(docs / "c")
    expected = Changes(added=["new.txt"], replaced=["b.txt"], deleted=["c/d.txt"], unchanged=1)
    preview = FolderSync(index, [docs], SyncOptions(), ReadReport()).preview()
    assert (preview, index.documents) == (expected, 3)
    assert sync(index, encoder, docs) == expected
    assert contents(index) == {"a.txt": "the city", "b.txt": "a bridge", "new.txt": "the sea"}


def test_only_what_is_below_the_folders_vanishes(index: IndexFolder, encoder: HashEncoder, tmp_path: Path) -> None:
    index.add([Document("bare", "a text")], encoder)
    pa, pb = (write(tmp_path / name, {"README.md": f"of {name}", "x/y.txt": "more"}) for name in ("pa", "pb"))
    sync(index, encoder, pa, pb)
    (pa / "README.md").unlink()
    (pb / "x" / "y.txt").unlink()
    assert sync(index, encoder, pb / "x", allow_empty=True).deleted == ["pb/x/y.txt"]
    assert set(contents(index)) == {"bare", "pa/README.md", "pa/x/y.txt", "pb/README.md"}
    assert sync(index, encoder, pa, prune=False).deleted == []
    assert sync(index, encoder, pa).deleted == ["pa/README.md"]


def test_records_of_a_file(index: IndexFolder, encoder: HashEncoder, tmp_path: Path) -> None:
    """Those that are gone are deleted, unless they are in another file now, or the file cannot be read to its end."""

    def lines(*ids: str) -> str:
        return "".join(json.dumps({"id": i, "text": f"the city {i}"}) + "\n" for i in ids)

    docs = write(tmp_path / "docs", {"a.jsonl": lines("1", "2", "3")})
    sync(index, encoder, docs)
    write(docs, {"a.jsonl": lines("2") + "{broken"})
    assert sync(index, encoder, docs).deleted == []
    write(docs, {"a.jsonl": lines("2"), "b.jsonl": lines("3", "4")})
    assert sync(index, encoder, docs) == Changes(added=["4"], deleted=["1"], unchanged=2)
    assert set(contents(index)) == {"2", "3", "4"}


def test_a_touched_file_has_its_new_date(index: IndexFolder, encoder: HashEncoder, tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {"a.txt": "the city of gold", "b.txt": "a tower"})
    sync(index, encoder, docs)
    old = index.segments[0]
    vectors = old.store.decode(np.arange(old.vectors))
    os.utime(docs / "a.txt", ns=(10**18, 10**18))
    sync(index, encoder, docs)
    found = index.find("a.txt")
    assert found is not None
    assert (found.text, found.metadata["modified"]) == ("the city of gold", "2001-09-09T01:46:40Z")
    index.optimize()
    (segment,) = index.segments
    assert sorted(map(tuple, segment.store.decode(np.arange(segment.vectors)))) == sorted(map(tuple, vectors))
    assert segment.metadata_index is not None
    numbers = segment.metadata_index.documents_with("modified", ["2001-09-09T01:46:40Z"])
    assert [segment.record(number).id for number in numbers] == ["a.txt"], "filters see it"
    assert (index.documents, index.check()) == (2, [])


def test_touched_files_among_others(index: IndexFolder, encoder: HashEncoder, tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {f"{n}.txt": f"the city {n}" for n in range(6)})
    for n in range(6):
        os.utime(docs / f"{n}.txt", ns=(10**18, 10**18))
    sync(index, encoder, docs)
    for n in (0, 1, 4):
        os.utime(docs / f"{n}.txt", ns=(0, 0))
    assert sync(index, encoder, docs) == Changes(unchanged=6)
    assert contents(index) == {f"{n}.txt": f"the city {n}" for n in range(6)}
    years = [found.metadata["modified"][:4] for n in range(6) if (found := index.find(f"{n}.txt"))]
    assert years == ["1970", "1970", "2001", "2001", "1970", "2001"]


def test_records_of_a_changed_file_are_not_read_again(index: IndexFolder, encoder: HashEncoder, tmp_path: Path) -> None:
    """Also those that are as before: their file has another date and size, or is another one."""
    one, two, three = (json.dumps({"id": name, "text": "the city"}) + "\n" for name in "123")
    docs = write(tmp_path / "docs", {"a.jsonl": one + two})
    sync(index, encoder, docs)
    write(docs, {"a.jsonl": one, "b.jsonl": two + three})
    assert sync(index, encoder, docs) == Changes(added=["3"], unchanged=2)
    assert FolderSync(index, [docs], SyncOptions(), ReadReport()).files == []
    moved = index.find("2")
    assert moved is not None
    assert moved.metadata["path"] == "b.jsonl"


def test_a_document_of_another_root_or_of_no_file_keeps_its_origin(
    index: IndexFolder, encoder: HashEncoder, tmp_path: Path
) -> None:
    pa = write(tmp_path / "pa", {"pb/x.txt": "the city"})
    pb = write(tmp_path / "pb", {"x.txt": "the city", "y.txt": "a tower"})
    sync(index, encoder, pa)
    index.add([Document("pb/y.txt", "a tower", "y")], encoder)
    assert sync(index, encoder, pb) == Changes(unchanged=2)
    stored = [index.find(name) for name in ("pb/x.txt", "pb/y.txt")]
    assert [each and each.file and each.file.root for each in stored] == ["pa", None]


def test_a_file_without_text_loses_its_document(index: IndexFolder, encoder: HashEncoder, tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {"a.txt": "the city", "b.txt": "a tower"})
    sync(index, encoder, docs)
    write(docs, {"a.txt": ""})
    assert sync(index, encoder, docs).deleted == ["a.txt"]


def test_a_file_that_cannot_be_read_keeps_its_document(
    index: IndexFolder, encoder: HashEncoder, tmp_path: Path
) -> None:
    docs = write(tmp_path / "docs", {"a.txt": "the city"})
    sync(index, encoder, docs)
    (docs / "a.txt").write_bytes(bytes(9))
    report = ReadReport()
    assert sync(index, encoder, docs, report=report) == Changes()
    assert (report.skipped, contents(index)) == (1, {"a.txt": "the city"})


def test_known_files_stay_in_step_where_they_would_be_left_out(
    index: IndexFolder, encoder: HashEncoder, tmp_path: Path
) -> None:
    docs = write(tmp_path / "docs", {"a.py": "the city", "b.py": "a tower"})
    sync(index, encoder, docs, include=("*.py",))
    write(docs, {"a.py": "the river", "c.py": "the sea"})
    (docs / "b.py").unlink()
    assert sync(index, encoder, docs) == Changes(replaced=["a.py"], deleted=["b.py"])


def test_an_empty_folder_may_be_a_missing_drive(index: IndexFolder, encoder: HashEncoder, tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {"a.txt": "the city", "b.txt": "a tower"})
    other = write(tmp_path / "other", {"c.txt": "the sea"})
    sync(index, encoder, docs, other)
    for path in docs.iterdir():
        path.unlink()
    with pytest.raises(DataError, match=r"All 2 files .*docs' are gone; .*--allow-empty"):
        sync(index, encoder, docs, other)
    assert index.documents == 3
    assert sync(index, encoder, docs, other, allow_empty=True).deleted == ["docs/a.txt", "docs/b.txt"]
    shutil.rmtree(docs)
    with pytest.raises(DataError, match="does not exist"):
        sync(index, encoder, docs)


def test_files_that_are_being_written_are_deferred(index: IndexFolder, encoder: HashEncoder, tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {"a.txt": "the city", "b.txt": "half a"})
    os.utime(docs / "a.txt", ns=(10**18, 10**18))
    assert sync(index, encoder, docs, settle_seconds=3600) == Changes(added=["a.txt"], deferred=1)
    assert sync(index, encoder, docs) == Changes(added=["b.txt"], unchanged=1)


def test_files_of_another_root_are_refused_before_anything_changes(
    index: IndexFolder, encoder: HashEncoder, tmp_path: Path
) -> None:
    pa = write(tmp_path / "pa", {"pb/x.txt": "the city"})
    pb = write(tmp_path / "pb", {"x.txt": "a tower"})
    sync(index, encoder, pa)
    with pytest.raises(DataError, match=r"'pb/x.txt' came from the folder 'pa'"):
        FolderSync(index, [pb], SyncOptions(), ReadReport()).preview()
    assert sync(index, encoder, named={"other": pb}).added == ["other/x.txt"]


def test_an_index_without_recorded_roots_keeps_its_ids(
    index: IndexFolder, encoder: HashEncoder, tmp_path: Path
) -> None:
    """As earlier versions made them: ids without prefix, nothing known of files."""
    docs = write(tmp_path / "docs", {"a.txt": "the city", "b.txt": "a tower"})
    index.add([Document("a.txt", "the city", "a"), Document("b.txt", "a bridge", "b")], encoder)
    with pytest.raises(DataError, match=r"'b.txt' and another content, and does not know .*--replace-others"):
        sync(index, encoder, docs)
    assert sync(index, encoder, docs, replace_others=True) == Changes(replaced=["b.txt"], unchanged=1)


def test_without_pruning_only_given_files_are_looked_up(
    index: IndexFolder, encoder: HashEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = write(tmp_path / "docs", {f"{n}.txt": f"the city {n}" for n in range(9)})
    rows = write(tmp_path / "rows", {"a.csv": "text,path\nthe sea,x\na river,y\n", "b.csv": "text\nthe sun\na tower\n"})
    sync(index, encoder, docs, rows)
    read: list[int] = []
    original = Segment.record

    def record(segment: Segment, number: int) -> DocumentRecord:
        read.append(number)
        return original(segment, number)

    monkeypatch.setattr(Segment, "record", record)
    assert sync(index, encoder, docs / "3.txt", rows / "b.csv", prune=False) == Changes(unchanged=3)
    assert len(read) == 3
    assert sync(index, encoder, rows, prune=False) == Changes(unchanged=4), "also where a column hides the path"


def test_unknown_options() -> None:
    with pytest.raises(ConfigError, match="'purge' is no option of a sync; expected one of named, include"):
        SyncOptions.from_options({"purge": True})


NAMES = st.sampled_from(["a.txt", "b.md", "c/d.txt", "c/e.txt", "f.py", "g.jsonl"])
TEXTS = st.sampled_from(["", "the city", "a tower in the city", '{"id": "1", "text": "the sea"}\n{"text": "a river"}'])


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.dictionaries(NAMES, TEXTS, max_size=5), min_size=1, max_size=4))
def test_as_if_read_anew(
    encoder: HashEncoder, tmp_path_factory: pytest.TempPathFactory, states: list[dict[str, str]]
) -> None:
    """Whatever happened before, the index has the documents that reading the folder now gives."""
    folder = tmp_path_factory.mktemp("sync")
    made = IndexFolder.create(folder / "index", IndexSettings.from_encoder(encoder, "hash"))
    docs = folder / "docs"
    for files in states:
        shutil.rmtree(docs, ignore_errors=True)
        readable = {name: text for name, text in files.items() if name != "g.jsonl" or text[:1] in ("", "{")}
        write(docs, {"z.txt": "always here", **readable})
        sync(made, encoder, docs)
        assert contents(made) == {document.id: document.text for document in read_documents([docs])}
