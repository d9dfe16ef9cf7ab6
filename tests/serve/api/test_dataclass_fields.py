"""Request bodies that are made from dataclasses of the library."""

from dataclasses import dataclass, fields
from typing import Any

import pytest
from pydantic import ValidationError, create_model

from densephrases.search.facts.relations import RelationQuery
from densephrases.search.request import SearchRequest
from densephrases.serve.api.dataclass_fields import attribute_docs, body_fields
from densephrases.serve.api.schemas import ExtractBody, SearchBody


@dataclass
class Made:
    """For this test.

    Attributes:
        name: Of something,
            on two lines.
        size: From 1.
    """

    name: str
    size: int = 3


def test_types_defaults_and_limits() -> None:
    model = create_model("Model", **body_fields(Made, {"size": {"ge": 1}}, {"name": list[str]}))
    made = model(name=["a"])
    assert made.model_dump() == {"name": ["a"], "size": 3}
    for wrong in ({}, {"name": "a"}, {"name": ["a"], "size": 0}):
        with pytest.raises(ValidationError):
            model(**wrong)


def test_descriptions() -> None:
    assert attribute_docs(Made) == {"name": "Of something, on two lines.", "size": "From 1."}
    properties = create_model("Model", **body_fields(Made, {})).model_json_schema()["properties"]
    assert properties["size"]["description"] == "From 1."


def test_every_option_of_the_library() -> None:
    """Described, with the default of the library, and handed on to it."""
    for body, options, others in (
        (SearchBody, SearchRequest, {"question", "questions", "task"}),
        (ExtractBody, RelationQuery, {"subjects", "task"}),
    ):
        properties = body.model_json_schema()["properties"]
        assert properties.keys() == {field.name for field in fields(options)} | others
        assert all(values.get("description") for values in properties.values())
    assert SearchBody(question="a").request() == SearchRequest()
    sent: Any = {
        "k": 3,
        "unit": "sentence",
        "where": {"a": [1]},
        "documents": ["b"],
        "lexical_weight": 2.0,
        "exact": True,
    }
    assert SearchBody(question="a", **sent).request() == SearchRequest(**sent)
    assert ExtractBody(subjects=["a"], relation="b").query() == RelationQuery(relation="b")
