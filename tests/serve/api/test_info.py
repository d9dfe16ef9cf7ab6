"""The state of the service."""

from dataclasses import asdict

from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.settings import Limits
from tests.serve.running import GatedEncoder, Running, is_problem, running


def test_info(served: Running) -> None:
    content = served.call("GET", "/v1/info").json
    assert (content["index"]["documents"], content["confidence"], content["changes"]) == (3, False, False)
    assert content["limits"] == asdict(Limits())
    assert "/" not in content["index"]["settings"]["model"]


def test_health(index: PhraseIndex, encoder: GatedEncoder) -> None:
    with running(index, queue=1) as service:
        assert service.call("GET", "/readyz").json == {"status": "ready"}
        encoder.gate.clear()
        encoder.reached.clear()
        asking = [service.start_asking()]
        encoder.reached.wait()
        asking.append(service.start_asking())
        while service.call("GET", "/readyz").status == 200:  # until the second one waits
            pass
        assert is_problem(service.call("GET", "/readyz"), 503, "not_ready")
        assert service.call("GET", "/healthz").json == {"status": "ok"}
        encoder.gate.set()
        assert [each.reply().status for each in asking] == [200, 200]
