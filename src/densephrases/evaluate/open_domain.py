"""Open-domain question answering: every question is asked of a whole index (paper, section 6)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from densephrases.data.matching.gold_answers import gold_answers_of, squeeze
from densephrases.data.questions import OpenQuestion
from densephrases.evaluate.answerable import answerable
from densephrases.evaluate.retrieval import Ranking, RetrievalScores, retrieval_scores
from densephrases.search.answers import Answer
from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.request import SearchRequest
from densephrases.text.normalize import normalize_answer

CUTOFFS = (1, 5, 10, 20, 100)
ASKED_AT_ONCE = 256

Advance = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class OpenJudgement:
    """A question's results compared with its gold answers.

    Attributes:
        answerable: Whether the text of the index has an answer.
        rank: Of the first right result, from 1; None if there is none.
        f1: Of the first result.
        passages: Relevance of the passages that the results come from.
        documents: Relevance of their documents.
    """

    question: OpenQuestion
    answerable: bool
    rank: int | None
    f1: float
    passages: Ranking
    documents: Ranking


@dataclass(frozen=True, slots=True)
class OpenPrediction:
    judgement: OpenJudgement
    answers: list[Answer]


@dataclass(frozen=True, slots=True)
class OpenScores:
    """Counts, and percentages of all questions. If the file has no answers, only documents are judged.

    Attributes:
        answerable: Number of questions with an answer in the text of the index.
        ceiling: Their percentage; exact match cannot exceed it.
    """

    questions: int
    answerable: int
    ceiling: float
    exact_match: float | None
    f1: float | None
    exact_match_of_answerable: float | None
    exact_match_at: dict[str, float]
    passages: RetrievalScores | None
    documents: RetrievalScores

    @classmethod
    def from_judgements(cls, judged: Sequence[OpenJudgement], k: int) -> "OpenScores":
        """Of questions that were asked for k results each."""

        def percent(values: Iterable[float]) -> float:
            return 100 * sum(values) / len(judged)

        cutoffs = [cutoff for cutoff in CUTOFFS if cutoff <= k]
        known_documents = all(j.question.documents for j in judged)
        with_answers = any(j.question.answers for j in judged)
        matches = {str(cutoff): percent(j.rank is not None and j.rank <= cutoff for j in judged) for cutoff in cutoffs}
        possible = sum(j.answerable for j in judged)
        return cls(
            questions=len(judged),
            answerable=possible,
            ceiling=percent(j.answerable for j in judged),
            exact_match=matches["1"] if with_answers else None,
            f1=percent(j.f1 for j in judged) if with_answers else None,
            exact_match_of_answerable=matches["1"] * len(judged) / possible if possible else None,
            exact_match_at=matches if with_answers else {},
            passages=retrieval_scores([j.passages for j in judged], cutoffs, complete=False) if with_answers else None,
            documents=retrieval_scores([j.documents for j in judged], cutoffs, complete=known_documents),
        )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def ask_collection(
    index: PhraseIndex,
    questions: Sequence[OpenQuestion],
    request: SearchRequest,
    candidates: frozenset[str] | None = None,
    read: Advance = lambda _: None,
    asked: Advance = lambda _: None,
) -> Iterator[OpenPrediction]:
    """The results of each question, overlapping ones apart. Whatever the unit, the best phrase of a result is judged.

    Args:
        candidates: Normalised phrases that may be answers; results with other phrases are dropped. None allows all.
        read: Called with the number of further passages that were searched for gold answers.
        asked: Called with the number of further questions that were asked.
    """
    possible = answerable_with(index, questions, candidates, read)
    for first in range(0, len(questions), ASKED_AT_ONCE):
        batch = questions[first : first + ASKED_AT_ONCE]
        found = index.search([q.text for q in batch], request=replace(request, overlapping=True))
        squeezed: dict[str, str] = {}
        for number, (question, answers) in enumerate(zip(batch, found, strict=True), start=first):
            allowed = [a for a in answers if candidates is None or normalize_answer(a.phrase.text) in candidates]
            judgement = _judge(question, allowed, number in possible, index.encoder.config.max_words, squeezed)
            yield OpenPrediction(judgement, allowed)
        asked(len(batch))


def answerable_with(
    index: PhraseIndex, questions: Sequence[OpenQuestion], candidates: frozenset[str] | None, read: Advance
) -> set[int]:
    """Numbers of the questions with an answer in the text that is one of the candidates."""
    if candidates is not None:
        questions = [
            q if q.regex else replace(q, answers=tuple(a for a in q.answers if normalize_answer(a) in candidates))
            for q in questions
        ]
    return answerable(index.folder, questions, index.encoder.config.max_words, read)


def _judge(
    question: OpenQuestion, answers: Sequence[Answer], possible: bool, max_words: int, squeezed: dict[str, str]
) -> OpenJudgement:
    gold = gold_answers_of(question, max_words)
    rank = next((rank for rank, answer in enumerate(answers, start=1) if gold.right(answer.phrase.text)), None)
    passages: dict[tuple[str, int], bool] = {}
    documents: dict[str, bool] = {}
    for answer in answers:
        passage = answer.document.id, answer.passage_start
        if passage not in passages:
            if answer.passage not in squeezed:
                squeezed[answer.passage] = squeeze(answer.passage)
            passages[passage] = gold.occur_in(answer.passage, squeezed[answer.passage])
        documents[answer.document.id] = documents.get(answer.document.id, False) or passages[passage]
    return OpenJudgement(
        question,
        possible,
        rank,
        gold.f1(answers[0].phrase.text) if answers else 0.0,
        Ranking(tuple(map(int, passages.values()))),
        _document_ranking(question, documents),
    )


def _document_ranking(question: OpenQuestion, documents: dict[str, bool]) -> Ranking:
    """Grades of the file; if it names no relevant document, whether a found passage has an answer."""
    if not question.documents:
        return Ranking(tuple(map(int, documents.values())))
    missed = [grade for document, grade in question.documents.items() if document not in documents]
    return Ranking(tuple(question.documents.get(document, 0) for document in documents), tuple(missed))
