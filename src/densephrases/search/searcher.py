"""From questions to answers: encode, search pairs, select results, compute confidences."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from threading import Lock

from densephrases.built_once import BuiltOnce
from densephrases.errors import ConfigError
from densephrases.index.cancellation import Check, go_on
from densephrases.index.snapshot import Snapshot
from densephrases.model.encoder import Encoder, QuestionVectors
from densephrases.search.answers import Answer
from densephrases.search.confidence import RIVALS, Calibration
from densephrases.search.deadline import Deadline
from densephrases.search.explain.evidence import AskedTerms, Evidence
from densephrases.search.explain.score_parts import explanation_of, score_parts
from densephrases.search.filters import Filter
from densephrases.search.passages import PassageTexts, sampled_texts
from densephrases.search.ranking.contenders import CONTENDERS, Contenders
from densephrases.search.ranking.identifiers import identifiers_of
from densephrases.search.ranking.linear import PhraseRanking
from densephrases.search.request import DEFAULT_VERIFY, SearchRequest, Verify, checked_questions
from densephrases.search.results import DistinctResults, answers_from_phrases
from densephrases.search.scoring.lexical import QuestionTerms, TermWeights
from densephrases.search.scoring.pairs import PairSearch, Phrases
from densephrases.search.scoring.searchable import SearchableSegment, exact_candidates, searchable_segments
from densephrases.search.scoring.windows import Queries
from densephrases.search.timings import Timings
from densephrases.search.verification.verifier import RESULTS_PER_PASSAGE, Verifier
from densephrases.search.verification.weights import VerificationWeights
from densephrases.text.truecase import Truecaser

QUESTIONS_AT_ONCE = 64  # a few thousand phrases are scored for each, so that a batch takes about 50 MB
_TRUECASE_CHARACTERS = 10_000_000  # of text are enough to learn the usual case of words, in three seconds
_FILTERS_KEPT = 8  # whose row masks, one byte per row, stay in memory for the next search
_VERIFIED_BYTES = 1 << 26  # of the smallest files, after a search has failed


class Searcher:
    """Answers questions from one state of an index; any number of threads may search at once."""

    def __init__(
        self,
        index: Snapshot,
        encoder: Encoder,
        calibration: Calibration | None = None,
        ranking: PhraseRanking | None = None,
    ) -> None:
        if encoder.config.split:
            raise ConfigError("The model has split=True, whose scores are no sums of two; search with another model.")
        self._index = index
        self._encoder = encoder
        self._calibration = calibration
        self._ranking = ranking
        self._segments: OrderedDict[Filter, list[SearchableSegment]] = OrderedDict()
        self._segments_lock = Lock()

    def search(
        self,
        questions: Sequence[str],
        request: SearchRequest,
        timings: Timings | None = None,
        deadline: Deadline | None = None,
    ) -> list[list[Answer]]:
        """The best distinct answers to each question, best first; fewer only if the collection has fewer."""
        self._check_calibration(request)
        self._check_verification(request)
        several = checked_questions(questions)
        timings = timings or Timings()
        with timings.measured("total"):
            check = go_on if deadline is None else deadline.check
            if self._verify(request):
                self._encoder.open_ahead(reading=True)
            segments = self._segments_for(request.filter, check)
            answers: list[list[Answer]] = []
            for first in range(0, len(several), QUESTIONS_AT_ONCE):
                some = several[first : first + QUESTIONS_AT_ONCE]
                answers += self._batch(some, segments, request, timings, check)
            return answers

    @BuiltOnce
    def damage(self) -> str:
        """A sentence on a file that is not what was written, empty if there is none.

        Only sizes and the smallest files are verified, once: this is asked after a search has failed.
        """
        return next(self._index.problems_of_small_files(_VERIFIED_BYTES), "")

    @property
    def truecases(self) -> bool:
        """Whether capitals of questions are restored: only if the model distinguishes case."""
        return self._encoder.tokens.cased

    def truecased(self, questions: Sequence[str]) -> list[str]:
        """Questions as the model encodes them; training uses the same."""
        if not self.truecases or all(question != question.lower() for question in questions):
            return list(questions)
        return [self._truecaser(question) for question in questions]

    @BuiltOnce
    def _truecaser(self) -> Truecaser:
        return Truecaser.learn(sampled_texts(self._index.segments, _TRUECASE_CHARACTERS))

    def _check_calibration(self, request: SearchRequest) -> None:
        if request.min_confidence > 0 and self._calibration is None:
            raise ConfigError(
                f"min_confidence={request.min_confidence} needs a model with a calibration, which this one lacks; "
                "leave it at 0 or use another model."
            )

    def _check_verification(self, request: SearchRequest) -> None:
        verify = self._verify(request)
        if verify and not self._encoder.config.reads:
            raise ConfigError(
                f"verify={verify!r} needs a model that reads, and that of base '{self._encoder.config.base}' has no "
                "reading head; leave verify at 0 or open the index with another model."
            )
        if verify == "auto" and self._calibration is None:
            raise ConfigError(
                "verify='auto' needs a model with a calibration, which this one lacks; give a number of passages, or "
                "fit confidences with `densephrases tune confidence`."
            )

    def _verify(self, request: SearchRequest) -> Verify:
        """What the request says, or the default; models that do not read have none."""
        if request.verify is not None:
            return request.verify
        reads, sure = self._encoder.config.reads, self._calibration is not None
        return DEFAULT_VERIFY if reads and (sure or DEFAULT_VERIFY != "auto") else 0

    @BuiltOnce
    def _verifier(self) -> Verifier:
        values = self._encoder.config.verification
        weights = VerificationWeights() if values is None else VerificationWeights.from_dict(values)
        return Verifier(self._encoder, weights)

    def _segments_for(self, wanted: Filter, check: Check) -> list[SearchableSegment]:
        """Built outside the lock, so that no other filter waits for a slow one."""
        with self._segments_lock:
            known = self._segments.get(wanted)
        segments = searchable_segments(self._index, wanted, check) if known is None else known
        with self._segments_lock:
            self._segments[wanted] = segments
            self._segments.move_to_end(wanted)
            if len(self._segments) > _FILTERS_KEPT:
                self._segments.popitem(last=False)
        return segments

    def contenders(self, questions: Sequence[str], request: SearchRequest) -> tuple[Contenders, QuestionTerms | None]:
        """The first phrases of each question before the final ranking, and the terms of the questions, to fit it."""
        segments = self._segments_for(request.filter, go_on)
        found = self._found(checked_questions(questions), segments, replace(request, k=CONTENDERS), Timings(), go_on)
        heads = [phrases.take(slice(CONTENDERS)) for phrases in found.phrases]
        return Contenders.from_phrases(heads, found.terms, found.texts), found.terms

    def _batch(
        self,
        questions: Sequence[str],
        segments: list[SearchableSegment],
        request: SearchRequest,
        timings: Timings,
        check: Check,
    ) -> list[list[Answer]]:
        found = self._found(questions, segments, request, timings, check)
        phrases = found.phrases
        if (ranking := self._ranking_of(questions)) is not None:
            phrases = ranking.ranked(questions, phrases, found.terms, found.texts)
        answers = self._answers(questions, phrases, found.texts, request)
        if request.explain:
            answers = self._explained(questions, answers, phrases, found)
        if verify := self._verify(request):
            with timings.measured("verification"):
                answers = self._verifier(found.asked, answers, verify, check)
        return [_shown(each, request) for each in answers]

    def _found(
        self,
        questions: Sequence[str],
        segments: list[SearchableSegment],
        request: SearchRequest,
        timings: Timings,
        check: Check,
    ) -> "_Found":
        check()
        exact = exact_candidates(segments) if request.exact is None else request.exact  # opens the candidates
        terms = self._terms(questions, request)
        asked = self.truecased(questions) if request.truecase else questions
        with timings.measured("encode"):
            vectors = self._encoder.encode_questions(asked)
        check()
        texts = PassageTexts(segments)
        wanted = self._wanted(questions, segments, request)
        search = PairSearch(
            segments,
            wanted,
            DistinctResults(texts, request.unit, wanted, check),
            exact=exact,
            effort=request.effort,
            length_penalty=self._encoder.config.length_penalty,
            timings=timings,
            check=check,
        )
        return _Found(asked, vectors, search(Queries(vectors.start_BD, vectors.end_BD, terms)), terms, texts)

    def _terms(self, questions: Sequence[str], request: SearchRequest) -> QuestionTerms | None:
        """Of the questions as typed: terms ignore case."""
        weight = self._encoder.config.lexical_weight if request.lexical_weight is None else request.lexical_weight
        return QuestionTerms.from_questions(questions, self._term_weights, weight) if weight else None

    @BuiltOnce
    def _term_weights(self) -> TermWeights:
        return TermWeights.from_snapshot(self._index)

    def _ranking_of(self, questions: Sequence[str]) -> PhraseRanking | None:
        """The model's; one without weights where identifiers decide; None if the scores do."""
        return self._ranking or (PhraseRanking({}) if any(map(identifiers_of, questions)) else None)

    def _wanted(self, questions: Sequence[str], segments: Sequence[SearchableSegment], request: SearchRequest) -> int:
        """At least what is ranked again, verified and compared by confidence, but not more than the collection has."""
        compared = (
            0 if self._calibration is None else RIVALS,
            0 if self._ranking_of(questions) is None else CONTENDERS,
            self._to_verify(request),
        )
        wanted = max(request.k, *compared)
        if request.unit == "passage":
            return min(wanted, sum(each.passages for each in segments))
        return min(wanted, sum(each.documents for each in segments)) if request.unit == "document" else wanted

    def _to_verify(self, request: SearchRequest) -> int:
        """Results that verification needs."""
        verify = self._verify(request)
        return RESULTS_PER_PASSAGE * (self._verifier.weights.passages if verify == "auto" else verify)

    def _answers(
        self, questions: Sequence[str], found: Sequence[Phrases], texts: PassageTexts, request: SearchRequest
    ) -> list[list[Answer]]:
        """Of all questions at once: a lookup takes about as long for ten phrases as for hundreds."""
        count = max(request.k, self._to_verify(request))
        taken = [phrases.take(slice(count)) for phrases in found]
        answers = iter(answers_from_phrases(Phrases.joined(taken), request.unit, texts))
        unsure = [list(islice(answers, len(each))) for each in taken]
        return list(map(self._with_confidences, questions, unsure, found))

    def _with_confidences(self, question: str, answers: list[Answer], found: Phrases) -> list[Answer]:
        if self._calibration is None:
            return answers
        evidence: list[Evidence] = []
        if self._calibration.weighs_evidence:
            asked = AskedTerms(question, self._term_weights.idf_V)
            evidence = [asked.evidence(answer) for answer in answers[:RIVALS]]
        confidences = self._calibration.probability(found.score_N, evidence).tolist()
        return [replace(a, confidence=c) for a, c in zip(answers, confidences, strict=False)]

    def _explained(
        self, questions: Sequence[str], answers: Sequence[list[Answer]], ranked: Sequence[Phrases], found: "_Found"
    ) -> list[list[Answer]]:
        idf_V = self._term_weights.idf_V
        explained = []
        for number, (question, several) in enumerate(zip(questions, answers, strict=True)):
            asked, before, after = AskedTerms(question, idf_V), found.phrases[number], ranked[number]
            parts = score_parts(before, after.take(slice(len(several))), found.vectors, number, found.texts)
            reasons = [explanation_of(a, each, asked) for a, each in zip(several, parts, strict=True)]
            explained.append([replace(a, explanation=why) for a, why in zip(several, reasons, strict=True)])
        return explained


def _shown(answers: Sequence[Answer], request: SearchRequest) -> list[Answer]:
    sure = (a for a in answers[: request.k] if a.confidence is None or a.confidence >= request.min_confidence)
    return list(sure)


@dataclass(frozen=True, slots=True)
class _Found:
    """Questions as they were encoded, the results of each, best first, the terms of all, and the passages."""

    asked: Sequence[str]
    vectors: QuestionVectors
    phrases: list[Phrases]
    terms: QuestionTerms | None
    texts: PassageTexts
