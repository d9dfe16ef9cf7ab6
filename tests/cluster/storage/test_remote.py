"""Stores: a folder and fsspec's memory, by the same tests; errors of stores in sentences."""

import errno
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from densephrases.cluster.storage import transient
from densephrases.cluster.storage.base import Store
from densephrases.cluster.storage.local import LocalStore
from densephrases.cluster.storage.places import open_store
from densephrases.cluster.storage.remote import RemoteStore
from densephrases.errors import ConfigError, MissingExtraError, StorageError
from densephrases.index.files.durable import FileEntry


@pytest.fixture(params=["folder", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return open_store(tmp_path / "store" if request.param == "folder" else f"memory://{tmp_path.name}/store")


def entry_of(content: bytes) -> FileEntry:
    return FileEntry(len(content), sha256(content).hexdigest())


def test_files_come_back(store: Store, tmp_path: Path) -> None:
    assert store.names() == store.names("a") == []
    store.write("a/b/one.json", b"1")
    store.write("a/b/one.json", b"one")
    (tmp_path / "two").write_bytes(b"two")
    store.put(tmp_path / "two", "a/two.bin", entry_of(b"two"))
    store.write("ab.json", b"")
    assert store.names() == ["a/b/one.json", "a/two.bin", "ab.json"]
    assert store.names("a") == ["a/b/one.json", "a/two.bin"]
    assert store.read("a/b/one.json") == b"one"
    store.get("a/two.bin", tmp_path / "copy", entry_of(b"two"))
    assert (tmp_path / "copy").read_bytes() == b"two"


def test_files_are_removed(store: Store) -> None:
    for name in ("a/one", "a/b/two", "c/three"):
        store.write(name, b"")
    store.remove(["a/one", "a/none", "c/three"])
    assert store.names() == ["a/b/two"]
    store.remove_below("a")
    assert store.names() == []
    if store.folder is not None:
        assert list(store.folder.iterdir()) == []


def test_a_missing_file(store: Store, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        store.read("none")
    with pytest.raises(FileNotFoundError):
        store.download("none", tmp_path / "copy")


def test_damage_is_noticed(store: Store, tmp_path: Path) -> None:
    store.write("text", b"text")
    for other, problem in ((b"tex", "has 4 bytes, not 3 than"), (b"test", "has other content than")):
        with pytest.raises(StorageError, match=rf"store/text' {problem} was written"):
            store.get("text", tmp_path / "copy", entry_of(other))
        assert not (tmp_path / "copy").exists()


def test_places() -> None:
    assert isinstance(open_store("file:///srv/wiki"), LocalStore)
    assert open_store("file:///srv/wiki").folder == Path("/srv/wiki")
    assert open_store(Path("wiki")).folder == Path.cwd() / "wiki"
    assert isinstance(open_store("memory://wiki"), RemoteStore)
    with pytest.raises(ConfigError, match="'ftp://wiki' is in no store that is known; expected a folder, or a URL"):
        open_store("ftp://wiki")


def test_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "gcsfs", None)
    with pytest.raises(MissingExtraError, match=r"'gs://wiki' needs a package .*: pip install 'gcsfs'"):
        open_store("gs://wiki")


class ProfileNotFound(Exception):  # noqa: N818 - as botocore calls it
    pass


def failing(store: Store, monkeypatch: pytest.MonkeyPatch, *errors: Exception) -> list[str]:
    """The next calls of the file system raise these errors; returns the calls that were made."""
    assert isinstance(store, RemoteStore)
    calls, left = list[str](), list(errors)
    files = store._files

    def wrapped(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            calls.append(name)
            if left:
                raise left.pop(0)
            return method(*given, **named)

        return call

    for name in ("cat_file", "pipe_file", "put_file", "get_file", "find"):
        monkeypatch.setattr(files, name, wrapped(name, getattr(files, name)))
    monkeypatch.setattr(transient, "FIRST_PAUSE", 0.0)
    return calls


def remote(tmp_path: Path) -> Store:
    return open_store(f"memory://{tmp_path.name}/failing")


TRANSIENT = [
    OSError(errno.EIO, "We encountered an internal error."),
    OSError(errno.EBUSY, "Please reduce your request rate."),
    ConnectionResetError(),
    TimeoutError(),
]


def test_transient_errors_are_waited_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = remote(tmp_path)
    calls = failing(store, monkeypatch, *TRANSIENT)
    store.write("a", b"a")
    assert calls == ["pipe_file"] * 5
    assert store.read("a") == b"a"


def test_transient_errors_that_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = remote(tmp_path)
    calls = failing(store, monkeypatch, *TRANSIENT * 2)
    message = (
        r"Reading 'memory://.*/failing/a' failed 7 times, at last with: .*; try again when the store can be reached"
    )
    with pytest.raises(StorageError, match=message):
        store.read("a")
    assert calls == ["cat_file"] * 7


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            PermissionError("Access Denied"),
            "Writing 'memory://.*/a' is forbidden: Access Denied; check the",
        ),
        (ProfileNotFound("x"), "Writing 'memory://.*/a' needs credentials, and there are none; set them"),
        (FileNotFoundError("The specified bucket does not exist"), "failed: there is no such bucket; create it"),
    ],
)
def test_errors_that_no_waiting_mends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, sentence: str
) -> None:
    store = remote(tmp_path)
    calls = failing(store, monkeypatch, error)
    with pytest.raises(StorageError, match=sentence):
        store.write("a", b"a")
    assert len(calls) == 1


def test_a_file_that_arrives_in_part_is_sent_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = remote(tmp_path)
    calls = failing(store, monkeypatch)
    (tmp_path / "text").write_bytes(b"text")
    with pytest.raises(StorageError, match="failed 7 times, at last with: 4 of 5 bytes arrived"):
        store.put(tmp_path / "text", "a", entry_of(b"texts"))
    assert calls == ["put_file"] * 7
