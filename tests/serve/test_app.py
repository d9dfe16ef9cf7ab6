"""The application as a whole: origins and its OpenAPI description."""

from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.settings import Limits
from tests.serve.running import running


def test_origins_that_are_allowed(index: PhraseIndex) -> None:
    with running(index, origins=("https://ours.example",)) as service:
        ours = service.call("GET", "/v1/info", headers={"Origin": "https://ours.example"})
        assert ours.headers["access-control-allow-origin"] == "https://ours.example"
        assert (
            "access-control-allow-origin"
            not in service.call("GET", "/v1/info", headers={"Origin": "https://other.example"}).headers
        )


def test_openapi(index: PhraseIndex) -> None:
    with running(index, limits=Limits(k=7)) as service:
        schema = service.call("GET", "/openapi.json").json
    asked = schema["components"]["schemas"]["SearchBody"]
    assert asked["properties"]["k"]["maximum"] == 7
    assert asked["examples"]
    for path, method in [("/v1/answers", "post"), ("/v1/documents", "post"), ("/v1/documents/{id}", "get")]:
        refusals = schema["paths"][path][method]["responses"]
        assert list(refusals["422"]["content"]) == ["application/problem+json"]
        assert "401" in refusals
    for path in ("/docs", "/redoc"):  # would load scripts from elsewhere
        assert path not in schema["paths"]
