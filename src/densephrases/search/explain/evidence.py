"""What of a question the surroundings of an answer lack: signs that the text does not answer it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from densephrases.arrays import Floats, Mask
from densephrases.model.tokenizer import parted_question
from densephrases.search.query.identifier_words import identifiers_of, whole_identifier
from densephrases.text.hashed_terms import prefixes, terms
from densephrases.text.inflections import inflections
from densephrases.text.searched_text import SearchedText
from densephrases.text.sentences import TextSpan

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands around an answer and counts as evidence.

    Attributes:
        passage: That of the answer.
        sentences: Those around the phrase, in the passage.
        titles: That of the document, and the headings above the answer.
    """

    passage: SearchedText
    sentences: TextSpan
    titles: SearchedText

    def has(self, prefix: str) -> bool:
        """Whether passage or titles have a word of the term."""
        return bool(self.passage.positions(prefix) or self.titles.positions(prefix))


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


class AskedTerms:
    """The terms of one question, with the IDF of all terms in the collection and marks of those that are searched."""

    def __init__(self, question: str, idf_V: Floats, known_V: Mask) -> None:
        words = {word: prefixes(word) for part in parted_question(question) for word in _WORD.findall(part)}
        self.words = {word: tuple(found.values()) for word, found in words.items()}
        names = set[int]().union(*(words[word] for word in names_and_numbers(question)))
        wanted = {term: prefix for found in words.values() for term, prefix in found.items()}
        self._prefixes = tuple(prefix for _, prefix in sorted(wanted.items()))
        self._weights = [(float(idf_V[term]), term in names) for term in sorted(wanted)]
        self._total = sum(weight for weight, _ in self._weights)
        self._total_of_names = sum(weight for weight, is_name in self._weights if is_name)
        known = set[int]().union(*(found for word, found in words.items() if _occurs(word, found, known_V)))
        self._unknown = _share(sum(float(idf_V[term]) for term in wanted.keys() - known), self._total)
        self._identifiers = [whole_identifier(each) for each in identifiers_of(question)]

    def evidence(self, around: Surroundings) -> Evidence:
        missing = unstated = names = 0.0
        start, end = around.sentences.start, around.sentences.end
        in_titles, in_passage = (dict(each.occurring(self._prefixes)) for each in (around.titles, around.passage))
        for place, (weight, is_name) in enumerate(self._weights):
            if place in in_titles:
                continue
            positions = in_passage.get(place, ())
            if not positions:
                missing += weight
                names += weight * is_name
            for at in positions:
                if start <= at < end:
                    break
            else:
                unstated += weight
        return Evidence(
            _share(missing, self._total),
            _share(unstated, self._total),
            max(_share(names, self._total_of_names), self._missing_identifiers(around)),
            self._unknown,
        )

    def _missing_identifiers(self, around: Surroundings) -> float:
        if not self._identifiers:
            return 0.0
        text = f"{around.titles.text}\n{around.passage.text}"
        return sum(each.search(text) is None for each in self._identifiers) / len(self._identifiers)

    def matched_words(self, around: Surroundings) -> tuple[Sequence[str], Sequence[str]]:
        """The words that passage or titles have, and those that neither has; stop words are neither."""
        counted = {word: found for word, found in self.words.items() if found}
        matched = [word for word, found in counted.items() if all(map(around.has, found))]
        return matched, [word for word in counted if word not in matched]


def _share(part: float, total: float) -> float:
    return part / total if total else 0.0


def _occurs(word: str, ids: Iterable[int], known_V: Mask) -> bool:
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
