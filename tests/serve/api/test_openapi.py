"""Requests made up from the description of the service, sensible and not: none may make it fail."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.keys import Keys
from tests.serve.running import ADMIN, CITIES, GatedEncoder, Running, running

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]

WITH_INPUT = [
    ("POST", "/v1/answers"),
    ("POST", "/v1/extract"),
    ("GET", "/v1/documents/{id}"),
    ("GET", "/v1/pages/{id}"),
    ("GET", "/v1/page-images/{id}"),
    ("POST", "/v1/documents"),
    ("DELETE", "/v1/documents"),
]
WITHOUT_INPUT = [
    ("GET", "/v1/info"),
    ("GET", "/v1/examples"),
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    place = tmp_path_factory.mktemp("described")
    (place / "keys").write_text(ADMIN)
    index = PhraseIndex.create(place / "index", CITIES, model=GatedEncoder())
    with running(index, keys=Keys.read(None, Path(place / "keys"))) as served:
        yield served


@pytest.mark.parametrize(
    ("method", "path", "mode"),
    [
        *((*each, mode) for each in WITH_INPUT for mode in GenerationMode),
        *((*each, GenerationMode.POSITIVE) for each in WITHOUT_INPUT),
    ],
)
def test_no_request_makes_it_fail(service: Running, method: str, path: str, mode: GenerationMode) -> None:
    operation = described(service)[path][method]

    @settings(max_examples=25, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode))
    def send(case: Any) -> None:
        case.call_and_validate(checks=CHECKS, headers={"Authorization": f"Bearer {ADMIN}"})

    send()


def test_every_address_is_tried(service: Running) -> None:
    assert sum(1 for _ in described(service).get_all_operations()) == len(WITH_INPUT) + len(WITHOUT_INPUT)


def described(service: Running) -> Any:
    return schemathesis.openapi.from_url(f"http://127.0.0.1:{service.port}/openapi.json")
