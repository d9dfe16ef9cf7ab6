"""Phrases of one list or sentence as items of one result."""

from densephrases.search.answers import Answer, PhraseSpan, SourceDocument
from densephrases.search.auto.lists import grouped, list_around
from densephrases.text.sentences import sentence_spans

LIST = "These exist:\n\n- plain text\n- custom (the default)\n\n* tar\n\nAll others are archives. Tar is old."
BEGIN = 100


def found(phrase: str, score: float) -> Answer:
    start = LIST.index(phrase)
    sentence = next(s for s in sentence_spans(LIST) if s.start <= start < s.end)
    return Answer(
        phrase,
        score,
        0.5,
        BEGIN + start,
        BEGIN + start + len(phrase),
        SourceDocument("d", "", {}),
        LIST,
        LIST[sentence.start : sentence.end],
        PhraseSpan(phrase, BEGIN + start, BEGIN + start + len(phrase)),
        BEGIN,
        BEGIN + sentence.start,
        "phrase",
    )


def test_items_of_a_list_are_one_result_in_the_order_of_the_text() -> None:
    answers = grouped([found("tar", 3.0), found("archives", 2.5), found("plain text", 2.0), found("Tar is old", 1.0)])
    assert [[item.text for item in answer.items] for answer in answers] == [
        ["plain text", "tar"],
        ["archives"],
        ["Tar is old"],
    ]
    assert answers[0].text == "- plain text\n- custom (the default)\n\n* tar"
    assert answers[1].text == "All others are archives."
    assert [answer.score for answer in answers] == [3.0, 2.5, 1.0]
    for answer in answers:
        assert LIST[answer.start - BEGIN : answer.end - BEGIN] == answer.text
        assert answer.unit == "sentence"
        for item in answer.items:
            assert LIST[item.start - BEGIN : item.end - BEGIN] == item.text


def test_outside_lists_it_is_the_sentence() -> None:
    answer = found("archives", 1.0)
    assert list_around(answer) == (answer.sentence_start, answer.sentence_start + len(answer.sentence))
