"""Answers from any body of text: the exact phrase and where it stands."""

from typing import TYPE_CHECKING, Any

from densephrases.errors import MissingExtraError
from densephrases.version import __version__

if TYPE_CHECKING:
    from densephrases.client.client import AsyncClient, Client
    from densephrases.model.load import load
    from densephrases.nn.phrase_model import PhraseModel
    from densephrases.search.answers import Answer
    from densephrases.search.phrase_index import PhraseIndex
    from densephrases.text.documents import Document
    from densephrases.text.passages import Passage
    from densephrases.text.readers.read import read_documents


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
    "read_documents",
]


def __getattr__(name: str) -> Any:
    """Imported when first asked for: `import densephrases` is instant, and only training needs torch."""
    if name not in __all__:
        raise AttributeError(f"module 'densephrases' has no attribute '{name}'; it has {', '.join(__all__)}")
    try:
        value = _imported(name)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"densephrases.{name} needs the package '{error.name}', which is not installed: "
            "pip install 'densephrases[train]'"
        ) from error
    globals()[name] = value
    return value


def _imported(name: str) -> Any:
    value: Any
    match name:
        case "Answer":
            from densephrases.search.answers import Answer as value
        case "AsyncClient":
            from densephrases.client.client import AsyncClient as value
        case "Client":
            from densephrases.client.client import Client as value
        case "Document":
            from densephrases.text.documents import Document as value
        case "Passage":
            from densephrases.text.passages import Passage as value
        case "PhraseIndex":
            from densephrases.search.phrase_index import PhraseIndex as value
        case "PhraseModel":
            from densephrases.nn.phrase_model import PhraseModel as value
        case "read_documents":
            from densephrases.text.readers.read import read_documents as value
        case _:
            from densephrases.model.load import load as value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
