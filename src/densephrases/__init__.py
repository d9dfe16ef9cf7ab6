"""Answers from any body of text: the exact phrase and where it stands."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from densephrases.errors import MissingExtraError

if TYPE_CHECKING:
    from densephrases.client.client import AsyncClient, Client
    from densephrases.model.bundled import load
    from densephrases.model.network import PhraseModel
    from densephrases.search.answers import Answer
    from densephrases.search.phrase_index import PhraseIndex
    from densephrases.text.documents import Document
    from densephrases.text.passages import Passage

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "AsyncClient",
    "Client",
    "Document",
    "Passage",
    "PhraseIndex",
    "PhraseModel",
    "__version__",
    "load",
]

# Imported when first asked for: `import densephrases` is instant, and only training needs torch.
_HOMES = {
    "Answer": "densephrases.search.answers",
    "AsyncClient": "densephrases.client.client",
    "Client": "densephrases.client.client",
    "Document": "densephrases.text.documents",
    "Passage": "densephrases.text.passages",
    "PhraseIndex": "densephrases.search.phrase_index",
    "PhraseModel": "densephrases.model.network",
    "load": "densephrases.model.bundled",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'densephrases' has no attribute '{name}'; it has {', '.join(__all__)}")
    try:
        value = getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"densephrases.{name} needs the package '{error.name}', which is not installed: "
            "pip install 'densephrases[train]'"
        ) from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
