"""The queue, the deadline, and answers while the index changes."""

from typing import Any

from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.request import SearchRequest
from densephrases.serve.runtime.service import SearchJob
from tests.serve.running import CITIES, GatedEncoder, is_problem, running


def test_questions_while_the_index_changes(index: PhraseIndex) -> None:
    """No request fails while another process adds, deletes and merges."""
    with running(index, reload_seconds=0.001) as service:
        other = index.reopened()
        askers = []
        for number in range(10):
            askers += [service.start_asking(k=5), service.start_asking(question="who?", unit="document")]
            other.update([CITIES[0].__class__("new", f"The river of {number} is in a city.")])
            other.optimize()
        assert {asker.reply().status for asker in askers} == {200}


def test_a_full_queue(index: PhraseIndex, encoder: GatedEncoder) -> None:
    with running(index, queue=2) as service:
        encoder.gate.clear()
        encoder.reached.clear()
        asking = [service.start_asking()]
        encoder.reached.wait()
        refused = service.call("POST", "/v1/answers", {"questions": ["who?", "what?", "when?"]})
        assert is_problem(refused, 503, "queue_full")
        assert int(refused.headers["retry-after"]) >= 1
        encoder.gate.set()
        assert asking[0].reply().status == 200
        numbers = service.call("GET", "/metrics").body.decode()
        assert 'densephrases_refused_total{reason="queue_full"} 1.0' in numbers


def test_the_deadline(index: PhraseIndex, encoder: GatedEncoder) -> None:
    with running(index, deadline_seconds=1.0) as service:  # also that of the body, which needs some time to come
        encoder.gate.clear()
        reply = service.ask()
        assert is_problem(reply, 503, "deadline")
        assert reply.headers["retry-after"] == "1"
        encoder.gate.set()


def test_jobs_that_share_a_batch() -> None:
    def job(task: str | None = None, **options: Any) -> SearchJob:
        return SearchJob(SearchRequest(**options), task)

    assert job(where={"a": ["b", "c"]}, documents=["d"]) == job(where={"a": ["b", "c"]}, documents={"d"})
    assert hash(job(where={"a": ["b"]})) == hash(job(where={"a": ["b"]}))
    different = [job(), job("web"), job(k=3), job(where={"a": True}), job(where={"a": 1}), job(where={"a": "c"})]
    assert len(set(different)) == len(different)
    quick, thorough = [job(), job(verify=0), job(exact=False)], [job(verify=1), job(verify="auto"), job(exact=True)]
    assert [each.thorough for each in (*quick, *thorough)] == [False] * 3 + [True] * 3
