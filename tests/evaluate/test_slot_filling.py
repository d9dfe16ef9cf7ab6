"""Facts asked of a small index."""

from pathlib import Path

import pytest

from densephrases.data.kilt import EvidenceDocument, KiltRecord
from densephrases.errors import DataError
from densephrases.evaluate.slot_filling import FilledSlot, fill_slots, provable, slot_scores
from densephrases.search.answers import SourceDocument
from densephrases.search.phrase_index import PhraseIndex
from tests.evaluate.made_up import answer, cities


def fact(name: str, *documents: str) -> KiltRecord:
    evidence = tuple((EvidenceDocument(each, each.capitalize()),) for each in documents)
    return KiltRecord(name, "tower [SEP] built by", ("Eiffel",), evidence)


TOWER, ROME, UNPROVEN = fact("1", "tower"), fact("2", "rome"), fact("3")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> PhraseIndex:
    return cities(tmp_path_factory.mktemp("indexes") / "cities")


def test_only_facts_whose_document_is_there_count(index: PhraseIndex) -> None:
    both = fact("4", "rome", "paris")  # either proves it
    together = KiltRecord("5", "x", ("y",), ((EvidenceDocument("rome", ""), EvidenceDocument("paris", "")),))
    assert provable(index, [TOWER, ROME, UNPROVEN, both, together]) == [TOWER, both]


def test_documents_may_be_compared_by_title(index: PhraseIndex) -> None:
    elsewhere = KiltRecord("1", "x", ("y",), ((EvidenceDocument("12345", "Tower"),),))
    assert provable(index, [elsewhere], "title") == [elsewhere]
    with pytest.raises(DataError, match=r"'12345'.*compare them by title"):
        provable(index, [elsewhere])


def test_facts_that_nothing_proves(index: PhraseIndex) -> None:
    with pytest.raises(DataError, match="No fact's document is in the index"):
        provable(index, [UNPROVEN])


def test_filled_slots_have_the_phrases_document_first(index: PhraseIndex) -> None:
    told: list[int] = []
    (slot,) = fill_slots(index, [TOWER], advance=told.append)
    best = index.search(TOWER.input, k=1, overlapping=True)[0]
    assert slot.answer == best
    assert slot.documents[0] == best.document
    assert sorted(d.id for d in slot.documents) == ["london", "paris", "tower"]
    assert told == [1]


def test_documents_about_the_subject_may_be_preferred(index: PhraseIndex) -> None:
    (slot,) = fill_slots(index, [TOWER], prefer_titles=True)
    assert slot.documents[0].title == "Tower"
    assert slot.answer in index.search(TOWER.input, k=50, overlapping=True)


def test_scores_of_facts_in_the_index_and_of_all() -> None:
    tower, paris = (SourceDocument(name, name.capitalize(), {}) for name in ("tower", "paris"))
    filled = [FilledSlot(TOWER, answer("Eiffel", "tower"), [tower, paris]), FilledSlot(ROME, None, [])]
    scores = slot_scores(filled, [TOWER])
    assert (scores.facts, scores.facts_in_file) == (1, 2)
    assert (scores.in_index.kilt_accuracy, scores.all_facts.kilt_accuracy) == (100.0, 50.0)
    shown = scores.to_dict()
    assert shown["kilt_f1"] == 100.0
    assert shown["all_facts"]["r_precision"] == 50.0


def test_an_empty_index(tmp_path: Path) -> None:
    index = cities(tmp_path / "index")
    index.delete(["tower", "london", "paris"])
    (slot,) = fill_slots(index, [TOWER])
    assert (slot.text, slot.documents) == ("", [])
