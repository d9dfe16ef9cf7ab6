"""Results of one place, against counting by hand and by union of neighbours."""

from hypothesis import given
from hypothesis import strategies as st

from densephrases.search.answers import Alternative, Answer, PhraseSpan, SourceDocument
from densephrases.search.selection.overlaps import Places, merged

SPANS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 20), st.integers(1, 6)).map(lambda s: (s[0], s[1], s[1] + s[2])),
    max_size=12,
)


def answer(document: int, start: int, end: int, score: float) -> Answer:
    span = PhraseSpan("x" * (end - start), start, end)
    source = SourceDocument(str(document), "", {})
    return Answer(span.text, score, None, start, end, source, "", "", span, 0, 0, "phrase")


def overlap(one: Answer, other: Answer) -> bool:
    return one.document == other.document and one.start < other.end and other.start < one.end


def test_the_best_stands_for_its_place() -> None:
    text = "on 31 March 2027"
    date, year, day, other = (
        answer(0, text.index(each), text.index(each) + len(each), 4 - place)
        for place, each in enumerate(["31 March 2027", "2027", "31", "on"])
    )
    kept = merged([date, year, day, other])
    assert [(each.start, each.end) for each in kept] == [(3, 16), (0, 2)]
    assert kept[0].alternatives == (Alternative("xxxx", 12, 16, 3), Alternative("xx", 3, 5, 2))
    assert kept[1].alternatives == ()


@given(SPANS)
def test_what_is_kept_is_apart_and_nothing_is_lost(spans: list[tuple[int, int, int]]) -> None:
    answers = [answer(*span, -float(place)) for place, span in enumerate(spans)]
    kept = merged(answers)
    assert not any(overlap(one, other) for place, one in enumerate(kept) for other in kept[:place])
    assert len(kept) + sum(len(each.alternatives) for each in kept) == len(answers)
    for each in kept:
        assert all(a.start < each.end and each.start < a.end and a.score < each.score for a in each.alternatives)


@given(SPANS)
def test_places_are_the_fewest_that_any_order_keeps(spans: list[tuple[int, int, int]]) -> None:
    groups: list[set[tuple[int, int, int]]] = []
    for span in spans:
        touched = [g for g in groups if any(o[0] == span[0] and o[1] < span[2] and span[1] < o[2] for o in g)]
        groups = [g for g in groups if g not in touched] + [{span}.union(*touched)]
    places = Places().add_all([span[0] for span in spans], [span[1:] for span in spans])
    assert len(places) == len(groups)
    assert len(merged([answer(*span, 0.0) for span in spans])) >= len(places)
