"""Open-domain question answering: every question is asked of a whole collection (paper, section 6)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from densephrases.data.matching.gold_answers import gold_answers_of, squeeze
from densephrases.data.questions import OpenQuestion
from densephrases.evaluate.answerable import answerable
from densephrases.evaluate.retrieval import Ranking, RetrievalScores, require_measures, retrieval_scores
from densephrases.index.kinds import DEFAULT_EFFORT
from densephrases.search.answers import Answer
from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.request import SearchRequest, Unit
from densephrases.text.normalize import normalize_answer

CUTOFFS = (1, 5, 10, 20, 100)
ASKED_AT_ONCE = 256

Advance = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenOptions:
    """How questions are asked.

    Attributes:
        k: Results of each question.
        unit: What counts as a different result; what is judged is always the best phrase in it.
        truecase: Whether questions without capitals get them, if the model knows them.
        effort: Of the search.
        lexical_weight: Weight of lexical overlap; None takes the model's.
        candidates: Normal forms of what may be an answer; other phrases are passed over. None allows any.
    """

    k: int = 100
    unit: Unit = "phrase"
    truecase: bool = True
    effort: float = DEFAULT_EFFORT
    lexical_weight: float | None = None
    candidates: frozenset[str] | None = None

    def __post_init__(self) -> None:
        SearchRequest(
            k=self.k, unit=self.unit, effort=self.effort, lexical_weight=self.lexical_weight
        )  # refuses what cannot be asked before the text is read

    @property
    def cutoffs(self) -> list[int]:
        return [k for k in CUTOFFS if k <= self.k]


@dataclass(frozen=True, slots=True)
class OpenJudgement:
    """What became of a question: the rank of its first right result, counted from 1, and F1 of its first result."""

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
    """Percentages of all questions, but for counts. Exact match cannot exceed the ceiling.

    `answerable` counts the questions with an answer in the collection; the ceiling is their share. Without answers
    in the file only documents are judged.
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
    def from_judgements(cls, judged: Sequence[OpenJudgement], options: OpenOptions) -> "OpenScores":
        def percent(values: Iterable[float]) -> float:
            return 100 * sum(values) / len(judged)

        with_answers = any(j.question.answers for j in judged)
        matches = {str(k): percent(j.rank is not None and j.rank <= k for j in judged) for k in options.cutoffs}
        possible = sum(j.answerable for j in judged)
        return cls(
            questions=len(judged),
            answerable=possible,
            ceiling=percent(j.answerable for j in judged),
            exact_match=matches["1"] if with_answers else None,
            f1=percent(j.f1 for j in judged) if with_answers else None,
            exact_match_of_answerable=matches["1"] * len(judged) / possible if possible else None,
            exact_match_at=matches if with_answers else {},
            passages=_passage_scores(judged, options) if with_answers else None,
            documents=_document_scores(judged, options),
        )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def _passage_scores(judged: Sequence[OpenJudgement], options: OpenOptions) -> RetrievalScores:
    return retrieval_scores([j.passages for j in judged], options.cutoffs, complete=False)


def _document_scores(judged: Sequence[OpenJudgement], options: OpenOptions) -> RetrievalScores:
    known = all(j.question.documents for j in judged)
    return retrieval_scores([j.documents for j in judged], options.cutoffs, complete=known)


def ask_collection(
    index: PhraseIndex,
    questions: Sequence[OpenQuestion],
    options: OpenOptions,
    read: Advance = lambda _: None,
    asked: Advance = lambda _: None,
) -> Iterator[OpenPrediction]:
    """What the index says to each question; `read` is told of passages searched for answers, `asked` of questions."""
    require_measures()
    possible = answerable_with(index, questions, options, read)
    for first in range(0, len(questions), ASKED_AT_ONCE):
        batch = questions[first : first + ASKED_AT_ONCE]
        found = index.search(
            [q.text for q in batch],
            k=options.k,
            unit=options.unit,
            effort=options.effort,
            lexical_weight=options.lexical_weight,
            truecase=options.truecase,
        )
        squeezed: dict[str, str] = {}
        for number, (question, answers) in enumerate(zip(batch, found, strict=True), start=first):
            allowed = [a for a in answers if _is_allowed(a, options)]
            judgement = _judge(question, allowed, number in possible, index.encoder.config.max_words, squeezed)
            yield OpenPrediction(judgement, allowed)
        asked(len(batch))


def answerable_with(
    index: PhraseIndex, questions: Sequence[OpenQuestion], options: OpenOptions, read: Advance
) -> set[int]:
    """The questions that can be answered; if not every phrase may be an answer, by one that may."""
    wanted = options.candidates
    if wanted is not None:
        questions = [
            q if q.regex else replace(q, answers=tuple(a for a in q.answers if normalize_answer(a) in wanted))
            for q in questions
        ]
    return answerable(index.folder, questions, index.encoder.config.max_words, read)


def _is_allowed(answer: Answer, options: OpenOptions) -> bool:
    return options.candidates is None or normalize_answer(answer.phrase.text) in options.candidates


def _judge(
    question: OpenQuestion, answers: Sequence[Answer], possible: bool, max_words: int, squeezed: dict[str, str]
) -> OpenJudgement:
    golds = gold_answers_of(question, max_words)
    rank = next((rank for rank, answer in enumerate(answers, start=1) if golds.right(answer.phrase.text)), None)
    passages: dict[tuple[str, int], bool] = {}
    documents: dict[str, bool] = {}
    for answer in answers:
        place = answer.document.id, answer.passage_start
        if place not in passages:
            if answer.passage not in squeezed:
                squeezed[answer.passage] = squeeze(answer.passage)
            passages[place] = golds.occur_in(answer.passage, squeezed[answer.passage])
        documents[answer.document.id] = documents.get(answer.document.id, False) or passages[place]
    return OpenJudgement(
        question,
        possible,
        rank,
        golds.f1(answers[0].phrase.text) if answers else 0.0,
        Ranking(tuple(map(int, passages.values()))),
        _document_ranking(question, documents),
    )


def _document_ranking(question: OpenQuestion, documents: dict[str, bool]) -> Ranking:
    """By the documents that are known to be relevant, or, if none is, by whether a found passage has an answer."""
    if not question.documents:
        return Ranking(tuple(map(int, documents.values())))
    missed = [grade for document, grade in question.documents.items() if document not in documents]
    return Ranking(tuple(question.documents.get(document, 0) for document in documents), tuple(missed))
