"""Questions to begin with: those of the index's owner, or such as its titles suggest and its text answers."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from densephrases.search.answers import Answer
from densephrases.search.phrase_index import PhraseIndex
from densephrases.text.documents import Document
from densephrases.text.readers.files import UNREADABLE, read_text

EXAMPLES_FILE = "examples.txt"  # beside the manifest, a question a line
SHOWN = 6
SURE = 0.5
_DOCUMENTS = 64  # from all over the index
_ASKED = 64  # which is one batch
_OF_A_KIND = 2
_READ = 20_000  # characters of a document in which its title and the words of a question are looked for
_LONGEST_TITLE = 40


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of question.

    Attributes:
        question: About a name, `{0}`, with the word that the text uses, `{1}`.
        evidence: What in a text leads to the question, and holds its answer.
        answer: What must stand in an answer.
    """

    question: str
    evidence: str
    answer: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question about a document, and the characters of its text in which the answer should stand."""

    question: str
    kind: Kind
    document: str
    start: int
    end: int


_YEAR, _NUMBER, _NAME = re.compile(r"\d{3}"), re.compile(r"\d"), re.compile(r"[^\W\d_a-z]")
_SUBJECT = r"(?:\A|[.\n]\s?)(?:the )?{0}(?: \([^)]*\))?,?"  # of a sentence: of other places nothing is certain
_BE = r"(?:was|were)(?: \w+){{0,2}}"
_MADE = "designed|built|invented|discovered|founded|written|painted|composed"
_DONE = f"{_MADE}|born|launched|opened|published|completed|released"
_KINDS = (
    Kind("When was {0} born?", r"\A[^()]{{0,120}}\([^()]*?(\d{{3,4}})\s?[\u2013-][^()]*\) (?:was|is) an? ", _YEAR),
    Kind("When was {0} {1}?", rf"{_SUBJECT} {_BE} ({_DONE})\b[^.]*", _YEAR),
    Kind("Where was {0} {1}?", rf"{_SUBJECT} {_BE} (born)(?: on [\w ]+,?)? (?:in|at) [^.]*", _NAME),
    Kind("Who {1} {0}?", rf"{_SUBJECT} {_BE} ({_MADE}) by [^.]*", _NAME),
    Kind("How {1} is {0}?", rf"{_SUBJECT} (?:is|has|reaches)\b[^.]*?\d[^.]*?\b(high|tall|deep|long|wide)\b", _NUMBER),
    Kind("Where is {0}?", rf"{_SUBJECT} (?:is|lies|stands) (?:located |situated )?(in|on|near|between)\b[^.]*", _NAME),
    Kind("When did {0} die?", rf"{_SUBJECT} (died)\b[^.]*", _YEAR),
)


def given_examples(index: PhraseIndex) -> list[str]:
    """The questions that the index's owner has written beside it; none if there is no file that can be read."""
    try:
        lines = [line.strip() for line in read_text(index.folder.folder / EXAMPLES_FILE).splitlines()]
    except UNREADABLE:
        return []
    return [line for line in lines if line and not line.startswith("#")]


def candidates(index: PhraseIndex) -> list[Candidate]:
    """Questions worth a try, those of rare kinds first: what many documents tell is less telling."""
    found = [each for document in _documents(index) for each in _about(document)]
    kinds = Counter(each.kind for each in found)
    return sorted(found, key=lambda each: kinds[each.kind])[:_ASKED]


def chosen(tried: Sequence[tuple[Candidate, Answer]]) -> list[str]:
    """The questions whose answers hold, the surest first; no document twice, and of each kind a few."""
    kinds: Counter[Kind] = Counter()
    documents: set[str] = set()
    questions = []
    for candidate, answer in sorted(tried, key=lambda each: -(each[1].confidence or 0)):
        if holds(candidate, answer) and candidate.document not in documents and kinds[candidate.kind] < _OF_A_KIND:
            kinds[candidate.kind] += 1
            documents.add(candidate.document)
            questions.append(candidate.question)
    return questions[:SHOWN]


def holds(candidate: Candidate, answer: Answer) -> bool:
    """Whether it stands where the question came from, is of the right sort, and the model is sure of it."""
    return (
        answer.document.id == candidate.document
        and candidate.start <= answer.start
        and answer.end <= candidate.end
        and (answer.confidence is None or answer.confidence >= SURE)
        and candidate.kind.answer.search(answer.text) is not None
        and _without_note(answer.document.title).lower() not in answer.text.lower()
    )


def _documents(index: PhraseIndex) -> Iterator[Document]:
    """Some that have a title, at equal distances."""
    segments = index.folder.segments
    edges = np.cumsum([0, *(segment.documents for segment in segments)])
    for place in np.unique(np.linspace(0, edges[-1] - 1, min(_DOCUMENTS, edges[-1]), dtype=np.int64)).tolist():
        number = int(np.searchsorted(edges, place, side="right")) - 1
        deleted = index.folder.deleted[number]
        document = place - int(edges[number])
        if deleted is None or not deleted[document]:
            yield segments[number].document(document)


def _about(document: Document) -> Iterator[Candidate]:
    title = _without_note(document.title)
    if not 0 < len(title) <= _LONGEST_TITLE:
        return
    text = document.text[:_READ]
    for kind in _KINDS:
        found = re.search(kind.evidence.format(re.escape(title)), text, re.IGNORECASE)
        if found is not None:
            question = kind.question.format(_name_in(text, title), found[1].lower())
            yield Candidate(question, kind, document.id, found.start(), found.end())


def _without_note(title: str) -> str:
    """Encyclopaedias tell namesakes apart: 'Europa (moon)'."""
    return re.sub(r"\s*\(.*\)$", "", title).strip()


def _name_in(text: str, title: str) -> str:
    """As the text itself writes it within a sentence, for example 'the violin'."""
    forms = re.findall(rf"(?<=[a-z,;] )(?:the |(?<![Tt]he ))(?i:{re.escape(title)})(?!\w| [A-Z])", text)
    return Counter(forms).most_common(1)[0][0] if forms else title
