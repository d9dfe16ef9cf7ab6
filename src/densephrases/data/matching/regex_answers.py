"""Gold answers that are regular expressions, as in CuratedTREC."""

import re
import warnings
from dataclasses import dataclass
from functools import cached_property

_FLAGS = re.IGNORECASE | re.UNICODE | re.MULTILINE
_NOTHING = re.compile(r"(?!)")
# A group's opening, a bar, a class or a character, and its quantifier.
_PART = re.compile(
    r"(?P<sign>\(\?:|[(|]|\\.|\[(?:\\.|[^\]\\])*\]|[^\\\[])(?P<repeated>(?:[?*+]|\{[^}]*\})[?+]?)?", re.DOTALL
)
_NO_LITERAL = frozenset("aAbBdDsSwWZnrtfvxuUNpPkK0123456789")  # after a backslash: classes, anchors, codes, references


@dataclass(frozen=True)
class PatternAnswer:
    """A pattern that must match at the start of an answer, ignoring case, as in DrQA's and the paper's evaluation."""

    source: str

    @property
    def readable(self) -> bool:
        """Whether it is a valid regular expression; an invalid one (CuratedTREC has one) matches nothing."""
        return self.compiled is not _NOTHING

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # syntax that a later Python may change
            try:
                return re.compile(self.source, _FLAGS)
            except (re.error, RecursionError, OverflowError):  # groups nested too deeply, counts too large
                return _NOTHING

    def matches(self, text: str) -> bool:
        return self.compiled.match(text) is not None

    @cached_property
    def needed(self) -> frozenset[str] | None:
        return needed_literals(self.source)

    def may_match(self, folded: str) -> bool:
        """Whether a case-folded text contains one of the literals that every match needs."""
        return self.needed is None or any(literal in folded for literal in self.needed)


def needed_literals(source: str) -> frozenset[str] | None:
    """Lower-case strings of which every match contains at least one, preferably long ones.

    None if there are none, or if the pattern uses syntax that is not analysed.
    """
    if any(unusual in source.replace("(?:", "(") for unusual in ("(?", "[]", "[^]")):
        return None
    open_groups = [_Group()]
    position = 0
    while position < len(source):
        part = _PART.match(source, position)
        if part is None or not open_groups:
            return None
        if part["sign"] in ("(", "(?:"):
            open_groups.append(_Group())
        elif part["sign"] == "|":
            open_groups[-1].sequences.append(_Sequence())
        elif part["sign"] == ")":
            closed = open_groups.pop()
            if open_groups:
                open_groups[-1].sequences[-1].add_group(closed, part["repeated"])
        else:
            open_groups[-1].sequences[-1].add_character(part["sign"], part["repeated"])
        position = part.end()
    return open_groups[0].needed() if len(open_groups) == 1 else None


class _Sequence:
    """A concatenation: every match contains a string of each of `choices`."""

    def __init__(self) -> None:
        self.choices: list[frozenset[str]] = []
        self.run = ""

    def add_character(self, sign: str, repeated: str | None) -> None:
        literal = sign[-1].casefold()
        plain = literal.isascii() and literal.isprintable() and not sign.startswith("[")
        plain &= sign[1] not in _NO_LITERAL if len(sign) == 2 else sign not in ".^$"
        if plain and _at_least_once(repeated):
            self.run += literal
        if not plain or repeated:
            self.end_run()

    def add_group(self, group: "_Group", repeated: str | None) -> None:
        self.end_run()
        needed = group.needed()
        if needed is not None and _at_least_once(repeated):
            self.choices.append(needed)

    def end_run(self) -> None:
        if self.run:
            self.choices.append(frozenset({self.run}))
        self.run = ""


class _Group:
    """Alternative sequences."""

    def __init__(self) -> None:
        self.sequences = [_Sequence()]

    def needed(self) -> frozenset[str] | None:
        best = []
        for sequence in self.sequences:
            sequence.end_run()
            if not sequence.choices:
                return None
            best.append(max(sequence.choices, key=lambda choice: min(map(len, choice))))
        return frozenset().union(*best)


def _at_least_once(repeated: str | None) -> bool:
    return not repeated or repeated.startswith("+") or re.match(r"\{[1-9]", repeated) is not None
