"""What may be asked of a search beside the questions; imports no numpy, so that the command line can name it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Self, get_args

from densephrases.errors import ConfigError, DataError, meant
from densephrases.index.kinds import DEFAULT_EFFORT
from densephrases.search.filtering.filters import Filter, Where

Unit = Literal["phrase", "sentence", "passage", "document"]
AskedUnit = Literal["phrase", "sentence", "passage", "document", "auto"]
UNITS: tuple[AskedUnit, ...] = get_args(AskedUnit)

DEFAULT_K = 5  # answers of a question, wherever it is asked

Verify = int | Literal["auto"]
DEFAULT_VERIFY: Verify = "auto"  # of models that read and have confidences; others never verify
MOST_VERIFIED = 100  # passages of a question


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """The options of a search. Equal requests have equal hashes, and a request can be used any number of times.

    Attributes:
        k: Number of answers per question.
        unit: What counts as one answer: a phrase, or the sentence, passage or document around the best phrase. "auto"
            chooses by the form of each question.
        overlapping: Whether phrases (or sentences) of one place that overlap are answers of their own; else the best
            of them is the answer, and the others are its alternatives.
        where: Metadata keys, each with the value or the values that it may have, or with a range such as
            {">=": "2026-01-01", "<": "2026-02-01"}.
        documents: Ids of the documents to search; None searches all. Any iterable, kept as a set.
        min_confidence: Answers below this probability are dropped. Needs a model with a confidence calibration.
        effort: From 0 (fast) to 1 (thorough). No effect if the candidate index is exact.
        exact: Whether to guarantee the best answers of the whole collection. None: only if that needs no full scan.
        lexical_weight: Weight of lexical overlap between question and passage; None takes the model's.
        truecase: Whether to restore capitals in questions without any. No effect if the model ignores case.
        verify: How many passages of the first results are read again together with the question, so that the best
            phrase by reader and search together comes first; 0 reads none, "auto" reads only where confidence is
            low, None is "auto" with a model that can do it. Needs a model that reads.
        explain: Whether each answer has an explanation: the parts of its score, and what of the question stands
            around it.
        allow_partial: Whether answers from a part of the index are better than none, where it is served in shards and
            one of them does not answer; such answers say that they are not complete.
    """

    k: int = DEFAULT_K
    unit: AskedUnit = "phrase"
    overlapping: bool = False
    where: Where | None = field(default=None, hash=False)
    documents: Iterable[str] | None = None
    min_confidence: float = 0.0
    effort: float = DEFAULT_EFFORT
    exact: bool | None = None
    lexical_weight: float | None = None
    truecase: bool = True
    verify: Verify | None = None
    explain: bool = False
    allow_partial: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1:
            raise ConfigError(f"k={self.k!r} is no number of results; expected a whole number of at least 1.")
        if self.unit not in UNITS:
            raise ConfigError(
                f"unit={self.unit!r} is unknown; expected one of {', '.join(UNITS)}.{meant(self.unit, UNITS)}"
            )
        if not isinstance(self.overlapping, bool):
            raise ConfigError(f"overlapping={self.overlapping!r} is neither true nor false.")
        for name in ("min_confidence", "effort"):
            value = getattr(self, name)
            if not _is_number(value) or not 0 <= value <= 1:
                raise ConfigError(f"{name}={value!r} is out of range; expected a number from 0 to 1.")
        weight = self.lexical_weight
        if weight is not None and not (_is_number(weight) and 0 <= weight < math.inf):
            raise ConfigError(f"lexical_weight={weight!r} is no weight; expected a number of at least 0.")
        if not _is_verify(self.verify):
            raise ConfigError(
                f"verify={self.verify!r} is no number of passages to read; expected 'auto' or a whole number from 0 to "
                f"{MOST_VERIFIED}."
            )
        object.__setattr__(self, "documents", self.filter.documents)  # an iterator could be read only once

    @property
    def result_unit(self) -> Unit:
        """The unit of results, once it has been chosen."""
        assert self.unit != "auto"
        return self.unit

    @property
    def filter(self) -> Filter:
        """The conditions on documents; raises ConfigError if they make no sense."""
        return Filter.from_conditions(self.where, self.documents)

    def with_options(self, options: Mapping[str, Any]) -> Self:
        """The same request with some fields changed; an unknown name raises ConfigError."""
        names = [f.name for f in fields(self)]
        if unknown := [name for name in options if name not in names]:
            hint = meant(unknown[0], names)
            raise ConfigError(f"{unknown[0]!r} is no option of a search; expected one of {', '.join(names)}.{hint}")
        return replace(self, **options)


def search_request(request: SearchRequest | None, k: int | None, options: Mapping[str, Any]) -> SearchRequest:
    """The request that a call `search(questions, k, request=request, **options)` means: options override it."""
    given = options if k is None else {"k": k, **options}
    return (request or SearchRequest()).with_options(given)


def checked_questions(questions: str | Sequence[str]) -> list[str]:
    """One question, or several, as a list; raises DataError for what is none."""
    several = [questions] if isinstance(questions, str) else questions
    if not isinstance(several, Sequence) or isinstance(several, bytes | bytearray):
        raise DataError(
            f"questions={questions!r} is neither a question nor a list of questions; "
            "expected a text, such as 'Where was Ada Lovelace born?', or a list of texts."
        )
    for number, question in enumerate(several, start=1):
        _refuse_unreadable(question, number)
    return list(several)


def _refuse_unreadable(question: object, number: int) -> None:
    if not isinstance(question, str) or not question.strip():
        raise DataError(f"Question {number} is {question!r}; expected a text with at least one word.")
    try:
        question.encode()
    except UnicodeEncodeError as error:  # so Python spells bytes of a command line that are not UTF-8
        raise DataError(f"Question {number} is {question!a}, which is not Unicode; write it in UTF-8.") from error


def _is_verify(value: object) -> bool:
    if isinstance(value, int) and not isinstance(value, bool):
        return 0 <= value <= MOST_VERIFIED
    return value is None or value == "auto"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
