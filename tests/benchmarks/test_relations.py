"""The facts of the benchmark are in the articles, and outcomes are counted as they say."""

from types import ModuleType

import pytest

from densephrases.sample import articles_path
from densephrases.text.readers.read import read_documents

from .conftest import Importing


@pytest.fixture
def relations(benchmark_module: Importing) -> ModuleType:
    return benchmark_module("relations")


def test_facts_are_stated_somewhere(relations: ModuleType) -> None:
    facts = relations.read_facts()
    text = "\n".join(f"{document.title}\n{document.text}" for document in read_documents([articles_path()]))
    assert len(facts) >= 80
    assert sum(not fact["answers"] for fact in facts) >= 20
    assert len({(fact["subject"], fact["relation"]) for fact in facts}) == len(facts)
    for fact in facts:
        assert not fact["answers"] or any(answer in text for answer in fact["answers"]), fact


@pytest.mark.parametrize(
    ("answers", "found", "outcome"),
    [
        (("Warsaw",), "the Warsaw", "right"),
        (("Warsaw",), "Paris", "wrong"),
        (("Warsaw",), None, "empty though stated"),
        ((), "Paris", "filled though absent"),
        ((), None, "rightly empty"),
    ],
)
def test_outcomes(relations: ModuleType, answers: tuple[str, ...], found: str | None, outcome: str) -> None:
    counts = relations.counted([relations.Checked("Marie Curie", "place of birth", answers, found)])
    assert {name for name, count in counts.items() if count} == {outcome}
