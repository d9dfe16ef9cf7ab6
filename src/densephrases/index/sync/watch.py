"""When something changes below folders. Needs the extra 'watch'."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Any

from densephrases.errors import DataError, MissingExtraError

# A burst of changes is one signal: it ends when nothing has changed for a step, or after the longest time.
_STEP_MS = 200
_LONGEST_BURST_MS = 2000
_TIMEOUT_MS = 500  # after which a signal is given without any change, so that deferred files get their turn


def change_signals(paths: Sequence[Path], stop: Event) -> Iterator[bool]:
    """Whether something may have changed, at once and then after every burst of changes or every half second.

    The first signal comes when changes are already watched for, so that none is lost. A folder that vanishes and comes
    back is watched again.
    """
    while not stop.is_set():
        yield from _until_replaced(paths, stop)
        if _identities(paths) is None:
            yield True
        while not stop.wait(_TIMEOUT_MS / 1000) and _identities(paths) is None:
            yield False


def _until_replaced(paths: Sequence[Path], stop: Event) -> Iterator[bool]:
    """Until one of the folders is not there any more, or is another one."""
    try:
        from watchfiles import watch
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "Watching folders needs watchfiles; install it with: pip install 'densephrases[watch]'"
        ) from error
    before, first = _identities(paths), True
    options: Any = {"debounce": _LONGEST_BURST_MS, "step": _STEP_MS, "rust_timeout": _TIMEOUT_MS}
    try:
        for changes in watch(*paths, watch_filter=None, stop_event=stop, yield_on_timeout=True, **options):
            yield first or bool(changes)
            first = False
            if before is None or _identities(paths) != before:
                return
    except (OSError, RuntimeError) as error:
        if all(path.exists() for path in paths):
            raise DataError(
                f"'{paths[0]}' cannot be watched: {error}; WATCHFILES_FORCE_POLLING=1 in the environment looks at the "
                "files instead."
            ) from error


def _identities(paths: Sequence[Path]) -> list[tuple[int, int]] | None:
    """None if one is not there."""
    try:
        states = [os.stat(path) for path in paths]  # noqa: PTH116
    except OSError:
        return None
    return [(state.st_dev, state.st_ino) for state in states]
