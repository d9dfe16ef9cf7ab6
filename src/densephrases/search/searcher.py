"""From questions to answers: encode, search pairs, select results, compute confidences."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, zip_longest
from typing import Self

from densephrases.errors import ConfigError
from densephrases.index.cancellation import Check, go_on
from densephrases.index.snapshot import Snapshot
from densephrases.model.encoder import Encoder, QuestionVectors
from densephrases.search.answers import Answer
from densephrases.search.auto.by_form import answers_by_form
from densephrases.search.confidence import RIVALS, Calibration
from densephrases.search.deadline import Deadline
from densephrases.search.explain.evidence import AskedTerms, Surroundings
from densephrases.search.explain.score_parts import explanation_of, score_parts
from densephrases.search.passages import PassageTexts
from densephrases.search.query.identifier_words import identifiers_of
from densephrases.search.ranking.contenders import CONTENDERS, Contenders
from densephrases.search.ranking.identifiers import IDENTIFIED, ranked_by_identifiers
from densephrases.search.ranking.linear import PhraseRanking
from densephrases.search.request import SearchRequest, checked_questions
from densephrases.search.results import Result, results_from_phrases
from densephrases.search.retrieval.retriever import Aim, Retriever, Scope
from densephrases.search.retrieval.segment_retriever import SegmentRetriever
from densephrases.search.scoring.lexical import QuestionTerms
from densephrases.search.scoring.pairs import Phrases
from densephrases.search.scoring.windows import Queries
from densephrases.search.selection.overlaps import best_of_places, may_overlap, merged
from densephrases.search.timings import Timings
from densephrases.search.verification.requested import RequestedVerification

QUESTIONS_AT_ONCE = 64  # a few thousand phrases are scored for each, so that a batch takes about 50 MB


class Searcher:
    """Answers questions from one state of a collection; any number of threads may search at once."""

    def __init__(
        self,
        retriever: Retriever,
        encoder: Encoder,
        calibration: Calibration | None = None,
        ranking: PhraseRanking | None = None,
    ) -> None:
        if encoder.config.split:
            raise ConfigError("The model has split=True, whose scores are no sums of two; search with another model.")
        self.retriever = retriever
        self._encoder = encoder
        self._calibration = calibration
        self._ranking = ranking
        self.verification = RequestedVerification(encoder, calibrated=calibration is not None)

    @classmethod
    def from_snapshot(
        cls,
        index: Snapshot,
        encoder: Encoder,
        calibration: Calibration | None = None,
        ranking: PhraseRanking | None = None,
    ) -> Self:
        """Searches the segments of one state of an index."""
        return cls(SegmentRetriever(index), encoder, calibration, ranking)

    def search(
        self,
        questions: Sequence[str],
        request: SearchRequest,
        timings: Timings | None = None,
        deadline: Deadline | None = None,
    ) -> list[list[Answer]]:
        """The best distinct answers to each question, best first; fewer only if the collection has fewer."""
        self._check_calibration(request)
        self.verification.refuse_unfit(request)
        several = checked_questions(questions)
        timings = timings or Timings()
        check = go_on if deadline is None else deadline.check
        with timings.measured("total"):
            if self.verification.passages(request):
                self._encoder.open_ahead(reading=True)
            if request.unit != "auto":
                return self._in_batches(several, request, timings, check)
            search = partial(self._in_batches, timings=timings, check=check)
            return answers_by_form(several, request, search, lambda query: self.retriever.named_documents(query))

    def _in_batches(
        self, questions: Sequence[str], request: SearchRequest, timings: Timings, check: Check
    ) -> list[list[Answer]]:
        """Questions with identifiers apart from the others, since more phrases of them are compared."""
        scope = self.retriever.scope(request.filter, check)
        answers: dict[int, list[Answer]] = {}
        identified = [bool(identifiers_of(question)) for question in questions]
        for kind in (False, True):
            places = [place for place, each in enumerate(identified) if each == kind]
            for first in range(0, len(places), QUESTIONS_AT_ONCE):
                some = places[first : first + QUESTIONS_AT_ONCE]
                found = self._batch([questions[place] for place in some], scope, request, timings, check)
                answers.update(zip(some, found, strict=True))
        return [answers[place] for place in range(len(questions))]

    @property
    def truecases(self) -> bool:
        """Whether capitals of questions are restored: only if the model distinguishes case."""
        return self._encoder.tokens.cased

    def truecased(self, questions: Sequence[str]) -> list[str]:
        """Questions as the model encodes them; training uses the same."""
        if not self.truecases or all(question != question.lower() for question in questions):
            return list(questions)
        return [self.retriever.truecaser(question) for question in questions]

    def _check_calibration(self, request: SearchRequest) -> None:
        if request.min_confidence > 0 and self._calibration is None:
            raise ConfigError(
                f"min_confidence={request.min_confidence} needs a model with a calibration, which this one lacks; "
                "leave it at 0 or use another model."
            )

    def contenders(self, questions: Sequence[str], request: SearchRequest) -> tuple[Contenders, QuestionTerms | None]:
        """The first phrases of each question before the final ranking, and the terms of the questions, to fit it."""
        request = replace(request, k=CONTENDERS, overlapping=True)
        scope = self.retriever.scope(request.filter)
        found = self._found(checked_questions(questions), scope, request, Timings(), go_on)
        ranked = ranked_by_identifiers(questions, found.phrases, found.texts)
        heads = [phrases.take(slice(CONTENDERS)) for phrases in ranked]
        return Contenders.from_phrases(heads, found.terms, found.texts), found.terms

    def _batch(
        self,
        questions: Sequence[str],
        scope: Scope,
        request: SearchRequest,
        timings: Timings,
        check: Check,
    ) -> list[list[Answer]]:
        found = self._found(questions, scope, request, timings, check)
        phrases = ranked_by_identifiers(questions, found.phrases, found.texts)
        if self._ranking is not None:
            phrases = self._ranking.ranked(phrases, found.terms, found.texts)
        asked = self._asked_terms(questions, scope) if request.explain or self._weighs_evidence else []
        results = self._results(phrases, found.texts, request)
        answers = [self._answers(*each, request) for each in zip_longest(results, phrases, asked)]
        if request.explain:
            answers = self._explained(asked, answers, results, phrases, found)
        if verify := self.verification.passages(request):
            with timings.measured("verification"):
                answers = self.verification.verifier(found.asked, answers, verify, check)
        return [_shown(each, request) for each in answers]

    def _found(
        self, questions: Sequence[str], scope: Scope, request: SearchRequest, timings: Timings, check: Check
    ) -> "_Found":
        check()
        exact = scope.exact if request.exact is None else request.exact  # opens the candidates
        asked = self.truecased(questions) if request.truecase else questions
        with timings.measured("encode"):
            vectors = self._encoder.encode_questions(asked)
        check()
        terms = self._terms(questions, request)
        aim = Aim(
            unit=request.result_unit,
            wanted=self._wanted(questions, scope, request),
            apart=self._apart(request),
            exact=exact,
            effort=request.effort,
            length_penalty=self._encoder.config.length_penalty,
        )
        queries = Queries(vectors.start_BD, vectors.end_BD, terms)
        found = scope.retrieve(questions, queries, aim, timings, check)
        return _Found(asked, vectors, found.phrases, terms, found.texts)

    def _terms(self, questions: Sequence[str], request: SearchRequest) -> QuestionTerms | None:
        """Of the questions as typed: terms ignore case."""
        weight = self._encoder.config.lexical_weight if request.lexical_weight is None else request.lexical_weight
        return QuestionTerms.from_questions(questions, self.retriever.term_weights, weight) if weight else None

    def _wanted(self, questions: Sequence[str], scope: Scope, request: SearchRequest) -> int:
        """At least what is ranked again, verified and compared by confidence, but not more than the collection has."""
        compared = (
            0 if self._calibration is None else RIVALS,
            0 if self._ranking is None else CONTENDERS,
            IDENTIFIED if any(map(identifiers_of, questions)) else 0,
            self.verification.results(request),
            CONTENDERS if self._apart(request) else 0,  # alternatives do not depend on the model
        )
        wanted = max(request.k, *compared)
        if request.unit == "passage":
            return min(wanted, scope.passages)
        return min(wanted, scope.documents) if request.unit == "document" else wanted

    @staticmethod
    def _apart(request: SearchRequest) -> int:
        """Places that results must have; 0 if results that overlap are results of their own."""
        return request.k if may_overlap(request.result_unit) and not request.overlapping else 0

    def _results(self, found: Sequence[Phrases], texts: PassageTexts, request: SearchRequest) -> list[list[Result]]:
        """Of all questions at once: a lookup takes about as long for ten phrases as for hundreds."""
        count = None if self._apart(request) else max(request.k, self.verification.results(request))
        taken = [phrases.take(slice(count)) for phrases in found]
        results = iter(results_from_phrases(Phrases.joined(taken), texts))
        return [list(islice(results, len(each))) for each in taken]

    @property
    def _weighs_evidence(self) -> bool:
        return self._calibration is not None and self._calibration.weighs_evidence

    def _answers(
        self, results: Sequence[Result], found: Phrases, asked: AskedTerms | None, request: SearchRequest
    ) -> list[Answer]:
        """The results of a question with their confidences, without those that overlap unless these are needed yet."""
        unit, confidences = request.result_unit, self._confidences(results, found, asked)
        if request.overlapping or request.explain or self.verification.passages(request):
            return [result.answer(unit, sure) for result, sure in zip(results, confidences, strict=True)]
        places = best_of_places([result.shown(unit) for result in results])
        return [
            results[row].answer(unit, confidences[row], [results[other].alternative(unit) for other in others])
            for row, others in islice(places.items(), request.k)
        ]

    def _confidences(
        self, results: Sequence[Result], found: Phrases, asked: AskedTerms | None
    ) -> Sequence[float | None]:
        """Of each result; without the terms of the question there is no evidence."""
        if self._calibration is None:
            return [None] * len(results)
        evidence = [] if asked is None else [asked.evidence(_surroundings(result)) for result in results[:RIVALS]]
        return list(self._calibration.probability(found.score_N, evidence)[: len(results)].tolist())

    def _asked_terms(self, questions: Sequence[str], scope: Scope) -> list[AskedTerms]:
        idf_V, known_V = self.retriever.term_weights.idf_V, scope.known_V
        return [AskedTerms(question, idf_V, known_V) for question in questions]

    def _explained(
        self,
        asked: Sequence[AskedTerms],
        answers: Sequence[Sequence[Answer]],
        results: Sequence[Sequence[Result]],
        ranked: Sequence[Phrases],
        found: "_Found",
    ) -> list[list[Answer]]:
        explained = []
        for number, several in enumerate(answers):
            before, after = found.phrases[number], ranked[number]
            parts = score_parts(before, after.take(slice(len(several))), found.vectors, number, found.texts)
            rows = zip(map(_surroundings, results[number]), parts, strict=True)
            reasons = [explanation_of(around, each, asked[number]) for around, each in rows]
            explained.append([replace(a, explanation=why) for a, why in zip(several, reasons, strict=True)])
        return explained


def _surroundings(result: Result) -> Surroundings:
    passage = result.passage
    return Surroundings(passage.searched, result.sentences, passage.titles(result.phrase.start))


def _shown(answers: Sequence[Answer], request: SearchRequest) -> list[Answer]:
    distinct = answers if request.overlapping else merged(answers)
    sure = (a for a in distinct[: request.k] if a.confidence is None or a.confidence >= request.min_confidence)
    return list(sure)


@dataclass(frozen=True, slots=True)
class _Found:
    """Questions as they were encoded, the results of each, best first, the terms of all, and the passages."""

    asked: Sequence[str]
    vectors: QuestionVectors
    phrases: Sequence[Phrases]
    terms: QuestionTerms | None
    texts: PassageTexts
