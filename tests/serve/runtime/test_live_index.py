"""The index is replaced as a whole, and only by one that works."""

import asyncio
import shutil

from densephrases.index.fitted_confidence import FittedConfidence, remove_confidences, store_confidence
from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.runtime.live_index import LiveIndex
from tests.serve.running import QUESTION


def test_reload(index: PhraseIndex) -> None:
    seen: list[bool] = []

    async def run() -> None:
        live = LiveIndex(index, seen.append)
        assert not await live.reload()
        taken = live.index
        before = taken.search(QUESTION, 100)
        other = index.reopened()
        other.delete(["paris"])
        other.optimize()  # removes the files of the index that is served
        assert taken.search(QUESTION, 100) == before
        assert taken.document("paris") is not None
        assert await live.reload()
        assert live.index.document("paris") is None
        assert len(taken) == 3
        assert not await live.reload()

    asyncio.run(run())
    assert seen == [True]


def test_confidences_that_are_fitted_meanwhile_are_taken_over(index: PhraseIndex) -> None:
    fitted = FittedConfidence(model="another", weights={}, questions=20, date="2026-01-01")

    async def run() -> None:
        live = LiveIndex(index)
        store_confidence(index.folder.folder, "", fitted)
        assert await live.reload()
        assert not await live.reload()
        remove_confidences(index.folder.folder)
        assert await live.reload()

    asyncio.run(run())


def test_a_broken_index_is_not_served(index: PhraseIndex) -> None:
    seen: list[bool] = []
    folder = index.folder.folder

    async def run() -> None:
        live = LiveIndex(index, seen.append)
        before = live.index
        good = (folder / "manifest.json").read_bytes()
        (folder / "manifest.json").write_text("{}")
        assert not await live.reload()
        assert live.index is before
        assert not await live.reload()  # nor tried again while it is the same
        assert seen == [False]
        (folder / "manifest.json").write_bytes(good)
        assert await live.reload()
        shutil.rmtree(folder)
        assert not await live.reload()
        assert live.index.search(QUESTION) == before.search(QUESTION)

    asyncio.run(run())


def test_watching(index: PhraseIndex) -> None:
    async def run() -> None:
        served = asyncio.Event()
        live = LiveIndex(index, lambda successfully: served.set())
        watching = asyncio.create_task(live.watch(0.01))
        await asyncio.to_thread(index.reopened().delete, ["paris"])
        await served.wait()
        watching.cancel()
        assert len(live.index) == 2

    asyncio.run(run())
