"""The form of a question, by which `unit="auto"` chooses what an answer is: a phrase, a sentence or a list."""

import re
from typing import Literal

from densephrases.search.query.identifier_words import identifiers_of

Form = Literal["phrase", "sentence", "list", "keywords"]

_POLITE = re.compile(r"^(?:please|can you|could you|tell me|show me|i want to know|and|so)\b[\s,:]*", re.IGNORECASE)
_LIST = re.compile(
    r"^(?:list|enumerate)\b|^name (?:all|the|some|every|each|\w+ of)\b"
    r"|^(?:which|what)\b.*\b(?:are there|do exist|exist|are (?:available|supported|possible|allowed))\W*$"
    r"|^what are (?:all|the|some)\b.*s\W*$",
    re.IGNORECASE,
)
_QUANTITY = "many|much|long|old|far|often|deep|high|large|big|tall|fast|heavy|wide|late|early|soon|small|short|hot|cold"
_FACT = re.compile(rf"\bhow (?:{_QUANTITY})\b|\bdefault\b|^what (?:year|day|date|time|name|number)\b", re.IGNORECASE)
_EXPLAINED = re.compile(
    r"^(?:why|how|explain|describe|define|compare|summari[sz]e)\b"
    r"|^what (?:does|do|did)\b.*\b(?:do|control|determine|specify)(?:\s+(?:in|with|for|to|of)\b.*)?\W*$|^what happens\b"
    r"|^what(?: is|'s| are) the (?:purpose|difference|meaning|effect|use|role|idea|reason)\b"
    r"|^what(?: is|'s| are)\b.*\b(?:for|used for|good for|about)\W*$"
    r"|^(?:is|are|was|were|do|does|did|can|could|should|will|would|may|must|has|have|had)\b",
    re.IGNORECASE,
)
_MEANT = re.compile(r"^what (?:does|do|did)\b.*\bmean\W*$|^what(?: is|'s| are)\b", re.IGNORECASE)
_ASKED = re.compile(r"\b(?:who|whom|whose|when|where|which|what|how|why)\b", re.IGNORECASE)


def form_of(question: str) -> Form:
    """What answers it; "keywords" if it is no question, which sentences answer, or the document it names.

    Explanations (why, how, what does X do) and yes-no questions are answered by sentences; who, when, where, which, how
    many, other questions with "what", and questions for a default by phrases. "What is X" and "what does X mean" ask
    for a sentence only if X is an identifier, such as an option.
    """
    text = question.strip()
    while polite := _POLITE.match(text):
        text = text[polite.end() :]
    if _LIST.search(text):
        return "list"
    if _FACT.search(text):
        return "phrase"
    if _EXPLAINED.search(text) or (_MEANT.search(text) and _asks_for_an_identifier(text)):
        return "sentence"
    return "phrase" if _ASKED.search(text) or text.endswith(("?", "\uff1f")) else "keywords"


def _asks_for_an_identifier(text: str) -> bool:
    """Whether nothing but an identifier is asked about: "what is --depth?", not "what is the type of --depth?"."""
    asked = re.sub(
        r"^what(?: is|'s| are| does| do| did)\b|\bmean\W*$|\b(?:the|option|parameter|setting)\b", "", text, flags=re.I
    )
    return any(asked.strip(" ?.`\"'") == each for each in identifiers_of(text))
