"""Conditions on the documents of a search: their ids and their metadata. Imports no numpy."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from densephrases.errors import ConfigError
from densephrases.search.filtering.ranges import Bound, Range, ranges_from
from densephrases.text.metadata import written_forms

if TYPE_CHECKING:
    from densephrases.index.segment.document_record import DocumentRecord
    from densephrases.text.documents import Document

Value = str | int | float | bool
Where = Mapping[str, Value | Iterable[Value] | Mapping[str, Bound]]


@dataclass(frozen=True, slots=True)
class Filter:
    """Metadata keys with the values they may have, as text; ranges; and the ids of documents (None: any)."""

    where: frozenset[tuple[str, frozenset[str]]] = frozenset()
    documents: frozenset[str] | None = None
    ranges: frozenset[Range] = frozenset()

    @classmethod
    def from_conditions(cls, where: Where | None, documents: Iterable[str] | None) -> "Filter":
        if where is not None and not isinstance(where, Mapping):
            raise ConfigError(f"where={where!r} is no mapping; expected metadata keys with their wanted values.")
        conditions = {_key(key): values for key, values in (where or {}).items()}
        ranges = {key: values for key, values in conditions.items() if isinstance(values, Mapping)}
        wanted = frozenset((key, _wanted(key, values)) for key, values in conditions.items() if key not in ranges)
        within = frozenset(each for key, values in ranges.items() for each in ranges_from(key, values))
        return cls(wanted, None if documents is None else _ids(documents), within)

    @property
    def matches_all(self) -> bool:
        return not self.where and not self.ranges and self.documents is None

    def matches(self, document: "DocumentRecord | Document") -> bool:
        if self.documents is not None and document.id not in self.documents:
            return False
        equal = (not values.isdisjoint(written_forms(document.metadata.get(key))) for key, values in self.where)
        return all(equal) and self.in_ranges(document)

    def in_ranges(self, document: "DocumentRecord | Document") -> bool:
        return all(each.matches(document.metadata.get(each.key), document.id) for each in self.ranges)


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise ConfigError(f"where has the key {key!r}; expected the name of a metadata entry.")
    return key


def _wanted(key: str, values: Any) -> frozenset[str]:
    several: Sequence[Any] = list(values) if isinstance(values, list | tuple | set | frozenset) else [values]
    if not several or not all(isinstance(value, Value) for value in several):
        raise ConfigError(
            f"where has {values!r} for '{key}'; expected a text, a number, true or false, some of them, or a "
            "range such as {'>=': 1990}."
        )
    return frozenset(text for value in several for text in written_forms(value))


def _ids(documents: Any) -> frozenset[str]:
    if isinstance(documents, str) or not isinstance(documents, Iterable):
        raise ConfigError(f"documents={documents!r} is no list of document ids; expected for example ['{documents}'].")
    ids = list(documents)
    if strange := [each for each in ids if not isinstance(each, str)]:
        raise ConfigError(f"documents holds {strange[0]!r}, which is no document id; expected texts.")
    return frozenset(ids)
