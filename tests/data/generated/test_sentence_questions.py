"""Questions made from sentences by rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.data.generated.sentence_questions import sentence_questions
from densephrases.text.documents import Document


def made(text: str) -> set[tuple[str, str, str]]:
    return {(each.kind, each.question, each.answer) for each in sentence_questions(Document("d", text))}


@pytest.mark.parametrize(
    ("sentence", "questions"),
    [
        (
            "The tower in Paris was built by Gustave Eiffel in 1889.",
            {
                ("date", "When was the tower in Paris built by Gustave Eiffel?", "1889"),
                ("name", "By whom was the tower in Paris built in 1889?", "Gustave Eiffel"),
            },
        ),
        (
            "The lease of the flat ends on 31 March 2027.",
            {("date", "The lease of the flat ends when?", "31 March 2027")},
        ),
        (
            "Lake Baikal is a deep lake in southern Siberia, near Mongolia.",
            {
                ("definition", "What is Lake Baikal?", "a deep lake in southern Siberia"),
                ("name", "Where is Lake Baikal a deep lake in southern Siberia?", "Mongolia"),
            },
        ),
        (
            "The  lease of the flat\n   ends  on\n31 March 2027.",  # wrapped and justified
            {("date", "The lease of the flat ends when?", "31 March 2027")},
        ),
        (
            "The north face has a height of 330 metres.",
            {("number", "How many metres has the north face a height of?", "330")},
        ),
    ],
)
def test_what_is_asked(sentence: str, questions: set[tuple[str, str, str]]) -> None:
    assert made(sentence) == questions


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It was built by Gustave Eiffel in 1889.",  # what?
        "The tower (in Paris) was built in 1889.",
        "The tower was built in 1889 and opened in 1889 again.",  # which of them?
        "| The tower | was built in 1889. |",
        "The tower was built in 1889",
        "History\nThe tower was built in 1889.",  # a heading
        "The tower, which was tall, was built in 1889.",
        "the tower was built by Gustave Eiffel in 1889.",
        "He read it in Chinese.",
    ],
)
def test_unclear_sentences_ask_nothing(text: str) -> None:
    assert made(text) == set()


@given(st.text(alphabet="The towerwasbuiltinby189EifelPars.,| \n", max_size=200))
def test_answers_are_of_the_sentence(text: str) -> None:
    for each in sentence_questions(Document("d", text)):
        sentence = " ".join(text[each.sentence.start : each.sentence.end].split())
        assert sentence.count(each.answer) == 1 or each.kind == "definition"
        assert each.question.endswith("?")
        assert "  " not in each.question
        assert each.kind == "definition" or each.answer not in each.question.split()
