"""Truecasing of questions typed without capitals, for cased models (paper, appendix D)."""

import re
from collections import Counter
from collections.abc import Iterable

_WORD = re.compile(r"\w+(?:['\u2019]\w+)*")
# Words at the beginning of a sentence or line say nothing about their usual case.
_COUNTED = re.compile(r"(?<![.!?:] )(?<!^)(?<!\n)(?<![\w'\u2019])\w+(?:['\u2019]\w+)*")


class Truecaser:
    """Writes each word in its most frequent form; unseen words, which are mostly names, get a capital."""

    def __init__(self, forms: dict[str, str]) -> None:
        self.forms = forms

    @classmethod
    def learn(cls, texts: Iterable[str]) -> "Truecaser":
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(_COUNTED.findall(text))
        # equally frequent forms: lower case before capitals
        ranked = sorted(counts, key=lambda form: (-counts[form], form.swapcase()))
        forms: dict[str, str] = {}
        for form in ranked:
            forms.setdefault(form.lower(), form)
        return cls(forms)

    def __call__(self, question: str) -> str:
        """The question truecased, or unchanged if it has a capital anywhere."""
        if question != question.lower():
            return question
        written = _WORD.sub(lambda match: self.forms.get(match[0], _capital(match[0])), question)
        first = _WORD.search(written)
        return written if first is None else written[: first.start()] + _capital(written[first.start() :])


def _capital(word: str) -> str:
    return word[:1].upper() + word[1:]
