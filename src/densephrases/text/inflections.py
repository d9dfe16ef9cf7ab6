"""Regular inflections of English words, for words too short for the prefixes that terms are made of."""

_ENDINGS = ("s", "es", "ed", "d", "ing")
_VOWELS = frozenset("aeiou")
_SHORTEST_STEM = 2


def inflections(word: str) -> frozenset[str]:
    """Other forms of the word by regular endings; some of them are no words."""
    lowered = word.lower()
    stems = {lowered} | _stems(lowered)
    return frozenset(stems.union(*map(_forms, stems)) - {lowered})


def _stems(word: str) -> set[str]:
    found = set[str]()
    for ending in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= _SHORTEST_STEM:
            found |= {stem, stem + "e"}
            if stem.endswith("i"):
                found.add(stem[:-1] + "y")  # tries, tried
            if stem[-1] == stem[-2] and stem[-1] not in _VOWELS:
                found.add(stem[:-1])  # stopped, stopping
    return found


def _forms(stem: str) -> set[str]:
    forms = {stem + ending for ending in _ENDINGS}
    if stem.endswith("e"):
        forms.add(stem[:-1] + "ing")  # lease, leasing
    if stem.endswith("y"):
        forms |= {stem[:-1] + "ies", stem[:-1] + "ied"}
    if stem[-1] not in _VOWELS:
        forms |= {stem + stem[-1] + "ed", stem + stem[-1] + "ing"}
    return forms
