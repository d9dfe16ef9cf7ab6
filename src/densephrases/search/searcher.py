"""Questions to answers: the library's search call."""

from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from itertools import chain, islice

from densephrases.errors import ConfigError, DataError
from densephrases.model.encoder import Encoder
from densephrases.search.answers import BOUNDARIES, Answer, Boundaries, Distinct, answers_of
from densephrases.search.confidence import RIVALS, Calibration
from densephrases.search.filters import Filter
from densephrases.search.passages import PassageTexts, sampled_texts
from densephrases.search.request import SearchRequest
from densephrases.search.scoring.lexical import QuestionTerms, TermWeights
from densephrases.search.scoring.pairs import PairSearch, Phrases
from densephrases.search.scoring.searchable import Index, Part, allowed_documents, exact_candidates
from densephrases.search.scoring.windows import Queries
from densephrases.search.timings import Timings
from densephrases.text.truecase import Truecaser

QUESTIONS_AT_ONCE = 64  # a few thousand phrases are looked at for each, so that a batch takes some 50 MB
_TRUECASE_CHARACTERS = 10_000_000  # of the text are enough to learn how words are written, and take three seconds
_FILTERS_KEPT = 8  # whose row marks, one byte a row, stay in memory for the next search


class Searcher:
    """Answers questions from an index as it was when the searcher was made."""

    def __init__(
        self,
        index: Index,
        encoder: Encoder,
        calibration: Calibration | None = None,
        boundaries: Boundaries = BOUNDARIES,
    ) -> None:
        if encoder.config.split:
            raise ConfigError("The model has split=True, whose scores are no sums of two; search with another model.")
        self._segments = list(zip(index.segments, index.deleted, strict=True))
        self._encoder = encoder
        self._calibration = calibration
        self._boundaries = boundaries
        self._parts: OrderedDict[Filter, list[Part]] = OrderedDict()

    def search(
        self, questions: Sequence[str], request: SearchRequest, timings: Timings | None = None
    ) -> list[list[Answer]]:
        """The best different answers to each question, best first; fewer only if the collection has fewer."""
        self._check_calibration(request)
        several = _checked(questions)
        timings = timings or Timings()
        with timings.measured("total"):
            parts = self._parts_for(request.filter)
            return [
                found
                for first in range(0, len(several), QUESTIONS_AT_ONCE)
                for found in self._batch(several[first : first + QUESTIONS_AT_ONCE], parts, request, timings)
            ]

    @property
    def truecases(self) -> bool:
        """Whether questions without capitals are asked with them: only if the model knows a difference."""
        return self._encoder.tokens.cased

    def truecased(self, questions: Sequence[str]) -> list[str]:
        """As the model is asked them; training asks them alike."""
        if not self.truecases or all(question != question.lower() for question in questions):
            return list(questions)
        return [self._truecaser(question) for question in questions]

    @cached_property
    def _truecaser(self) -> Truecaser:
        return Truecaser.learn(sampled_texts([segment for segment, _ in self._segments], _TRUECASE_CHARACTERS))

    def _check_calibration(self, request: SearchRequest) -> None:
        if request.min_confidence > 0 and self._calibration is None:
            raise ConfigError(
                f"min_confidence={request.min_confidence} needs a model with a calibration, which this one lacks; "
                "leave it at 0 or use another model."
            )

    def _parts_for(self, wanted: Filter) -> list[Part]:
        if wanted not in self._parts:
            parts = [
                Part.of(segment, allowed_documents(segment, wanted, deleted)) for segment, deleted in self._segments
            ]
            self._parts[wanted] = [part for part in parts if part.rows]
            if len(self._parts) > _FILTERS_KEPT:
                self._parts.popitem(last=False)
        self._parts.move_to_end(wanted)
        return self._parts[wanted]

    def _batch(
        self, questions: Sequence[str], parts: list[Part], request: SearchRequest, timings: Timings
    ) -> list[list[Answer]]:
        exact = exact_candidates(parts) if request.exact is None else request.exact  # opens the candidates
        words = self._words(questions, request)
        with timings.measured("encode"):
            vectors = self._encoder.encode_questions(self.truecased(questions) if request.truecase else questions)
        texts = PassageTexts(parts)
        wanted = self._wanted(parts, request)
        search = PairSearch(
            parts,
            wanted,
            Distinct(texts, request.unit, wanted, self._boundaries),
            exact=exact,
            effort=request.effort,
            length_penalty=self._encoder.config.length_penalty,
            timings=timings,
        )
        queries = Queries(vectors.start_BD, vectors.end_BD, words)
        return self._answers(search(queries), texts, request)

    def _words(self, questions: Sequence[str], request: SearchRequest) -> QuestionTerms | None:
        """As they were typed: capitals make no difference."""
        weight = self._encoder.config.lexical_weight if request.lexical_weight is None else request.lexical_weight
        return QuestionTerms.of(questions, self._term_weights, weight) if weight else None

    @cached_property
    def _term_weights(self) -> TermWeights:
        return TermWeights.of([segment.terms for segment, _ in self._segments])

    def _wanted(self, parts: Sequence[Part], request: SearchRequest) -> int:
        """Confidence compares an answer with its rivals, shown or not; more than there is need not be sought."""
        wanted = request.k if self._calibration is None else max(request.k, RIVALS)
        if request.unit == "passage":
            return min(wanted, sum(part.passages for part in parts))
        return min(wanted, sum(part.documents for part in parts)) if request.unit == "document" else wanted

    def _answers(self, found: Sequence[Phrases], texts: PassageTexts, request: SearchRequest) -> list[list[Answer]]:
        """Of all questions in one go: to look things up penalties much the same for ten phrases and for hundreds."""
        shown = [phrases.take(slice(request.k)) for phrases in found]
        confidences = chain.from_iterable(map(self._confidences, found, shown))
        answers = iter(answers_of(Phrases.joined(shown), list(confidences), request.unit, texts))
        return [
            [a for a in islice(answers, len(each)) if a.confidence is None or a.confidence >= request.min_confidence]
            for each in shown
        ]

    def _confidences(self, found: Phrases, shown: Phrases) -> Sequence[float | None]:
        if self._calibration is None:
            return [None] * len(shown)
        confidences: list[float] = self._calibration.probability(found.score_N).tolist()
        return confidences[: len(shown)]


def _checked(questions: Sequence[str]) -> list[str]:
    if not isinstance(questions, Sequence):
        raise DataError(f"questions={questions!r} is neither a question nor a list of questions.")
    _refuse_unreadable(questions)
    return list(questions)


def _refuse_unreadable(questions: Sequence[str]) -> None:
    for number, question in enumerate(questions, start=1):
        if not isinstance(question, str) or not question.strip():
            raise DataError(f"Question {number} is {question!r}; expected a text with at least one word.")
        try:
            question.encode()
        except UnicodeEncodeError as error:  # so Python spells bytes of a command line that are not UTF-8
            raise DataError(f"Question {number} is {question!a}, which is not Unicode; write it in UTF-8.") from error
