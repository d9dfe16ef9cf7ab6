"""Documents that a query names by title or file name, such as "git-rebase manual" or "README of project A"."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from densephrases.index.snapshot import Snapshot

# Records that are read to know all names; they take about a second.
MOST_DOCUMENTS = 50_000

_WORD = re.compile(r"[^\W_]+")
_NUMBERING = re.compile(r"^[\dIVXLC]+(?:\.\d+)*[.:)]?\s+(?=\D)|\s*\([^()]*\)\s*$")  # "20.5. ", "(1)"
_AROUND_NAMES = """the of in on for from to and show open read me see manual manuals man page manpage documentation
docs doc document file article chapter section"""
_FILLERS = frozenset(_AROUND_NAMES.split())


@dataclass(frozen=True, slots=True)
class DocumentNames:
    """The words by which a document is named.

    Attributes:
        title: Of its title without numbering and qualifiers.
        stem: Of its file name without suffix.
        path: Of all folders and the file name.
    """

    id: str
    title: frozenset[str]
    stem: frozenset[str]
    path: frozenset[str]

    @classmethod
    def from_document(cls, identifier: str, title: str) -> "DocumentNames":
        path = PurePosixPath(identifier)
        return cls(identifier, words(_NUMBERING.sub("", title)), words(path.stem), words(identifier))

    def are_named_by(self, query: frozenset[str]) -> bool:
        """By the whole title; or by the whole file name, with any folders around it."""
        return bool(query) and (
            query in (self.title, self.stem) or (bool(self.stem) and self.stem <= query <= self.path)
        )


def words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))


def named_words(query: str) -> Sequence[frozenset[str]]:
    """What a query may name: all its words, and those that are not merely around a name."""
    whole = words(query)
    return list(dict.fromkeys((whole, whole - _FILLERS)))


def titles_of(index: Snapshot) -> list[tuple[str, str]]:
    """Ids and titles of all documents that are not deleted; of none if there are very many."""
    if sum(segment.documents for segment in index.segments) > MOST_DOCUMENTS:
        return []
    pairs = zip(index.segments, index.deleted, strict=True)
    kept = (s.record(n) for s, gone in pairs for n in range(s.documents) if gone is None or not gone[n])
    return [(record.id, record.title) for record in kept]


class NamedDocuments:
    """The names of documents, found by the words of a query."""

    def __init__(self, names: Iterable[DocumentNames]) -> None:
        self._by_word: defaultdict[str, list[DocumentNames]] = defaultdict(list)
        for each in names:
            for word in each.title | each.stem:
                self._by_word[word].append(each)

    @classmethod
    def from_titles(cls, titles: Iterable[tuple[str, str]]) -> "NamedDocuments":
        """Of documents given by id and title."""
        return cls(DocumentNames.from_document(*each) for each in titles)

    def __call__(self, query: str) -> list[str]:
        """The ids of the documents that a query names."""
        for wanted in named_words(query):
            rarest = min(
                wanted, key=lambda word: len(self._by_word.get(word, ())) or len(self._by_word) + 1, default=""
            )
            if found := [each.id for each in self._by_word.get(rarest, ()) if each.are_named_by(wanted)]:
                return found
        return []
