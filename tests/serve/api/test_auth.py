"""Which key opens which route."""

import pytest

from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.keys import Keys
from tests.serve.running import ADMIN, READING, Running, bearer, is_problem, running


def test_changes_need_an_admin_key(index: PhraseIndex, served: Running, keys: Keys) -> None:
    sent = {"documents": [{"id": "rome", "text": "Rome is a city on the river."}]}
    assert is_problem(served.call("POST", "/v1/documents", sent, bearer(ADMIN)), 403, "read_only")
    with running(index, keys=keys) as service:
        for headers, status, code in [
            ({}, 401, "unauthorized"),
            (bearer("wrong"), 401, "unauthorized"),
            (bearer(READING), 403, "not_admin"),
        ]:
            assert is_problem(service.call("POST", "/v1/documents", sent, headers), status, code)
            assert is_problem(service.call("DELETE", "/v1/documents?id=paris", None, headers), status, code)
        assert service.call("POST", "/v1/documents", sent, bearer(ADMIN)).status == 200


@pytest.mark.parametrize("path", ["/v1/info", "/v1/examples", "/v1/documents/paris", "/metrics"])
def test_reading_needs_a_key_where_there_are_keys(index: PhraseIndex, keys: Keys, path: str) -> None:
    with running(index, keys=keys) as service:
        refused = service.call("GET", path)
        assert is_problem(refused, 401, "unauthorized")
        assert refused.headers["www-authenticate"] == "Bearer"
        assert is_problem(service.ask(), 401, "unauthorized")
        assert is_problem(service.call("GET", path, headers={"Authorization": "Basic eA=="}), 401, "unauthorized")
        for key in (READING, ADMIN):
            assert service.call("GET", path, headers=bearer(key)).status == 200
        assert service.call("GET", "/healthz").status == service.call("GET", "/readyz").status == 200
