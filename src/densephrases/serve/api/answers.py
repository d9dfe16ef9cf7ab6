"""POST /v1/answers."""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Depends, Request, Response

from densephrases.search.answers import Answer
from densephrases.search.request import SearchRequest
from densephrases.serve.api.auth import TheService, require_key
from densephrases.serve.api.openapi import problems
from densephrases.serve.api.schemas import Answers, Asked, AskedFacts
from densephrases.serve.problems import Problem, over_limit
from densephrases.serve.runtime.logs import logged_questions
from densephrases.serve.runtime.service import Service
from densephrases.serve.settings import Limits

router = APIRouter(tags=["answers"], dependencies=[Depends(require_key)])


@router.post("/v1/answers", response_model=Answers, responses=problems(401, 413, 422, 503))
async def answers(asked: Asked, request: Request, service: TheService) -> Response:
    """The best answers to one question or to each of several, with their places in the documents."""
    questions = _questions(asked)
    _refuse_too_much(asked, questions, service.settings.limits)
    request.state.logged = logged_questions(questions, service.settings)
    found = await service.answers(questions, _search_request(asked), task_of(asked, service))
    results = [{"question": q, "answers": [shown(a) for a in each]} for q, each in zip(questions, found, strict=True)]
    milliseconds = round(1000 * (time.perf_counter() - request.state.began), 3)
    return json_response({"results": results, "milliseconds": milliseconds})


def json_response(content: Any, status: int = 200) -> Response:
    """ASCII, for texts may hold what UTF-8 cannot: half a surrogate pair."""
    return Response(json.dumps(content), status, media_type="application/json")


def _questions(asked: Asked) -> list[str]:
    if (asked.question is None) == (asked.questions is None):
        raise Problem(422, "invalid", "Give either 'question' or 'questions'.")
    questions = [asked.question] if asked.questions is None else asked.questions
    if blank := [number for number, question in enumerate(questions, start=1) if not question.strip()]:
        raise Problem(422, "invalid", f"Question {blank[0]} is blank; expected a text with at least one word.")
    return questions


def _refuse_too_much(asked: Asked, questions: Sequence[str], limits: Limits) -> None:
    if len(questions) > limits.questions:
        raise over_limit("questions", f"The request has {len(questions):,} questions", limits.questions)
    longest = max(len(question) for question in questions)
    if longest > limits.question_characters:
        raise over_limit("question_characters", f"A question has {longest:,} characters", limits.question_characters)
    if asked.k > limits.k:
        raise over_limit("k", f"k={asked.k}", limits.k)
    if len(asked.documents or ()) > limits.documents:
        raise over_limit("documents", f"The request names {len(asked.documents or ()):,} documents", limits.documents)


def task_of(asked: Asked | AskedFacts, service: Service) -> str | None:
    """Whose query encoder is to ask: the one that is named, null being the default one, or the service's own."""
    if "task" not in asked.model_fields_set or asked.task == service.settings.task:
        return service.settings.task
    known = service.current.index.encoder.tasks
    if asked.task is not None and asked.task not in known:
        names = f"it has {', '.join(map(repr, known))}" if known else "it has only its default query encoder"
        raise Problem(422, "invalid", f"The model has no such task: {names}.")
    return asked.task


def _search_request(asked: Asked) -> SearchRequest:
    return SearchRequest(
        k=asked.k,
        unit=asked.unit,
        where=asked.where,
        documents=asked.documents,
        min_confidence=asked.min_confidence,
        effort=asked.effort,
        exact=asked.exact,
        lexical_weight=asked.words,
        truecase=asked.truecase,
    )


def shown(answer: Answer) -> dict[str, Any]:
    """All of it: a client can make the same `Answer` of it."""
    return {
        **answer.to_dict(),
        "phrase": asdict(answer.phrase),
        "passage_start": answer.passage_start,
        "sentence_start": answer.sentence_start,
        "unit": answer.unit,
    }
