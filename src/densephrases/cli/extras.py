"""Optional dependencies: one sentence that says what to install."""

import logging
from importlib.util import find_spec

from densephrases.errors import MissingExtraError


def require(extra: str, *modules: str) -> None:
    if missing := [module for module in modules if find_spec(module) is None]:
        raise MissingExtraError(
            f"This command needs {', '.join(missing)}; install them with: pip install 'densephrases[{extra}]'"
        )


def quiet_transformers() -> None:
    """Turn off its progress bars and its warnings about layers that we leave out on purpose."""
    from transformers.utils import logging

    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]


def quiet_bm25s() -> None:
    """Turn off its debug messages, which importing it turns on."""
    import bm25s  # noqa: F401

    logging.getLogger("bm25s").setLevel(logging.WARNING)
