"""Questions made from sentences by rule, without a model: a date, a number, a name or a definition is asked for.

They repeat the words of the sentence they come from, so they are easier than what people ask.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from densephrases.text.documents import Document
from densephrases.text.sentences import TextSpan, sentence_spans

Kind = Literal["date", "number", "name", "definition"]

_SHORTEST, _LONGEST = 25, 160  # characters of a sentence
_LONGEST_SUBJECT = 10  # words
READ_CHARACTERS = 20_000  # of each document
_MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_DATE = rf"(?:\d{{1,2}} {_MONTH}(?: \d{{4}})?|{_MONTH} \d{{1,2}}(?:, \d{{4}})?|{_MONTH} \d{{4}}|[12]\d{{3}})"
_NAME = r"(?:[A-Z][\w'\u2019-]+)(?: (?:of|de|van|von|the)? ?[A-Z][\w'\u2019-]+){0,3}"
_AFTER_NAME = (
    r"(?=,|\.\Z| (?:in|on|at|from|to|with|for|as|during|after|before|between)\b)"  # no 'in Chinese chronicles'
)
_AUXILIARY = "is|was|are|were|has|had|can|will|must|may"
_BROKEN = re.compile(r"[\n\r\t|()\[\]{}<>*#=\"\u201c\u201d;:]")  # no plain sentence: a table, a list, a quotation
# lines of prose, or justified ones; others begin something new
_WRAPPED = re.compile(r"[ \t]*\n[ \t]*(?=[a-z\d])| {2,}")
_UNCLEAR = re.compile(
    r"(?:It|Its|He|His|She|Her|They|Their|This|That|These|Those|There|Here|We|Our|I|My|You|Your|But|And|Or|So|Both|"
    r"Such|One|Another|Other|Others|Some|Many|Most|Also|However|Then|Thus|If|When|While|Although|As|In|On|At|By|For|"
    r"From|After|Before|During|Since|Until|With|To)\b"
)
_SUBJECT = re.compile(rf"(?P<subject>[^,]+?) (?P<auxiliary>{_AUXILIARY}) (?P<rest>.+)\Z")
_SECOND_CLAUSE = re.compile(r", (?:and|but|or|so|though|although)\b| (?:that|which|who|whom|whose|where|when|while)\b")
_COMMON_WORD = re.compile(r"(?:The|A|An|Each|Every|All|Any)\b")


@dataclass(frozen=True, slots=True)
class SentenceQuestion:
    """A question, its answer as the document writes it but on one line, and the sentence that it comes from."""

    question: str
    answer: str
    kind: Kind
    document: str
    sentence: TextSpan


@dataclass(frozen=True, slots=True)
class _Rule:
    """Text that answers a question word.

    Attributes:
        replaced: Matches what the question leaves out; its group `answer` is the answer.
        asks: The question word, with `{unit}` if the pattern has that group.
    """

    kind: Kind
    replaced: re.Pattern[str]
    asks: str


_RULES = (
    _Rule("date", re.compile(rf" (?:in|on|since|until) (?P<answer>{_DATE})(?![\w%-]|, ?\d)"), "when"),
    _Rule(
        "number", re.compile(r" (?P<answer>\d[\d.,]*\d|\d)(?: (?P<unit>[a-z]{3,}s|metres|euros)\b)"), "how many {unit}"
    ),
    _Rule("name", re.compile(rf" by (?P<answer>(?!{_MONTH}){_NAME}){_AFTER_NAME}"), "by whom"),
    _Rule("name", re.compile(rf" (?:in|near) (?P<answer>(?!{_MONTH}){_NAME}){_AFTER_NAME}"), "where"),
)
_DEFINITION = re.compile(
    r"(?P<subject>[^,]+?) (?P<auxiliary>is|was|are|were) (?P<answer>(?:an?|the) [^,.]{12,80}?)(?=,|\.\Z)"
)


def sentence_questions(document: Document, characters: int = READ_CHARACTERS) -> Iterator[SentenceQuestion]:
    """At most one question of each kind for each plain sentence of the first `characters` of a document."""
    text = document.text[:characters]
    for span in sentence_spans(text):
        sentence = _WRAPPED.sub(" ", text[span.start : span.end])
        if not _is_plain(sentence):
            continue
        asked: set[Kind] = set()
        for kind, question, answer in _about(sentence):
            if kind not in asked:
                asked.add(kind)
                yield SentenceQuestion(question, answer, kind, document.id, span)


def _is_plain(sentence: str) -> bool:
    return (
        _SHORTEST <= len(sentence) <= _LONGEST
        and sentence[0].isupper()
        and sentence.endswith(".")
        and _BROKEN.search(sentence) is None
        and _SECOND_CLAUSE.search(sentence) is None
        and _UNCLEAR.match(sentence) is None
    )


def _about(sentence: str) -> Iterator[tuple[Kind, str, str]]:
    for rule in _RULES:
        for found in rule.replaced.finditer(sentence):
            if sentence.count(found["answer"]) == 1:
                yield rule.kind, _asked(sentence, found, rule.asks), found["answer"]
    if (defined := _DEFINITION.match(sentence)) and _is_short(defined["subject"]):
        yield "definition", f"What {defined['auxiliary']} {_within(defined['subject'])}?", defined["answer"]


def _asked(sentence: str, found: re.Match[str], asks: str) -> str:
    """The sentence as a question: 'When was the tower opened?', or without an auxiliary 'The lease ends when?'."""
    words = asks.format(**found.groupdict()) if "{" in asks else asks
    parts = _SUBJECT.match(sentence)
    if parts is None or not _is_short(parts["subject"]) or found.start() < parts.end("auxiliary"):
        return f"{sentence[: found.start()]} {words}{sentence[found.end() : -1]}?"
    begin = parts.start("rest")
    rest = sentence[begin : max(found.start(), begin)] + sentence[found.end() : -1]
    return _spaced(f"{words.capitalize()} {parts['auxiliary']} {_within(parts['subject'])} {rest}?")


def _spaced(question: str) -> str:
    return re.sub(r" +(?=[ ,?])|,(?=\?)", "", question)


def _is_short(subject: str) -> bool:
    return len(subject.split()) <= _LONGEST_SUBJECT


def _within(subject: str) -> str:
    """A subject as it is written within a sentence."""
    return subject[0].lower() + subject[1:] if _COMMON_WORD.match(subject) else subject
