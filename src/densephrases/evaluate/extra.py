"""Packages of the extra 'evaluate'."""

from importlib.util import find_spec

from densephrases.errors import MissingExtraError


def require(*modules: str) -> None:
    """Raise MissingExtraError if one is not installed; called before the work that needs it, not after."""
    if missing := [module for module in modules if find_spec(module) is None]:
        raise MissingExtraError(
            f"This measurement needs {', '.join(missing)}; install with: pip install 'densephrases[evaluate]'"
        )
