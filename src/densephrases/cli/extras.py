"""Optional dependencies, asked for in one sentence where they are missing."""

from importlib.util import find_spec

from densephrases.errors import MissingExtraError


def require(extra: str, *modules: str) -> None:
    if missing := [module for module in modules if find_spec(module) is None]:
        raise MissingExtraError(
            f"This command needs {', '.join(missing)}; install them with: pip install 'densephrases[{extra}]'"
        )


def quiet_transformers() -> None:
    """No bars and reports of its own while a model loads: it tells of layers that are left out on purpose."""
    from transformers.utils import logging

    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
