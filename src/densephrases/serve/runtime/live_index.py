"""The index being served; replaced atomically when its folder has changed."""

import asyncio
import logging
from collections.abc import Callable

from densephrases.errors import DensePhrasesError
from densephrases.search.answering_index import AnsweringIndex

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

    def __init__(self, index: AnsweringIndex, observe: Callable[[bool], None] = lambda _: None) -> None:
        self._state = index.state()
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
            state = await asyncio.to_thread(self.index.state)
            if state == self._state:
                return False
            self._state = state
            try:
                self.index = await asyncio.to_thread(lambda: _warmed_up(self.index.reopened()))
            except (DensePhrasesError, OSError) as error:
                log.error("cannot open the changed index, keep serving the previous one: %s", error)
                self._observe(False)
                return False
            log.info("serving the changed index: %d documents", len(self.index))
            self._observe(True)
            return True


def _warmed_up(index: AnsweringIndex) -> AnsweringIndex:
    """Answer a first question, so that no request pays for what it opens."""
    index.search(_WARM_UP, k=1)
    return index
