"""`densephrases index` and its kin on a random model: what they print, what they leave, what they refuse."""

import errno
import json
import re
import shutil
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from densephrases.cli.show import building
from densephrases.cli.show.building import Building, source_of
from densephrases.index.files import durable as disk
from densephrases.index.progress import Progress
from densephrases.index.sync.options import SyncOptions
from densephrases.model.config import ModelConfig
from densephrases.model.encoder import Encoder
from densephrases.search.phrase_index import PhraseIndex
from densephrases.text.documents import Document
from densephrases.text.readers.folders.read_report import ReadReport
from densephrases.text.readers.read import read_files
from tests.cli.conftest import TEXTS, Command
from tests.cli.test_main import is_one_sentence


def info(densephrases: Command, index: Path) -> Any:
    return json.loads(densephrases("info", index, "--json").out)


def test_a_folder(densephrases: Command, corpus: Path, exported: Path, tmp_path: Path) -> None:
    result = densephrases("index", corpus, "--out", tmp_path / "index", "--model", exported)
    assert result.code == 0
    assert re.fullmatch(
        r"3 documents indexed: 3 passages, \d+ tokens, \d+ of them kept, index of 3 documents and \d+\.\d kB, "
        r"\d+\.\d s, 1 skipped, 1 without text\n",
        result.out,
    )
    skipped = (
        f"Skipped: '{corpus}/photo.raw' is binary; "
        "expected text in any encoding, or a file with the suffix of its format.\n"
    )
    counts = "2 files or records skipped: 1 empty, 1 not text; --report FILE lists them.\n"
    assert result.err == skipped + counts
    opened = PhraseIndex.open(tmp_path / "index")
    for name, text in TEXTS.items():
        document = opened.document(name)
        assert document is not None
        assert document.text == text.removeprefix("# ")


def test_several_paths_and_settings(densephrases: Command, corpus: Path, exported: Path, tmp_path: Path) -> None:
    paths = [corpus / "tower.txt", corpus / "cities"]
    options = ["--quantizer", "int4", "--candidates", "ivf-sq4", "--filter-threshold", "-0.5", "--model", exported]
    assert densephrases("index", *paths, "--out", tmp_path / "index", *options).code == 0
    settings = info(densephrases, tmp_path / "index")["settings"]
    assert settings["model"] == str(exported)
    assert (settings["quantizer"], settings["candidates"], settings["filter_threshold"]) == ("int4", "ivf-sq4", -0.5)
    assert densephrases("ask", tmp_path / "index", "which city", "--json").code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--quantizer", "pq"], "needs a model with a product quantizer"),
        (["--quantizer", "int8", "--candidates", "passages"], "--candidates 'passages' goes with quantizer='pq'"),
    ],
)
def test_settings_that_do_not_go_together(
    densephrases: Command, corpus: Path, exported: Path, tmp_path: Path, options: list[str], message: str
) -> None:
    refused = densephrases("index", corpus, "--out", tmp_path / "index", "--model", exported, *options)
    assert refused.code == 2
    assert message in refused.err
    assert not (tmp_path / "index").exists()


def test_a_gpu_where_there_is_none(
    densephrases: Command, corpus: Path, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    arguments = ("index", corpus, "--out", tmp_path / "index", "--model", exported, "--device", "cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    result = densephrases(*arguments)
    assert is_one_sentence(result)
    assert "--device 'cuda' needs a GPU" in result.err
    assert not (tmp_path / "index").exists()


def test_a_gpu_without_torch(
    densephrases: Command, corpus: Path, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "densephrases.nn.gpu.encoder", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    result = densephrases("index", corpus, "--out", tmp_path / "index", "--model", exported, "--device", "cuda")
    assert result.code == 2
    assert "device='cuda' needs the package 'torch'" in result.err
    assert "pip install 'densephrases[train]'" in result.err


def test_an_index_made_by_torch_is_asked_with_the_export(
    densephrases: Command, corpus: Path, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The device is a CPU here: all but the kernels is as on a GPU."""
    from densephrases.nn.gpu import encoder as device

    load_on_gpu = device.load_on_gpu
    monkeypatch.setattr(device, "load_on_gpu", lambda folder: load_on_gpu(folder, "cpu"))
    for folder, options in (("torch", ["--device", "cuda"]), ("onnx", [])):
        result = densephrases("index", corpus, "--out", tmp_path / folder, "--model", exported, *options)
        assert result.code == 0, result.err
    settings = [info(densephrases, tmp_path / folder)["settings"] for folder in ("torch", "onnx")]
    assert settings[0] == settings[1]
    found = [densephrases("ask", tmp_path / folder, "where was it built?", "--json") for folder in ("torch", "onnx")]
    assert [result.code for result in found] == [0, 0]


@pytest.mark.parametrize("change", ["add", "update", "sync"])
def test_a_device_for_more_documents(
    densephrases: Command, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """The device is a CPU here."""
    from densephrases.nn.gpu import encoder as device

    loaded = Mock(side_effect=partial(device.load_on_gpu, device="cpu"))
    monkeypatch.setattr(device, "load_on_gpu", loaded)
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "rome.txt").write_text("Rome is the capital of Italy.")
    before = info(densephrases, index)["documents"]
    result = densephrases(change, index, tmp_path / "more", "--device", "cuda")
    assert result.code == 0, result.err
    loaded.assert_called_once()
    assert info(densephrases, index)["documents"] == before + 1


@pytest.mark.parametrize(("option", "expected"), [([], 0.25), (["--filter-threshold", "none"], None)])
def test_the_threshold_of_the_model(
    densephrases: Command, corpus: Path, exported: Path, tmp_path: Path, option: list[str], expected: float | None
) -> None:
    model = Path(shutil.copytree(exported, tmp_path / "model"))
    ModelConfig.load(model).with_threshold(0.25).save(model)
    assert densephrases("index", corpus, "--out", tmp_path / "index", "--model", model, *option).code == 0
    assert info(densephrases, tmp_path / "index")["settings"]["filter_threshold"] == expected


def test_many_skipped_files_are_counted(densephrases: Command, exported: Path, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "the city"}\n' + "no JSON\n" * 8)
    result = densephrases("index", tmp_path / "a.jsonl", "--out", tmp_path / "index", "--model", exported)
    assert result.out.endswith(", 8 skipped\n")
    lines = result.err.splitlines()
    assert len(lines) == 6
    assert lines[0].startswith(f"Skipped: '{tmp_path}/a.jsonl, line 2' is not JSON")
    assert lines[5] == "8 files or records skipped: 8 unreadable; --report FILE lists them."


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["{corpus}", "--strict"], "photo.raw' is binary"),
        (["{empty}"], "No documents in '{empty}'"),
        (["{corpus}/no"], "'{corpus}/no' does not exist"),
        (["{corpus}/photo.raw"], "No documents in .* skipped: 1, the first: .*photo.raw' is binary"),
        (["{corpus}", "--filter-threshold", "low"], "--filter-threshold=low is neither a finite number nor 'none'"),
        (["{corpus}", "--filter-threshold", "nan"], "--filter-threshold=nan is neither a finite number nor 'none'"),
        (["{corpus}", "--max-document", "much"], "'much' is no size; expected a number of bytes"),
        (["{corpus}", "--max-document", "0"], "'0' is no size"),
        (["{corpus}", "--model", "nothing"], "neither a bundled model"),
        (["{twice}"], "Two documents have the id 'a'"),
    ],
)
def test_what_cannot_be_indexed(
    densephrases: Command, corpus: Path, exported: Path, tmp_path: Path, arguments: list[str], expected: str
) -> None:
    places = {"corpus": corpus, "empty": tmp_path / "empty", "twice": tmp_path / "twice.jsonl"}
    places["empty"].mkdir()
    places["twice"].write_text('{"id": "a", "text": "the city"}\n{"id": "a", "text": "a tower"}\n')
    model = [] if "--model" in arguments else ["--model", exported]
    out = tmp_path / "index"
    result = densephrases("index", *(a.format(**places) for a in arguments), "--out", out, *model)
    assert is_one_sentence(result)
    assert re.search(expected.format(**places), result.err)
    assert out.exists() == ("{twice}" in arguments or "--strict" in arguments), "no index of nothing"


def test_where_an_index_cannot_be_made(
    densephrases: Command, corpus: Path, exported: Path, made_index: Path, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").touch()
    for place, expected in {
        made_index: "already holds an index of 3 documents; add to it, update it, or give another folder",
        tmp_path: "is no index and is not empty: it holds 'notes.txt'",
        tmp_path / "notes.txt": "is a file; give a new or empty folder",
        corpus / "index": "which is to be indexed; give a folder outside",
    }.items():
        result = densephrases("index", corpus, "--out", place, "--model", exported)
        assert is_one_sentence(result)
        assert expected in result.err
    assert not (corpus / "index").exists()


Stopper = Callable[[BaseException, int], None]


@pytest.fixture
def stop_after(monkeypatch: pytest.MonkeyPatch) -> Stopper:
    """Reading raises an exception instead of the document of that number."""

    def stop(error: BaseException, count: int) -> None:
        def documents(*arguments: Any, **options: Any) -> Iterator[Document]:
            with closing(read_files(*arguments, **options)) as whole:
                yield from islice(whole, count)
            raise error

        monkeypatch.setattr(building, "read_files", documents)

    return stop


def many(folder: Path) -> Path:
    path = folder / "many.jsonl"
    path.write_text(
        "".join(json.dumps({"id": str(n), "text": f"the river {n} is in a city. " * 9}) + "\n" for n in range(8))
    )
    return path


def contents(index: Path) -> Iterable[bytes]:
    return [path.read_bytes() for path in sorted((index / "segments").rglob("*.bin"))]


def test_a_stopped_run_is_resumed(
    densephrases: Command, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop_after: Stopper
) -> None:
    monkeypatch.setattr(Encoder, "tokens_per_chunk", 64)  # a chunk, which is never taken apart, is a document
    monkeypatch.setattr("densephrases.index.build.builder._LOOKED_UP", 1)
    run = ["index", many(tmp_path), "--model", exported, "--out"]
    assert densephrases(*run, tmp_path / "whole").code == 0
    handler = signal.getsignal(signal.SIGINT)

    stop_after(KeyboardInterrupt(), 5)
    stopped = densephrases(*run, tmp_path / "index")
    assert stopped.code == 130
    assert signal.getsignal(signal.SIGINT) == handler
    there = re.fullmatch(
        r"Stopped\. The index has (\d) documents; run the same command again to resume\.\n", stopped.err
    )
    assert there
    assert densephrases("info", tmp_path / "index").out.endswith("unfinished: run the interrupted command again\n")

    other = densephrases(*run, tmp_path / "index", "--quantizer", "fp16")
    assert is_one_sentence(other)
    assert "unfinished index with quantizer='int8', not 'fp16'" in other.err

    monkeypatch.setattr(building, "read_files", read_files)
    resumed = densephrases(*run, tmp_path / "index")
    assert resumed.code == 0
    begin = f"Resuming the unfinished index in '{tmp_path}/index', which has {there[1]} documents.\n"
    assert resumed.err == begin
    assert f"{8 - int(there[1])} documents indexed" in resumed.out
    assert f"{there[1]} unchanged" in resumed.out
    assert contents(tmp_path / "index") == contents(tmp_path / "whole")


def test_stopped_before_anything_was_written(
    densephrases: Command, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(PhraseIndex, "create", interrupted)
    result = densephrases("index", many(tmp_path), "--out", tmp_path / "index", "--model", exported)
    assert result.code == 130
    assert result.err == "Stopped. The index has 0 documents; run the same command again to resume.\n"


def test_a_full_disk(densephrases: Command, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(disk.HashedFile, "finish", full)
    result = densephrases("index", many(tmp_path), "--out", tmp_path / "index", "--model", exported)
    assert is_one_sentence(result)
    assert "The disk is full while writing index" in result.err


def building_of(index: Path, path: Path) -> Building:
    report = ReadReport()
    return Building(index, *source_of(index, [path], SyncOptions(), report), report)


def test_how_far_it_is(tmp_path: Path) -> None:
    """Documents count when they are encoded, by their characters."""
    path = many(tmp_path)
    shown = building_of(tmp_path / "index", path)
    assert shown.state == "1 document read"
    documents = shown.documents()
    for _ in range(4):
        next(documents)
    (task,) = shown._bar.tasks
    assert (task.completed, task.total) == (0, path.stat().st_size)
    shown.reported(Progress(tokens=400, seconds=0.5))
    assert shown.state == "400 tokens of the first document, 800 tokens/s"
    shown.reported(Progress(documents=2, unchanged=1, tokens=900, seconds=0.5))
    assert shown.state == "2 documents, 4.0 documents/s, 1,800 tokens/s"
    assert 0 < task.completed <= path.stat().st_size
    assert list(documents)
    shown.reported(Progress(documents=8, tokens=900, seconds=0.5))
    assert shown.state == "merging"
    assert task.completed == task.total


def test_how_much_there_is_in_files_of_several_kinds(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("the city " * 100)
    (tmp_path / "b.pdf").write_text("%PDF" * 1000)
    shown = building_of(tmp_path.parent / "index", tmp_path)
    (task,) = shown._bar.tasks
    assert task.total == pytest.approx(900 + 400), "a byte of a PDF stands for a tenth of a character until one is read"
    assert len(list(shown.documents())) == 1
    shown.reported(Progress(documents=1, tokens=200, seconds=0.5))
    assert task.completed == 900


def test_add(densephrases: Command, index: Path, tmp_path: Path, corpus: Path) -> None:
    (tmp_path / "rome.txt").write_text("Rome is a city in Italy.")
    result = densephrases("add", index, tmp_path / "rome.txt", corpus)
    assert result.code == 0
    assert result.out.startswith("1 document indexed: 1 passage, ")
    assert ", index of 4 documents and " in result.out
    assert result.out.endswith(", 3 unchanged, 1 skipped, 1 without text\n")


def test_update(densephrases: Command, corpus: Path, exported: Path, tmp_path: Path) -> None:
    docs, index = Path(shutil.copytree(corpus, tmp_path / "docs")), tmp_path / "index"
    assert densephrases("index", docs, "--out", index, "--model", exported).code == 0
    (docs / "tower.txt").write_text("The tower is in London.")
    refused = densephrases("add", index, docs / "tower.txt")
    assert is_one_sentence(refused)
    assert "already has a document with id 'tower.txt' and another content; update it" in refused.err
    preview = densephrases("update", index, docs, "--dry-run")
    assert preview.out == "replace\ttower.txt\n"
    result = densephrases("update", index, docs / "tower.txt")
    assert (result.code, result.err) == (0, "Replaced: tower.txt\n")
    assert ", 1 replaced\n" in result.out
    changed = PhraseIndex.open(index).document("tower.txt")
    assert changed is not None
    assert changed.text == "The tower is in London."


@pytest.mark.parametrize("command", ["add", "update"])
def test_more_that_cannot_be_read(densephrases: Command, index: Path, corpus: Path, command: str) -> None:
    assert "photo.raw' is binary" in densephrases(command, index, corpus, "--strict").err
    assert is_one_sentence(densephrases(command, index, corpus / "no"))
    assert "lies in" in densephrases(command, index, index.parent).err
    assert info(densephrases, index)["documents"] == 3


def test_delete(densephrases: Command, index: Path, tmp_path: Path) -> None:
    unknown = densephrases("delete", index, "--id", "tower.txt", "--id", "no.txt")
    assert is_one_sentence(unknown)
    assert "no document with id 'no.txt'; nothing was deleted" in unknown.err
    assert densephrases("delete", index, "--id", "tower.txt").out == "1 document deleted, 2 left\n"
    (tmp_path / "ids").write_bytes(b"cities/paris.txt\r\n\r\ncities/london.md\r\n")
    assert densephrases("delete", index, "--ids-file", tmp_path / "ids").out == "2 documents deleted, 0 left\n"
    assert info(densephrases, index)["deleted"] == 3
    for nothing in ([], ["--ids-file", tmp_path / "none"], ["--ids-file", tmp_path]):
        assert is_one_sentence(densephrases("delete", index, *nothing))


def test_optimize(densephrases: Command, index: Path, tmp_path: Path) -> None:
    densephrases("delete", index, "--id", "tower.txt")
    result = densephrases("optimize", index)
    assert re.fullmatch(r"2 documents: from [\d.]+ kB to [\d.]+ kB, from 1 segment to 1\n", result.out)
    assert info(densephrases, index)["deleted"] == 0


def test_info(densephrases: Command, made_index: Path, exported: Path) -> None:
    values = info(densephrases, made_index)
    assert (values["documents"], values["passages"], values["segments"], values["building"]) == (3, 3, 1, False)
    shown = densephrases("info", made_index).out
    assert re.search(r"^documents +3$", shown, re.MULTILINE)
    assert re.search(r"^vectors +\d+ of 32 dimensions as int8$", shown, re.MULTILINE)
    assert re.search(r"^size +[\d.]+ kB in 1 segment$", shown, re.MULTILINE)
    assert f"{exported} ({values['settings']['fingerprint']})" in shown
    assert re.search(r"^state +complete$", shown, re.MULTILINE)


def test_what_the_bytes_are_for(densephrases: Command, made_index: Path) -> None:
    shown = densephrases("info", made_index, "--storage").out
    assert re.search(r"\d+ of \d+ tokens kept", shown)
    assert re.search(r"vectors +│ +[\d,]+ +│ +[\d.]+ +│ +[\d.]+", shown)
    values = json.loads(densephrases("info", made_index, "--storage", "--json").out)
    assert sum(values["storage"]["purposes"].values()) == values["bytes"]
    assert values["storage"]["bytes_per_token"] == values["bytes"] / values["storage"]["tokens"]


def test_check(densephrases: Command, index: Path) -> None:
    whole = densephrases("check", index)
    assert re.fullmatch(r"3 documents in [\d.]+ kB: every file is as it was written\n", whole.out)
    vectors, begins = next(index.rglob("vectors.bin")), next(index.rglob("token_offset_lows.bin"))
    content = bytearray(vectors.read_bytes())
    content[10] ^= 1
    vectors.write_bytes(content)
    begins.write_bytes(b"")
    damaged = densephrases("check", index)
    assert damaged.code == 1
    assert damaged.err == ""
    first, second = sorted(damaged.out.splitlines())
    assert first.startswith(f"'{begins}' has 0 bytes, ")
    assert second.startswith(f"'{vectors}' is damaged: its checksum differs")


@pytest.mark.parametrize("command", [["ask", "{}", "x"], ["info", "{}"], ["optimize", "{}"], ["add", "{}", "{}/x.txt"]])
def test_a_truncated_file_is_found_by_opening(densephrases: Command, index: Path, command: list[str]) -> None:
    next(index.rglob("vectors.bin")).write_bytes(b"")
    result = densephrases(*(argument.format(index) for argument in command))
    assert is_one_sentence(result)
    assert "vectors.bin' has 0 bytes" in result.err


COMMANDS: list[list[str]] = [
    *(["ask", "{}", "x"], ["add", "{}", "{}"], ["update", "{}", "{}"], ["delete", "{}", "--id", "x"]),
    *(["optimize", "{}"], ["info", "{}"], ["check", "{}"]),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_that_is_no_index(densephrases: Command, tmp_path: Path, command: list[str]) -> None:
    result = densephrases(*(argument.format(tmp_path) for argument in command))
    assert is_one_sentence(result)
    assert f"'{tmp_path}' is no index: it has no manifest.json" in result.err
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_newer_schema(densephrases: Command, index: Path, command: list[str]) -> None:
    manifest = index / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"schema_version": 99}))
    result = densephrases(*(argument.format(index) for argument in command))
    assert is_one_sentence(result)
    assert "has schema version 99, this package reads" in result.err
