"""An index is fetched out of a store once, verified, by several processes at once, and in parts."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

import pytest

from densephrases.cluster.storage.base import Store
from densephrases.cluster.storage.fetch import fetch_index, read_manifest
from densephrases.cluster.storage.places import open_store
from densephrases.cluster.storage.remote import RemoteStore
from densephrases.errors import DataError, PhraseIndexError, StorageError
from densephrases.index.folder import IndexFolder
from densephrases.index.manifest import Manifest
from densephrases.index.settings import IndexSettings
from densephrases.index.snapshot import problems
from densephrases.text.documents import Document
from tests.index.made_up import CodedEncoder, long_text


def made_index(folder: Path, first: int = 0) -> IndexFolder:
    """Of two segments, with a document that is deleted."""
    encoder = CodedEncoder()
    index = IndexFolder.create(folder, IndexSettings.from_encoder(encoder, "hash"), encoder.product_quantizer)
    for numbers in (range(first, first + 6), range(first + 6, first + 8)):
        index.add([Document(f"d{i}", long_text(i, 60), f"title {i}") for i in numbers], encoder)
    index.delete([f"d{first + 1}"])
    return index


def upload(index: IndexFolder, store: Store) -> Manifest:
    for name, entry in index.manifest.files().items():
        store.put(index.folder / name, name, entry)
    store.write("manifest.json", (index.folder / "manifest.json").read_bytes())
    return index.manifest


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = open_store(f"memory://{tmp_path.name}/wiki")
    upload(made_index(tmp_path / "made"), store)
    return store


def counting(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are fetched."""
    fetched: list[str] = []
    download = RemoteStore.download

    def counted(store: RemoteStore, name: str, path: Path) -> None:
        fetched.append(name)
        download(store, name, path)

    monkeypatch.setattr(RemoteStore, "download", counted)
    return fetched


def test_a_whole_index(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched, seen = counting(monkeypatch), list[tuple[int, int]]()
    manifest = fetch_index(store.place, tmp_path / "copy", progress=lambda *counts: seen.append(counts))
    assert (
        manifest == read_manifest(store.place) == Manifest.load(tmp_path / "copy") == read_manifest(tmp_path / "made")
    )
    assert problems(tmp_path / "copy") == []
    assert IndexFolder.open(tmp_path / "copy", CodedEncoder().product_quantizer).documents == 7
    assert sorted(fetched) == sorted(manifest.files())
    assert seen[-1][0] == seen[-1][1] == sum(entry.size for entry in manifest.files().values())
    fetch_index(store.place, tmp_path / "copy")
    assert len(fetched) == len(manifest.files())


def test_some_segments(store: Store, tmp_path: Path) -> None:
    names = [entry.name for entry in read_manifest(store.place).segments]
    assert len(names) == 2
    manifest = fetch_index(store.place, tmp_path / "copy", [names[1]])
    assert [entry.name for entry in manifest.segments] == [names[1]]
    assert IndexFolder.open(tmp_path / "copy", CodedEncoder().product_quantizer).documents == 2
    with pytest.raises(DataError, match="has no segment '000099'; it may have been replaced"):
        fetch_index(store.place, tmp_path / "other", ["000099"])


def test_a_fetch_that_was_stopped_goes_on(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(done: int, total: int) -> None:
        if done > total / 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch_index(store.place, tmp_path / "copy", progress=stop)
    assert not (tmp_path / "copy" / "manifest.json").exists()
    there = [path for path in (tmp_path / "copy").rglob("*.bin") if path.is_file()]
    fetched = counting(monkeypatch)
    manifest = fetch_index(store.place, tmp_path / "copy")
    assert len(fetched) <= len(manifest.files()) - len(there)
    assert problems(tmp_path / "copy") == []
    assert list((tmp_path / "copy").rglob(".*")) == []


def test_several_at_once(store: Store, tmp_path: Path) -> None:
    """From a folder: files of fsspec's memory must not be read by several threads at once."""
    with ThreadPoolExecutor(4) as executor:
        manifests = list(executor.map(lambda _: fetch_index(tmp_path / "made", tmp_path / "copy"), range(4)))
    assert len({str(manifest) for manifest in manifests}) == 1
    assert problems(tmp_path / "copy") == []
    assert list((tmp_path / "copy").rglob(".*")) == []


def test_files_of_another_index_are_replaced(store: Store, tmp_path: Path) -> None:
    fetch_index(store.place, tmp_path / "copy")
    manifest = upload(made_index(tmp_path / "newer", first=1), store)
    assert fetch_index(store.place, tmp_path / "copy") == manifest
    assert problems(tmp_path / "copy") == []


@pytest.mark.parametrize("removed", [True, False])
def test_an_index_that_is_replaced_meanwhile(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, removed: bool
) -> None:
    """The file that is fetched just then is gone, or has the content of the new index."""
    newer = made_index(tmp_path / "newer", first=20)
    download, one_at_a_time = RemoteStore.download, Lock()
    replaced: list[Manifest] = []

    def replacing(remote: RemoteStore, name: str, path: Path) -> None:
        with one_at_a_time:  # files are fetched by several threads
            if not replaced:
                store.remove(list(read_manifest(store.place).files()))
                replaced.append(upload(newer, store))
                if removed:
                    raise FileNotFoundError(name)
        download(remote, name, path)

    monkeypatch.setattr(RemoteStore, "download", replacing)
    assert fetch_index(store.place, tmp_path / "copy") == replaced[0]
    assert problems(tmp_path / "copy") == []


def test_what_is_no_index(tmp_path: Path, store: Store) -> None:
    for place in (tmp_path, f"memory://{tmp_path.name}/nothing"):
        with pytest.raises(PhraseIndexError, match=r"is no index: it has no manifest.json; give one made by"):
            fetch_index(place, tmp_path / "copy")
    store.write("manifest.json", b"{")
    with pytest.raises(PhraseIndexError, match=rf"{store.place}/manifest.json' is not valid JSON"):
        read_manifest(store.place)


def test_damage_and_missing_files(tmp_path: Path, store: Store) -> None:
    name, entry = max(read_manifest(store.place).files().items(), key=lambda file: file[1].size)
    store.write(name, b"x" * entry.size)
    with pytest.raises(StorageError, match=rf"{name}' has other content than was written"):
        fetch_index(store.place, tmp_path / "copy")
    store.remove([name])
    with pytest.raises(StorageError, match="lacks a file of its index"):
        fetch_index(store.place, tmp_path / "copy")
