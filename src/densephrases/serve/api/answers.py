"""POST /v1/answers."""

import asyncio
import json
import time
from collections.abc import Coroutine, Sequence
from dataclasses import asdict, replace
from typing import Any, TypeVar

from fastapi import APIRouter, Depends, Request, Response

from densephrases.search.answers import Answer
from densephrases.serve.api.auth import TheService, require_key
from densephrases.serve.api.openapi import problems
from densephrases.serve.api.schemas import AnswersResponse, ExtractBody, SearchBody, conditions_of
from densephrases.serve.problems import Problem, over_limit
from densephrases.serve.runtime.logs import logged_questions
from densephrases.serve.runtime.service import Service
from densephrases.serve.settings import Limits

Result = TypeVar("Result")

router = APIRouter(tags=["answers"], dependencies=[Depends(require_key)])


@router.post("/v1/answers", response_model=AnswersResponse, responses=problems(401, 413, 422, 503))
async def answers(body: SearchBody, request: Request, service: TheService) -> Response:
    """The best answers to one question, or to each of several, with their positions in the documents."""
    questions = _questions(body)
    _refuse_too_much(body, questions, service.settings.limits)
    _refuse_too_thorough(body, service)
    request.state.logged = logged_questions(questions, service.settings)
    task = task_of(body, service)
    asked = body.request()
    if service.settings.limits.verify == 0 and asked.verify is None:
        asked = replace(asked, verify=0)
    found = await unless_disconnected(request, service.answers(questions, asked, task, seconds_left(request)))
    results = [
        {"question": q, "answers": [answer_json(a) for a in each], "complete": each.complete}
        for q, each in zip(questions, found, strict=True)
    ]
    service.metrics.incomplete.inc(sum(not each.complete for each in found))
    milliseconds = round(1000 * (time.perf_counter() - request.state.began), 3)
    return json_response({"results": results, "milliseconds": milliseconds})


def seconds_left(request: Request) -> float:
    """Until the deadline of the request."""
    return float(request.state.until - time.monotonic())


async def unless_disconnected(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """The result of some work, which is cancelled when the client closes its connection."""
    working, gone = asyncio.ensure_future(work), asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait((working, gone), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise Problem(503, "disconnected", "The client has closed the connection.")
        return working.result()
    finally:
        working.cancel()
        gone.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def json_response(content: Any, status: int = 200) -> Response:
    """ASCII: document texts may contain lone surrogates, which UTF-8 cannot encode."""
    return Response(json.dumps(content), status, media_type="application/json")


def _questions(body: SearchBody) -> list[str]:
    if (body.question is None) == (body.questions is None):
        raise Problem(422, "invalid", "Give either 'question' or 'questions'.")
    questions = [body.question] if body.questions is None else body.questions
    if blank := [number for number, question in enumerate(questions, start=1) if not question.strip()]:
        raise Problem(422, "invalid", f"Question {blank[0]} is blank; expected a text with at least one word.")
    return questions


def _refuse_too_much(body: SearchBody, questions: Sequence[str], limits: Limits) -> None:
    if len(questions) > limits.questions:
        raise over_limit("questions", f"The request has {len(questions):,} questions", limits.questions)
    longest = max(len(question) for question in questions)
    if longest > limits.question_characters:
        raise over_limit("question_characters", f"A question has {longest:,} characters", limits.question_characters)
    if body.k > limits.k:
        raise over_limit("k", f"k={body.k}", limits.k)
    if limits.verify < (body.verify if isinstance(body.verify, int) else body.verify == "auto"):
        raise over_limit("verify", f"verify={body.verify}", limits.verify)
    if len(body.documents or ()) > limits.documents:
        raise over_limit("documents", f"The request names {len(body.documents or ()):,} documents", limits.documents)
    if (conditions := conditions_of(body.where or {})) > limits.conditions:
        raise over_limit("conditions", f"where has {conditions:,} values", limits.conditions)


def _refuse_too_thorough(body: SearchBody, service: Service) -> None:
    limits = service.settings.limits
    if body.effort > limits.effort:
        raise over_limit("effort", f"effort={body.effort:g}", limits.effort)
    vectors = service.live.index.vectors
    if body.exact and vectors > limits.exact_vectors:
        found = f"exact=true reads all {vectors:,} token vectors of this index"
        raise over_limit("exact_vectors", found, limits.exact_vectors)


def task_of(body: SearchBody | ExtractBody, service: Service) -> str | None:
    """The task named by the request, null being the default one; without a name, that of the service."""
    if "task" not in body.model_fields_set or body.task == service.settings.task:
        return service.settings.task
    known = service.live.index.encoder.tasks
    if body.task is not None and body.task not in known:
        names = f"it has {', '.join(map(repr, known))}" if known else "it has only its default query encoder"
        raise Problem(422, "invalid", f"The model has no such task: {names}.")
    return body.task


def answer_json(answer: Answer) -> dict[str, Any]:
    """All fields, so that a client can rebuild the same `Answer`."""
    return {
        **answer.to_dict(),
        "explanation": None if answer.explanation is None else answer.explanation.to_dict(),
        "phrase": asdict(answer.phrase),
        "items": [asdict(each) for each in answer.items],
        "passage_start": answer.passage_start,
        "sentence_start": answer.sentence_start,
        "unit": answer.unit,
    }
