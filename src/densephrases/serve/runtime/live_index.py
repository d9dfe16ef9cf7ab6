"""The index being served; replaced atomically when its folder has changed."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from densephrases.errors import DensePhrasesError
from densephrases.index.fitted_confidence import CONFIDENCE_FILE
from densephrases.index.manifest import MANIFEST_FILE
from densephrases.search.phrase_index import PhraseIndex

Stamp = tuple[int, int, int]
_WARM_UP = "What is it?"

log = logging.getLogger(__name__)


class LiveIndex:
    """Holds an index open and replaces it by a newer one.

    A caller may keep `index` for as long as it needs a consistent state. A newer index is opened and warmed up beside
    it before it takes its place.

    Args:
        index: The first index to serve.
        observe: Called after every reload with whether it succeeded.
    """

    def __init__(self, index: PhraseIndex, observe: Callable[[bool], None] = lambda _: None) -> None:
        self._stamps = _stamps(index.folder.folder)
        self.index = _warmed_up(index)
        self._observe = observe
        self._reloading = asyncio.Lock()

    async def watch(self, seconds: float) -> None:
        """Check for changes every `seconds` until cancelled, and reload after each."""
        while True:
            await asyncio.sleep(seconds)
            await self.reload()

    async def reload(self) -> bool:
        """Whether the index had changed and the new state is served now. If it cannot be opened, the old one stays."""
        async with self._reloading:
            stamps = await asyncio.to_thread(_stamps, self.index.folder.folder)
            if stamps == self._stamps:
                return False
            self._stamps = stamps
            try:
                self.index = await asyncio.to_thread(lambda: _warmed_up(self.index.reopened()))
            except (DensePhrasesError, OSError) as error:
                log.error("cannot open the changed index, keep serving the previous one: %s", error)
                self._observe(False)
                return False
            log.info("serving the changed index: %d documents", len(self.index))
            self._observe(True)
            return True


def _warmed_up(index: PhraseIndex) -> PhraseIndex:
    """Answer a first question, so that no request pays for what it opens."""
    index.search(_WARM_UP, k=1)
    return index


def _stamps(folder: Path) -> tuple[Stamp | None, ...]:
    """Change whenever the manifest or fitted confidences are replaced."""
    return tuple(_stamp(folder / name) for name in (MANIFEST_FILE, CONFIDENCE_FILE))


def _stamp(path: Path) -> Stamp | None:
    """None while there is no such file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
