"""A build without Ray: the index of a plain build, in a folder and in a store, in one go and in several."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from densephrases.cluster.build.actor_pool import Job
from densephrases.cluster.build.cluster_build import BuildState, Built, ClusterOptions, build_index
from densephrases.cluster.storage.fetch import fetch_index
from densephrases.cluster.storage.places import open_store
from densephrases.errors import DataError, IndexBusyError, PhraseIndexError
from densephrases.index.kinds import Quantizer
from densephrases.index.manifest import Manifest
from densephrases.index.snapshot import problems
from densephrases.index.sync.options import SyncOptions
from densephrases.search.phrase_index import PhraseIndex
from densephrases.text.readers.folders.read_report import ReadReport
from densephrases.text.readers.read import read_documents

from .conftest import InlinePool
from .corpus import SIZE, assert_same, corpus, line, plain_index, sources, write_corpus


def build(place: str | Path, folder: Path | None = None, quantizer: Quantizer | None = None) -> Built:
    options = ClusterOptions(encoders=2, quantizer=quantizer, task_size=SIZE)
    return build_index(place, sources(folder or corpus()), options)


@pytest.mark.parametrize("quantizer", ["pq", "int8", "fp16"])
def test_the_files_are_those_of_a_plain_build(inline: type[InlinePool], tmp_path: Path, quantizer: Quantizer) -> None:
    built = build(tmp_path / "index", quantizer=quantizer)
    assert_same(Manifest.load(plain_index(quantizer)), built.manifest)
    assert Manifest.load(tmp_path / "index") == built.manifest
    assert problems(tmp_path / "index") == []
    assert sorted(path.name for path in (tmp_path / "index").iterdir()) == [
        *("deleted", "manifest.json", "segments", "writer.lock")
    ]
    methods = [job.method for job in inline.jobs]
    assert methods.count("encode") >= 3
    assert methods.count("merge") == 1
    assert ("fit" in methods) == (quantizer != "pq")


def test_the_answers_are_those_of_a_plain_build(inline: type[InlinePool], tmp_path: Path) -> None:
    build(tmp_path / "index")
    asked = ["Where was person 14 born?", "Who built the tower?", "When was person 33 born?"]
    assert PhraseIndex.open(tmp_path / "index").search(asked) == PhraseIndex.open(plain_index()).search(asked)


def test_counts_and_reasons_are_those_of_a_plain_reading(inline: type[InlinePool], tmp_path: Path) -> None:
    plain, read, states = ReadReport(), ReadReport(), list[BuildState]()
    list(read_documents(sources(corpus()), report=plain))
    options = ClusterOptions(encoders=2, task_size=SIZE)
    build_index(tmp_path / "index", sources(corpus()), options, report=read, show=states.append)
    assert (read.documents, read.skipped, read.empty) == (plain.documents, plain.skipped, plain.empty)
    assert (read.examples, read.kinds) == (plain.examples, plain.kinds)
    assert states[-1].tasks == states[-1].all_tasks
    assert states[-1].progress.documents == plain.documents


def test_in_a_store(inline: type[InlinePool], tmp_path: Path) -> None:
    place = f"memory://{tmp_path.name}/wiki"
    built = build(place)
    assert_same(Manifest.load(plain_index()), built.manifest)
    names = open_store(place).names()
    assert sorted(names) == sorted(["manifest.json", *built.manifest.files()])
    fetch_index(place, tmp_path / "copy")
    assert problems(tmp_path / "copy") == []
    assert len(PhraseIndex.open(tmp_path / "copy")) == len(PhraseIndex.open(plain_index()))


class StoppedError(Exception):
    """As if the driver had been killed."""


def stop_at(pool: type[InlinePool], method: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def before(job: Job) -> None:
        if sum(each.method == method for each in pool.jobs) == count and job.method == method:
            raise StoppedError

    monkeypatch.setattr(pool, "before", staticmethod(before))


@pytest.mark.parametrize("place", ["folder", "store"])
@pytest.mark.parametrize(("method", "count"), [("encode", 2), ("merge", 0)])
def test_an_unfinished_build_goes_on(
    inline: type[InlinePool], tmp_path: Path, place: str, method: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = str(tmp_path / "index") if place == "folder" else f"memory://{tmp_path.name}/{method}"
    with monkeypatch.context() as patch:
        stop_at(inline, method, count, patch)
        with pytest.raises(StoppedError):
            build(target)
    done = [job.arguments[0].number for job in inline.jobs if job.method == "encode"]
    assert_same(Manifest.load(plain_index()), build(target).manifest)
    encoded = [job.arguments[0].number for job in inline.jobs if job.method == "encode"]
    assert len(encoded) == len(set(encoded))
    assert encoded[: len(done)] == done


def test_a_build_that_was_stopped_after_its_commit_is_finished(
    inline: type[InlinePool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from densephrases.cluster.build import cluster_build

    def stop(*given: object) -> None:
        raise StoppedError

    with monkeypatch.context() as patch:
        patch.setattr(cluster_build, "remove_build", stop)
        with pytest.raises(StoppedError):
            build(tmp_path / "index")
    assert (tmp_path / "index" / "building" / "plan.json").is_file()
    jobs = len(inline.jobs)
    assert_same(Manifest.load(plain_index()), build(tmp_path / "index").manifest)
    assert len(inline.jobs) == jobs
    assert not (tmp_path / "index" / "building").exists()
    with pytest.raises(PhraseIndexError, match="already holds an index"):
        build(tmp_path / "index")


def stopped(pool: type[InlinePool], target: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        stop_at(pool, "encode", 2, patch)
        with pytest.raises(StoppedError):
            build(target, folder)


CHANGES: dict[str, Callable[[Path], object]] = {
    "'.*/Rome.txt' has changed": lambda folder: (folder / "few" / "Rome.txt").write_text("Rome was not built."),
    "'.*/new.txt' is new": lambda folder: (folder / "few" / "new.txt").write_text("New."),
    "'.*/people.jsonl' is gone": lambda folder: (folder / "many" / "people.jsonl").unlink(),
}


@pytest.mark.parametrize("message", CHANGES)
def test_other_documents_are_refused(
    inline: type[InlinePool], tmp_path: Path, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(corpus(), tmp_path / "corpus")
    stopped(inline, tmp_path / "index", folder, monkeypatch)
    CHANGES[message](folder)
    with pytest.raises(DataError, match=f"is of other documents: {message}; give --restart"):
        build(tmp_path / "index", folder)


def test_restart_begins_again(inline: type[InlinePool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shutil.copytree(corpus(), tmp_path / "corpus")
    stopped(inline, tmp_path / "index", folder, monkeypatch)
    (folder / "few" / "Rome.txt").write_text("Rome was not built in a day.")
    options = ClusterOptions(encoders=2, task_size=SIZE, restart=True)
    built = build_index(tmp_path / "index", sources(folder), options)
    PhraseIndex.create(tmp_path / "plain", read_documents(sources(folder)))
    assert_same(Manifest.load(tmp_path / "plain"), built.manifest)


def test_other_settings_are_refused(inline: type[InlinePool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped(inline, tmp_path / "index", corpus(), monkeypatch)
    with pytest.raises(PhraseIndexError, match="unfinished index with quantizer='pq', not 'int4'; finish it"):
        build(tmp_path / "index", quantizer="int4")
    options, strict = ClusterOptions(task_size=SIZE), SyncOptions(strict=True)
    with pytest.raises(PhraseIndexError, match="unfinished index with strict=False, not True"):
        build_index(tmp_path / "index", sources(corpus()), options, strict)
    plan = tmp_path / "index" / "building" / "plan.json"
    plan.write_text(json.dumps(json.loads(plan.read_text()) | {"version": "0.0.1"}))
    with pytest.raises(PhraseIndexError, match=r"of densephrases 0\.0\.1, this is"):
        build(tmp_path / "index")
    plan.write_text("{")
    with pytest.raises(Exception, match=r"plan\.json' is damaged"):
        build(tmp_path / "index")


def test_a_file_that_changes_meanwhile(
    inline: type[InlinePool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(corpus(), tmp_path / "corpus")

    def before(job: Job) -> None:
        (folder / "few" / "Oslo.txt").write_text("Oslo has changed.")

    monkeypatch.setattr(inline, "before", staticmethod(before))
    with pytest.raises(DataError, match=r"Oslo.txt' changed after the build was planned; give --restart"):
        build(tmp_path / "index", folder)


def test_an_id_that_two_tasks_share(inline: type[InlinePool], tmp_path: Path) -> None:
    folder = write_corpus(tmp_path / "corpus")
    (folder / "few" / "again.jsonl").write_text(line(1, "person-7"))
    message = r"Two documents have the id 'person-7' \(in 'people.jsonl' and in 'again.jsonl'\); every document needs"
    for place in (tmp_path / "index", f"memory://{tmp_path.name}/twice"):
        with pytest.raises(DataError, match=message):
            build(place, folder)


def test_an_id_that_one_task_has_twice(inline: type[InlinePool], tmp_path: Path) -> None:
    (tmp_path / "twice.jsonl").write_text(line(1, "person") + line(2, "person"))
    with pytest.raises(DataError, match="Two documents have the id 'person'; every document needs"):
        build_index(tmp_path / "index", [tmp_path / "twice.jsonl"], ClusterOptions())


def test_strict_reading_stops_at_what_cannot_be_read(inline: type[InlinePool], tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"people.jsonl, line 21' is not JSON"):
        build_index(tmp_path / "index", sources(corpus()), ClusterOptions(task_size=SIZE), SyncOptions(strict=True))


def test_without_documents_nothing_is_left(inline: type[InlinePool], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for place in (tmp_path / "index", f"memory://{tmp_path.name}/none"):
        with pytest.raises(DataError, match="No documents in"):
            build_index(place, [tmp_path / "empty"], ClusterOptions())
        assert [name for name in open_store(place).names() if name != "writer.lock"] == []
    PhraseIndex.create(tmp_path / "index", read_documents(sources(corpus())[1:]))  # the folder is free again


def test_foreign_files_are_left_alone(inline: type[InlinePool], tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "mine.txt").write_text("mine")
    place = f"memory://{tmp_path.name}/mine"
    open_store(place).write("mine.txt", b"mine")
    for each in (tmp_path / "index", place):
        with pytest.raises(PhraseIndexError, match=r"is no index and is not empty: it holds 'mine.txt'"):
            build(each)


def test_one_build_at_a_time(inline: type[InlinePool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in (tmp_path / "index", f"memory://{tmp_path.name}/busy"):

        def before(job: Job, place: str | Path = place) -> None:
            if job.method == "merge":
                with pytest.raises(IndexBusyError, match=r"being (built|written) by process"):
                    build(place)
                raise StoppedError

        monkeypatch.setattr(inline, "before", staticmethod(before))
        with pytest.raises(StoppedError):
            build(place)
