"""Optional dependencies, asked for in one sentence where they are missing."""

from importlib.util import find_spec

from densephrases.errors import MissingExtraError


def require(extra: str, *modules: str) -> None:
    if missing := [module for module in modules if find_spec(module) is None]:
        raise MissingExtraError(
            f"This command needs {', '.join(missing)}; install them with: pip install 'densephrases[{extra}]'"
        )
