"""Which documents may be found: not the deleted ones, only listed ids, only those with wanted metadata."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from densephrases.errors import ConfigError

if TYPE_CHECKING:
    from densephrases.search.scoring.searchable import DocumentRecord

Value = str | int | float | bool
Where = Mapping[str, Value | Iterable[Value]]


@dataclass(frozen=True, slots=True)
class Filter:
    """Metadata keys with the values they may have, as text, and the ids that may be found (None: any)."""

    where: frozenset[tuple[str, frozenset[str]]] = frozenset()
    documents: frozenset[str] | None = None

    @classmethod
    def from_conditions(cls, where: Where | None, documents: Iterable[str] | None) -> "Filter":
        if where is not None and not isinstance(where, Mapping):
            raise ConfigError(f"where={where!r} is no mapping; expected metadata keys with their wanted values.")
        wanted = frozenset((_key(key), _wanted(key, values)) for key, values in (where or {}).items())
        return cls(wanted, None if documents is None else _ids(documents))

    @property
    def matches_all(self) -> bool:
        return not self.where and self.documents is None

    def matches(self, document: "DocumentRecord") -> bool:
        if self.documents is not None and document.id not in self.documents:
            return False
        return all(not values.isdisjoint(_written(document.metadata.get(key))) for key, values in self.where)


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise ConfigError(f"where has the key {key!r}; expected the name of a metadata entry.")
    return key


def _wanted(key: str, values: Any) -> frozenset[str]:
    several: Sequence[Any] = list(values) if isinstance(values, list | tuple | set | frozenset) else [values]
    if not several or not all(isinstance(value, Value) for value in several):
        raise ConfigError(
            f"where has {values!r} for '{key}'; expected a text, a number, true or false, or some of them."
        )
    return frozenset(text for value in several for text in _written(value))


def _ids(documents: Any) -> frozenset[str]:
    if isinstance(documents, str) or not isinstance(documents, Iterable):
        raise ConfigError(f"documents={documents!r} is no list of document ids; expected for example ['{documents}'].")
    ids = list(documents)
    if strange := [each for each in ids if not isinstance(each, str)]:
        raise ConfigError(f"documents holds {strange[0]!r}, which is no document id; expected texts.")
    return frozenset(ids)


def _written(value: Any) -> set[str]:
    """How a value of metadata may be written in a filter; each element of a list counts."""
    if isinstance(value, list | tuple):
        return {text for each in value for text in _written(each)}
    if isinstance(value, bool):
        return {str(value), str(value).lower()}
    if isinstance(value, float) and value.is_integer():
        return {str(value), str(int(value))}
    return {str(value)} if isinstance(value, str | int | float) else set()
