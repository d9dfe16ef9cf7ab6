"""What the service tells of itself: /v1/info, /v1/examples, /healthz, /readyz, /metrics."""

from dataclasses import asdict
from pathlib import PurePath
from typing import Any

from fastapi import APIRouter, Depends, Response

from densephrases.index.info import IndexInfo
from densephrases.serve.api.answers import json_response
from densephrases.serve.api.auth import TheService, require_key
from densephrases.serve.api.openapi import problems
from densephrases.serve.api.schemas import Examples, Health, ServiceFacts
from densephrases.serve.problems import Problem
from densephrases.serve.runtime.metrics import CONTENT_TYPE
from densephrases.version import __version__

router = APIRouter(tags=["service"])


@router.get("/v1/info", response_model=ServiceFacts, responses=problems(401), dependencies=[Depends(require_key)])
async def info(service: TheService) -> Response:
    """What the index holds, how it was made, and what may be asked."""
    index = service.current.index
    return json_response(
        {
            "version": __version__,
            "index": _facts(index.info()),
            "confidence": index.encoder.config.confidence is not None,
            "task": service.settings.task,
            "tasks": index.encoder.tasks,
            "limits": asdict(service.settings.limits),
            "changes": bool(service.settings.keys.admin),
        }
    )


def _facts(info: IndexInfo) -> dict[str, Any]:
    """Of the model its name only: where it lies on the server's disk is nobody's business."""
    facts = asdict(info)
    facts["settings"]["model"] = PurePath(info.settings.model).name
    return facts


@router.get("/v1/examples", response_model=Examples, responses=problems(401, 503), dependencies=[Depends(require_key)])
async def examples(service: TheService) -> Response:
    """A few questions to begin with: those beside the index, or such as its titles suggest and its text answers."""
    return json_response({"questions": await service.examples()})


@router.get("/healthz", response_model=Health)
async def healthz() -> Response:
    """Whether the process answers at all."""
    return json_response({"status": "ok"})


@router.get("/readyz", response_model=Health, responses=problems(503))
async def readyz(service: TheService) -> Response:
    """Whether questions are taken now."""
    if service.stopping or service.is_full:
        reason = "is stopping" if service.stopping else "has as many questions waiting as may"
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
    """Numbers for Prometheus."""
    return Response(service.metrics.text(), headers={"Content-Type": CONTENT_TYPE})
