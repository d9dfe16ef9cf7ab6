"""What Prometheus reads."""

from densephrases.search.phrase_index import PhraseIndex
from tests.serve.running import running


def test_metrics(index: PhraseIndex) -> None:
    with running(index) as service:
        service.ask()
        service.call("GET", "/v1/documents/a/b/c")
        service.call("GET", "/anything")
        numbers = service.call("GET", "/metrics")
    assert numbers.headers["content-type"].startswith("text/plain; version=")
    lines = numbers.body.decode().splitlines()
    assert 'densephrases_requests_total{route="/v1/answers",status="200"} 1.0' in lines
    assert 'densephrases_requests_total{route="/v1/documents/{id:path}",status="404"} 1.0' in lines
    assert 'densephrases_requests_total{route="none",status="404"} 1.0' in lines
    assert "densephrases_batch_questions_count 1.0" in lines
    assert "densephrases_documents 3.0" in lines
