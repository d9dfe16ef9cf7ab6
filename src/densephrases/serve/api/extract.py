"""POST /v1/extract."""

import time
from collections.abc import Sequence

from fastapi import APIRouter, Depends, Request, Response

from densephrases.serve.api.answers import answer_json, json_response, seconds_left, task_of, unless_disconnected
from densephrases.serve.api.auth import TheService, require_key
from densephrases.serve.api.openapi import problems
from densephrases.serve.api.schemas import ExtractBody, ExtractResponse
from densephrases.serve.problems import over_limit
from densephrases.serve.runtime.logs import logged_questions
from densephrases.serve.settings import Limits

router = APIRouter(tags=["answers"], dependencies=[Depends(require_key)])


@router.post("/v1/extract", response_model=ExtractResponse, responses=problems(401, 413, 422, 503))
async def extract(body: ExtractBody, request: Request, service: TheService) -> Response:
    """The object of a relation for each subject, for example the places of birth of several people."""
    names = [name for several in (body.aliases or {}).values() for name in several]
    _refuse_too_much(body.subjects, [body.relation, body.template or "", *names], service.settings.limits)
    request.state.logged = logged_questions(body.subjects, service.settings)
    found = service.facts(body.subjects, body.query(), task_of(body, service), seconds_left(request))
    facts = await unless_disconnected(request, found)
    results = [
        {
            "subject": fact.subject,
            "relation": fact.relation,
            "object": fact.object,
            "answer": None if fact.answer is None else answer_json(fact.answer),
        }
        for fact in facts
    ]
    milliseconds = round(1000 * (time.perf_counter() - request.state.began), 3)
    return json_response({"results": results, "milliseconds": milliseconds})


def _refuse_too_much(subjects: Sequence[str], texts: Sequence[str], limits: Limits) -> None:
    if len(subjects) > limits.questions:
        raise over_limit("questions", f"The request has {len(subjects):,} subjects", limits.questions)
    longest = max(len(text) for text in (*subjects, *texts))
    if longest > limits.question_characters:
        found = f"A subject, an alias, the relation or the template has {longest:,} characters"
        raise over_limit("question_characters", found, limits.question_characters)
