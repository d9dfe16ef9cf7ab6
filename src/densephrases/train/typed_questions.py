"""Questions as people type them: in lower case, without a question mark, as key words, with a typo."""

import re

import numpy as np

from densephrases.model.tokenizer import SEPARATOR

SHORTEST_MISTYPED = 5  # letters; a typo in a shorter word often makes another word

_LEFT_OUT_LIST = """a an and are as at be been by can could did do does for from had has have her his how in into is it
its many much of on or s the their there these they this to was were what when where which who whom whose why will with
would"""
_LEFT_OUT = frozenset(_LEFT_OUT_LIST.split())
_WORD = re.compile(r"\w+|[^\w\s]")


def typed_variants(question: str, rng: np.random.Generator) -> tuple[str, ...]:
    """Other ways to type a question, all in lower case; none for one with a separator, whose parts must stay."""
    if f" {SEPARATOR} " in f" {question} ":
        return ()
    plain = question.lower().rstrip("? ")
    variants = dict.fromkeys([key_words(plain), with_typo(plain, rng)])
    return tuple(variant for variant in variants if variant and variant != plain)


def key_words(question: str) -> str:
    """The words without articles, question words and auxiliaries; empty if only one is left."""
    words = [word for word in _WORD.findall(question) if word.isalnum() and word not in _LEFT_OUT]
    return " ".join(words) if len(words) > 1 else ""


def with_typo(question: str, rng: np.random.Generator) -> str:
    """Two letters of a longer word exchanged, or one left out or doubled; never the first or the last letter."""
    places = [m for m in _WORD.finditer(question) if m.group().isalpha() and len(m.group()) >= SHORTEST_MISTYPED]
    if not places:
        return question
    word = places[rng.integers(len(places))]
    at = word.start() + 1 + int(rng.integers(len(word.group()) - 3))
    typed = (question[at + 1] + question[at], question[at + 1], question[at] + question[at : at + 2])
    return question[:at] + typed[rng.integers(3)] + question[at + 2 :]
