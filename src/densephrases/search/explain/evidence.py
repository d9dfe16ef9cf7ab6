"""What of a question the surroundings of an answer lack: signs that the text does not answer it."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from densephrases.arrays import Floats, Mask
from densephrases.model.tokenizer import parted_question
from densephrases.search.query.identifier_words import identifiers_of, whole_identifier
from densephrases.text.hashed_terms import terms
from densephrases.text.inflections import inflections

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")


class Surroundings(Protocol):
    """What of an answer counts as evidence."""

    @property
    def passage(self) -> str: ...
    @property
    def sentence(self) -> str: ...
    @property
    def section(self) -> str: ...
    @property
    def document(self) -> "Titled": ...


class Titled(Protocol):
    @property
    def title(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Evidence:
    """Shares of the question's terms, weighted by IDF, that are not to be found.

    Titles are that of the document and the headings above the answer.

    Attributes:
        missing: Neither in the passage nor in the titles.
        unstated: Neither in the sentences around the phrase nor in the titles.
        names: Of names and numbers alone, neither in the passage nor in the titles; or of its identifiers, if more of
            them are missing. 0 if the question has none.
        unknown: In none of the passages that are searched, nor is an inflection of theirs. Different words may share
            a term, so it fades in large collections.
    """

    missing: float = 0.0
    unstated: float = 0.0
    names: float = 0.0
    unknown: float = 0.0

    def values(self) -> tuple[float, ...]:
        return self.missing, self.unstated, self.names, self.unknown


TermsOf = Callable[[str], set[int]]


class AskedTerms:
    """The terms of one question, with the IDF of all terms in the collection and marks of those that are searched."""

    def __init__(self, question: str, idf_V: Floats, known_V: Mask, terms_of: TermsOf = terms) -> None:
        """`terms_of` may remember texts: results of one search share passages, sentences and titles."""
        self._idf_V = idf_V
        self._terms_of = terms_of
        self.words = {word: terms(word) for part in parted_question(question) for word in _WORD.findall(part)}
        self._all = frozenset[int]().union(*self.words.values())
        self._names = frozenset[int]().union(*(self.words[word] for word in names_and_numbers(question)))
        known = (ids for word, ids in self.words.items() if _occurs(word, ids, known_V))
        self._unknown = self._share(self._all, set[int]().union(*known))
        self._identifiers = [whole_identifier(each) for each in identifiers_of(question)]

    def evidence(self, answer: Surroundings) -> Evidence:
        title = self._titles(answer)
        near, anywhere = title | self._terms_of(answer.sentence), title | self._terms_of(answer.passage)
        names = max(self._share(self._names, anywhere), self._missing_identifiers(answer))
        return Evidence(self._share(self._all, anywhere), self._share(self._all, near), names, self._unknown)

    def _missing_identifiers(self, answer: Surroundings) -> float:
        if not self._identifiers:
            return 0.0
        text = "\n".join((answer.document.title, answer.section, answer.passage))
        return sum(each.search(text) is None for each in self._identifiers) / len(self._identifiers)

    def _share(self, wanted: frozenset[int], found: set[int]) -> float:
        total = self._weight(wanted)
        return self._weight(wanted - found) / total if total else 0.0

    def _weight(self, some: frozenset[int]) -> float:
        return float(self._idf_V[sorted(some)].sum()) if some else 0.0

    def matched_words(self, answer: Surroundings) -> tuple[Sequence[str], Sequence[str]]:
        """The words that passage or titles have, and those that neither has; stop words are neither."""
        found = self._titles(answer) | self._terms_of(answer.passage)
        counted = {word: ids for word, ids in self.words.items() if ids}
        matched = [word for word, ids in counted.items() if ids <= found]
        return matched, [word for word in counted if word not in matched]

    def _titles(self, answer: Surroundings) -> set[int]:
        return self._terms_of(answer.document.title) | self._terms_of(answer.section)


def _occurs(word: str, ids: set[int], known_V: Mask) -> bool:
    """Whether the word or an inflection of it is known; terms are prefixes, in which short words differ."""
    return all(known_V[each] for each in ids) or any(
        found and all(known_V[each] for each in found) for found in map(terms, inflections(word))
    )


def names_and_numbers(question: str) -> list[str]:
    """Words with a digit, and capitalised words that do not merely begin the question."""
    found = []
    for part in parted_question(question):
        for place, word in enumerate(_WORD.findall(part)):
            if any(letter.isdigit() for letter in word) or (word[0].isupper() and (place or terms(word))):
                found.append(word)
    return found
