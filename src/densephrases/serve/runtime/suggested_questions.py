"""What to suggest to a user: questions of the index's owner, or made from documents and checked by a search; titles."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from densephrases.data.generated.sentence_questions import sentence_questions
from densephrases.search.answering_index import AnsweringIndex
from densephrases.search.answers import Answer
from densephrases.text.documents import Document
from densephrases.text.readers.files import UNREADABLE, read_text

SUGGESTIONS_FILE = "examples.txt"  # beside the manifest, one question per line
SHOWN = 6
MIN_CONFIDENCE = 0.5
_SAMPLED_DOCUMENTS = 64  # evenly spread over the index
_SEARCHED_QUESTIONS = 64  # one batch
_PER_PATTERN = 2
_READ_CHARACTERS = 20_000  # of each sampled document
_LONGEST_TITLE = 40
_LONGEST_QUESTION = 90  # characters, of those made from a sentence


@dataclass(frozen=True, slots=True)
class QuestionPattern:
    """A template for questions.

    Attributes:
        question: With the subject's name, `{0}`, and the word matched in the text, `{1}`.
        evidence: Regular expression for the text that prompts the question and contains its answer.
        answer: Must match within an answer.
    """

    question: str
    evidence: str
    answer: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class CandidateQuestion:
    """A question about a document, and the span of its text that should contain the answer."""

    question: str
    pattern: QuestionPattern
    document: str
    start: int
    end: int


_QUESTION_WORDS = ("When", "Where", "What", "How", "By")
_YEAR, _NUMBER, _NAME = re.compile(r"\d{3}"), re.compile(r"\d"), re.compile(r"[^\W\d_a-z]")
_SUBJECT = r"(?:\A|[.\n]\s?)(?:the )?{0}(?: \([^)]*\))?,?"  # as the subject of a sentence
_BE = r"(?:was|were)(?: \w+){{0,2}}"
_MADE = "designed|built|invented|discovered|founded|written|painted|composed"
_DONE = f"{_MADE}|born|launched|opened|published|completed|released"
_LIFE_DATES = r"\A[^()]{{0,120}}\([^()]*?(\d{{3,4}})\s?[\u2013-][^()]*\) (?:was|is) an? "
_SIZE = rf"{_SUBJECT} (?:is|has|reaches)\b[^.]*?\d[^.]*?\b(high|tall|deep|long|wide)\b"
_LOCATION = rf"{_SUBJECT} (?:is|lies|stands) (?:located |situated )?(in|on|near|between)\b[^.]*"
_PATTERNS = (
    QuestionPattern("When was {0} born?", _LIFE_DATES, _YEAR),
    QuestionPattern("When was {0} {1}?", rf"{_SUBJECT} {_BE} ({_DONE})\b[^.]*", _YEAR),
    QuestionPattern("Where was {0} {1}?", rf"{_SUBJECT} {_BE} (born)(?: on [\w ]+,?)? (?:in|at) [^.]*", _NAME),
    QuestionPattern("Who {1} {0}?", rf"{_SUBJECT} {_BE} ({_MADE}) by [^.]*", _NAME),
    QuestionPattern("How {1} is {0}?", _SIZE, _NUMBER),
    QuestionPattern("Where is {0}?", _LOCATION, _NAME),
    QuestionPattern("When did {0} die?", rf"{_SUBJECT} (died)\b[^.]*", _YEAR),
)


def owner_questions(index: AnsweringIndex) -> list[str]:
    """The questions in `SUGGESTIONS_FILE` in the index folder; none if the file is missing or unreadable."""
    try:
        lines = [line.strip() for line in read_text(index.path / SUGGESTIONS_FILE).splitlines()]
    except UNREADABLE:
        return []
    return [line for line in lines if line and not line.startswith("#")]


def candidates(index: AnsweringIndex) -> list[CandidateQuestion]:
    """Questions to search for, those of rare patterns first, for variety; then some made from single sentences."""
    sampled = list(index.sample(_SAMPLED_DOCUMENTS))
    found = [each for document in sampled for each in _about(document)]
    counts = Counter(each.pattern for each in found)
    by_pattern = sorted(found, key=lambda each: counts[each.pattern])
    return [*by_pattern, *_of_sentences(sampled)][:_SEARCHED_QUESTIONS]


def _of_sentences(documents: Sequence[Document]) -> Iterator[CandidateQuestion]:
    """One short question of each document."""
    for document in documents:
        for each in sentence_questions(document):
            if len(each.question) <= _LONGEST_QUESTION and each.question.split()[0] in _QUESTION_WORDS:
                pattern = QuestionPattern(each.kind, "", re.compile(re.escape(each.answer)))
                yield CandidateQuestion(each.question, pattern, document.id, each.sentence.start, each.sentence.end)
                break


def sampled_titles(index: AnsweringIndex) -> list[tuple[str, str]]:
    """Id and title of some documents that have one, from all over the index."""
    found = [(each.id, each.title.strip()) for each in index.sample(_SAMPLED_DOCUMENTS)]
    titled = [each for each in found if each[1]]
    return titled[:: max(len(titled) // SHOWN, 1)][:SHOWN]


def choose(searched: Sequence[tuple[CandidateQuestion, Answer]]) -> list[str]:
    """Questions with correct answers, most confident first; one per document and a few per pattern."""
    counts: Counter[str] = Counter()
    documents: set[str] = set()
    questions = []
    for candidate, answer in sorted(searched, key=lambda each: -(each[1].confidence or 0)):
        if (
            is_correct(candidate, answer)
            and candidate.document not in documents
            and counts[candidate.pattern.question] < _PER_PATTERN
        ):
            counts[candidate.pattern.question] += 1
            documents.add(candidate.document)
            questions.append(candidate.question)
    return questions[:SHOWN]


def is_correct(candidate: CandidateQuestion, answer: Answer) -> bool:
    """Whether the answer is within the span the question came from, matches its pattern, and is confident."""
    return (
        answer.document.id == candidate.document
        and candidate.start <= answer.start
        and answer.end <= candidate.end
        and (answer.confidence is None or answer.confidence >= MIN_CONFIDENCE)
        and candidate.pattern.answer.search(answer.text) is not None
        and not _repeats_title(answer)
    )


def _repeats_title(answer: Answer) -> bool:
    title = _without_note(answer.document.title).lower()
    return bool(title) and title in answer.text.lower()


def _about(document: Document) -> Iterator[CandidateQuestion]:
    title = _without_note(document.title)
    if not 0 < len(title) <= _LONGEST_TITLE:
        return
    text = document.text[:_READ_CHARACTERS]
    for pattern in _PATTERNS:
        found = re.search(pattern.evidence.format(re.escape(title)), text, re.IGNORECASE)
        if found is not None:
            question = pattern.question.format(_name_in(text, title), found[1].lower())
            yield CandidateQuestion(question, pattern, document.id, found.start(), found.end())


def _without_note(title: str) -> str:
    """Without the note that tells namesakes apart, as in 'Europa (moon)'."""
    return re.sub(r"\s*\(.*\)$", "", title).strip()


def _name_in(text: str, title: str) -> str:
    """The title as the text writes it within a sentence, for example 'the violin'."""
    forms = re.findall(rf"(?<=[a-z,;] )(?:the |(?<![Tt]he ))(?i:{re.escape(title)})(?!\w| [A-Z])", text)
    return Counter(forms).most_common(1)[0][0] if forms else title
