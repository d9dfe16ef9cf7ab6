"""Which questions an index can answer at all: those with a gold answer somewhere in its text."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from densephrases.data.matching.answer_scan import AnswerScanner, PatternScanner
from densephrases.data.matching.regex_answers import PatternAnswer
from densephrases.data.questions import OpenQuestion
from densephrases.index.folder import IndexFolder

_TEXTS_AT_ONCE = 2000


def answerable(
    index: IndexFolder,
    questions: Sequence[OpenQuestion],
    max_words: int,
    advance: Callable[[int], None] = lambda _: None,
) -> set[int]:
    """Numbers of the questions for which some phrase of some passage is an exact match: the ceiling of exact match.

    Reads all passages once. `advance` is called with the number of further passages read.
    """
    texts = AnswerScanner((n, answer) for n, q in enumerate(questions) if not q.regex for answer in q.answers)
    patterns = PatternScanner(
        [(n, PatternAnswer(source)) for n, q in enumerate(questions) if q.regex for source in q.answers], max_words
    )
    remaining = live_passages(index)
    while passages := list(islice(remaining, _TEXTS_AT_ONCE)):
        for passage in passages:
            texts.scan(passage)
        patterns.scan(passages)
        advance(len(passages))
    return texts.found | patterns.found


def live_passages(index: IndexFolder) -> Iterator[str]:
    """The texts of all passages whose documents are not deleted."""
    for segment, deleted in zip(index.segments, index.deleted, strict=True):
        for passage, document in enumerate(segment.passage_documents.tolist()):
            if deleted is None or not deleted[document]:
                yield segment.passage_text(passage)
