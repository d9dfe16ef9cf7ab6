"""Answers in the form that each question asks for: what `unit="auto"` does."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from densephrases.search.answers import Answer
from densephrases.search.auto.lists import grouped
from densephrases.search.query.form import Form, form_of
from densephrases.search.request import SearchRequest, Unit

LISTED = 20  # phrases that are sought for a list, whose results have several each

Search = Callable[[Sequence[str], SearchRequest], list[list[Answer]]]

_UNITS: dict[Form, Unit] = {"phrase": "phrase", "sentence": "sentence", "keywords": "sentence", "list": "phrase"}


def answers_by_form(
    questions: Sequence[str], request: SearchRequest, search: Search, named: Callable[[str], Sequence[str]]
) -> list[list[Answer]]:
    """The answers to each question.

    Args:
        questions: Of any form.
        request: With the unit "auto".
        search: Answers questions of one unit.
        named: The ids of the documents that a query names.
    """
    answers: dict[int, list[Answer]] = {}
    forms = [form_of(question) for question in questions]
    for form in dict.fromkeys(forms):
        places = [place for place, other in enumerate(forms) if other == form]
        found = search([questions[place] for place in places], _request(request, form))
        answers.update(zip(places, found, strict=True))
    return [
        _in_form(question, form, answers[place], request, search, named)
        for place, (question, form) in enumerate(zip(questions, forms, strict=True))
    ]


def _request(request: SearchRequest, form: Form) -> SearchRequest:
    chosen = replace(request, unit=_UNITS[form])
    return replace(chosen, k=max(request.k, LISTED), overlapping=False) if form == "list" else chosen


def _in_form(
    question: str,
    form: Form,
    found: list[Answer],
    request: SearchRequest,
    search: Search,
    named: Callable[[str], Sequence[str]],
) -> list[Answer]:
    if form == "list":
        return grouped(found)[: request.k]
    if form != "keywords":
        return found
    wanted = [each for each in named(question) if request.documents is None or each in set(request.documents)]
    if not wanted:
        return found
    (documents,) = search([question], replace(request, unit="document", documents=wanted))
    return _as_sure(documents, found) + found[: max(request.k - len(documents), 0)]


def _as_sure(documents: Sequence[Answer], others: Sequence[Answer]) -> list[Answer]:
    """A document that is named is at least as sure as what is found in others: no result is surer than a better one."""
    least = max((answer.confidence or 0.0 for answer in others), default=0.0)
    return [a if a.confidence is None else replace(a, confidence=max(a.confidence, least)) for a in documents]
