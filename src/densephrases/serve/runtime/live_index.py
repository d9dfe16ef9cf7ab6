"""The index that is served, replaced as a whole when the folder has changed."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from densephrases.errors import DensePhrasesError
from densephrases.index.manifest import MANIFEST_FILE
from densephrases.search.phrase_index import PhraseIndex

Stamp = tuple[int, int, int]
_ATTEMPTS = 5
_WARM_UP = "What is it?"

log = logging.getLogger(__name__)


class LiveIndex:
    """Holds an index open and looks for a newer one.

    Whoever takes `index` keeps it as it is for as long as they need; a newer one is opened and tried beside it, and
    then takes its place in one step.

    Args:
        index: What is served at first.
        observe: Is told of every reload whether it succeeded.
    """

    def __init__(self, index: PhraseIndex, observe: Callable[[bool], None] = lambda _: None) -> None:
        self._stamp = _stamp(index.folder.folder)
        self.index = _ready(index)
        self._observe = observe
        self._reloading = asyncio.Lock()

    async def watch(self, seconds: float) -> None:
        """Reload whenever another process has changed the index; ends when it is cancelled."""
        while True:
            await asyncio.sleep(seconds)
            await self.reload()

    async def reload(self) -> bool:
        """Whether there was something new and it is served now; what cannot be opened is logged and left alone."""
        async with self._reloading:
            stamp = await asyncio.to_thread(_stamp, self.index.folder.folder)
            if stamp == self._stamp:
                return False
            self._stamp = stamp
            try:
                self.index = await asyncio.to_thread(self._newer)
            except (DensePhrasesError, OSError) as error:
                log.error("the changed index cannot be opened, the one before is served on: %s", error)
                self._observe(False)
                return False
            log.info("serving the changed index: %d documents", len(self.index))
            self._observe(True)
            return True

    def _newer(self) -> PhraseIndex:
        """A writer may remove what its next manifest no longer names, between our reading both: look again then."""
        for _ in range(_ATTEMPTS - 1):
            before = _stamp(self.index.folder.folder)
            try:
                return _ready(self.index.reopened())
            except (DensePhrasesError, OSError):
                if _stamp(self.index.folder.folder) == before:
                    raise
        return _ready(self.index.reopened())


def _ready(index: PhraseIndex) -> PhraseIndex:
    """With all files open and a first question answered, so that nobody's question has to wait for that."""
    index.hold()
    index.search(_WARM_UP, k=1)
    return index


def _stamp(folder: Path) -> Stamp | None:
    """What changes whenever the manifest is replaced; None while there is none."""
    try:
        found = (folder / MANIFEST_FILE).stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
