"""Metadata filters and allow-lists."""

from typing import Any

import numpy as np
import pytest

from densephrases.errors import ConfigError
from densephrases.search.filtering.filters import Filter
from densephrases.search.scoring.searchable import allowed_documents
from densephrases.text.documents import Document
from tests.search.made_up import SegmentMaker, as_segment

METADATA = {"lang": "en", "year": 1843, "score": 2.0, "open": True, "tags": ["a", 7], "none": None, "deep": {"x": 1}}


@pytest.mark.parametrize(
    ("where", "matches"),
    [
        ({}, True),
        ({"lang": "en"}, True),
        ({"lang": "EN"}, False),
        ({"lang": ["de", "en"]}, True),
        ({"lang": ("de", "fr")}, False),
        ({"year": 1843}, True),
        ({"year": "1843"}, True),
        ({"year": 1843.0}, True),
        ({"year": 1844}, False),
        ({"score": "2"}, True),
        ({"score": "2.0"}, True),
        ({"open": True}, True),
        ({"open": "true"}, True),
        ({"open": "True"}, True),
        ({"open": False}, False),
        ({"open": 1}, False),
        ({"tags": "a"}, True),
        ({"tags": "7"}, True),
        ({"tags": {"b", "c"}}, False),
        ({"lang": "en", "year": 1}, False),
        ({"missing": "en"}, False),
        ({"none": "None"}, False),
        ({"deep": "x"}, False),
    ],
)
def test_where(where: dict[str, Any], matches: bool) -> None:
    assert Filter.from_conditions(where, None).matches(Document("d", "", "", METADATA)) == matches


def test_allow_list() -> None:
    allowed = Filter.from_conditions(None, (name for name in ["d", "e"]))
    assert [allowed.matches(Document(name, "")) for name in ("d", "e", "f")] == [True, True, False]
    assert not Filter.from_conditions(None, []).matches(Document("d", ""))


def test_deleted_documents_are_never_allowed() -> None:
    maker = SegmentMaker(np.random.default_rng(0))
    for name, lang in (("a", "en"), ("b", "de"), ("c", "en")):
        maker.add(name, [["word"]], {"lang": lang})
    segment, deleted = as_segment(maker.made()), np.array([True, False, False])
    english = allowed_documents(segment, Filter.from_conditions({"lang": "en"}, None), deleted)
    assert english is not None
    assert english.tolist() == [False, False, True]
    anything = allowed_documents(segment, Filter(), deleted)
    assert anything is not None
    assert anything.tolist() == [False, True, True]
    assert allowed_documents(segment, Filter(), None) is None
    assert allowed_documents(segment, Filter(), np.zeros(3, dtype=bool)) is None


def test_equal_filters_are_one_key() -> None:
    assert Filter.from_conditions({"a": ["x", "y"], "b": 1}, ["d"]) == Filter.from_conditions(
        {"b": "1", "a": {"y", "x"}}, {"d"}
    )


@pytest.mark.parametrize(
    ("where", "documents", "names"),
    [
        ("lang=en", None, "lang=en"),
        ({1: "en"}, None, "key 1"),
        ({"lang": None}, None, "None for 'lang'"),
        ({"lang": []}, None, "[] for 'lang'"),
        ({"lang": {"not": "en"}}, None, "'lang'"),
        ({"lang": ["en", None]}, None, "'lang'"),
        (None, "d", "['d']"),
        (None, 3, "documents=3"),
        (None, ["d", 3], "3"),
    ],
)
def test_refusals(where: Any, documents: Any, names: str) -> None:
    with pytest.raises(ConfigError) as error:
        Filter.from_conditions(where, documents)
    assert names in str(error.value)
