"""POST /v1/extract."""

from typing import Any

import pytest

from tests.serve.running import Running, is_problem


def test_facts(served: Running) -> None:
    sent = {"subjects": ["London", "Paris"], "relation": "river", "prefer_titles": True}
    reply = served.call("POST", "/v1/extract", sent)
    expected = served.service.live.index.extract(["London", "Paris"], "river")
    assert reply.status == 200
    for found, fact in zip(reply.json["results"], expected, strict=True):
        assert (found["subject"], found["relation"], found["object"]) == (fact.subject, "river", fact.object)
        assert fact.answer is not None
        assert found["answer"]["document"]["id"] == fact.answer.document.id


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"subjects": ["a"]}, "body.relation"),
        ({"subjects": [], "relation": "river"}, "body.subjects"),
        ({"subjects": [" "], "relation": "river"}, "Subject 1 is empty"),
        ({"subjects": ["a"], "relation": " "}, "The relation is empty"),
        ({"subjects": ["a"], "relation": "b", "template": "c"}, "body.template"),
        ({"subjects": ["a"] * 65, "relation": "b"}, "at most 64 (limit: questions)"),
        ({"subjects": ["a"], "relation": "b" * 1001}, "at most 1,000 (limit: question_characters)"),
    ],
)
def test_invalid_facts(served: Running, content: Any, expected: str) -> None:
    reply = served.call("POST", "/v1/extract", content)
    assert is_problem(reply, 422, "over_limit" if "limit:" in expected else "invalid")
    assert expected in reply.json["detail"]
