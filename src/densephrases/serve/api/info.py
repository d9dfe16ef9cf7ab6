"""The state of the service: /v1/info, /v1/examples, /healthz, /readyz, /metrics."""

import asyncio
from dataclasses import asdict
from pathlib import PurePath
from typing import Any

from fastapi import APIRouter, Depends, Response

from densephrases.index.info import IndexInfo
from densephrases.serve.api.answers import json_response
from densephrases.serve.api.auth import TheService, require_key
from densephrases.serve.api.openapi import problems
from densephrases.serve.api.schemas import ExamplesResponse, HealthResponse, InfoResponse
from densephrases.serve.problems import Problem
from densephrases.serve.runtime.metrics import CONTENT_TYPE
from densephrases.serve.runtime.suggested_questions import sampled_titles
from densephrases.version import __version__

router = APIRouter(tags=["service"])


@router.get("/v1/info", response_model=InfoResponse, responses=problems(401), dependencies=[Depends(require_key)])
async def info(service: TheService) -> Response:
    """The index, its settings, the tasks of its model, and the limits of requests."""
    index = service.live.index
    return json_response(
        {
            "version": __version__,
            "index": _public(index.info()),
            "confidence": index.encoder.config.confidence is not None,
            "reads": index.encoder.config.reads,
            "task": service.settings.task,
            "tasks": index.encoder.tasks,
            "limits": asdict(service.settings.limits),
            "changes": bool(service.settings.keys.admin),
        }
    )


def _public(info: IndexInfo) -> dict[str, Any]:
    """Without the model's path on the server's disk; only its name is shown."""
    values = asdict(info)
    values["settings"]["model"] = PurePath(info.settings.model).name
    return values


@router.get(
    "/v1/examples", response_model=ExamplesResponse, responses=problems(401, 503), dependencies=[Depends(require_key)]
)
async def examples(service: TheService) -> Response:
    """What to begin with: questions of `examples.txt` beside the index, or made from its documents; titles."""
    titles = await asyncio.to_thread(sampled_titles, service.live.index)
    return json_response(
        {
            "questions": await service.suggested_questions(),
            "documents": [{"id": each, "title": title} for each, title in titles],
        }
    )


@router.get("/healthz", response_model=HealthResponse)
async def healthz() -> Response:
    """Whether the process is alive."""
    return json_response({"status": "ok"})


@router.get("/readyz", response_model=HealthResponse, responses=problems(503))
async def readyz(service: TheService) -> Response:
    """Whether the service accepts questions now."""
    if service.stopping or service.is_full:
        reason = "is stopping" if service.stopping else "has a full queue"
        raise Problem(503, "not_ready", f"The service {reason}.", {"Retry-After": "1"})
    return json_response({"status": "ready"})


@router.get(
    "/metrics",
    response_class=Response,
    dependencies=[Depends(require_key)],
    responses={
        200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "Prometheus text format"},
        **problems(401),
    },
)
async def metrics(service: TheService) -> Response:
    """Metrics in the Prometheus text format."""
    return Response(service.metrics.text(), headers={"Content-Type": CONTENT_TYPE})
