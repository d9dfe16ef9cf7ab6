"""A dozen questions about six passages, small enough to learn by heart."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from densephrases.data.squad import GoldAnswer, Question, QuestionedPassage
from densephrases.nn.phrase_model import PhraseModel
from densephrases.text.passages import Passage
from densephrases.train.phrases.examples import ExampleBuilder, PassageExample

FACTS: list[tuple[int, str, list[tuple[str, str]]]] = [
    (0, "the tower was built in 1889 by a man", [("when was the tower built?", "1889"), ("by who?", "a man")]),
    (0, "in paris the river is to the city what it was", [("where is the river?", "paris")]),
    (1, "who was born in london in the year 1750", [("when was it?", "1750"), ("born where?", "london")]),
    (1, "it was built on a river of france", [("built on what?", "a river of france"), ("of what?", "france")]),
    (2, "the city is in the year 12 what it was in the year 11", [("what year is it?", "12")]),
    (2, "paris and london and the tower", [("what city?", "london"), ("what is it?", "the tower"), ("who?", "paris")]),
]


def write_squad(passages: Sequence[QuestionedPassage], path: Path) -> Path:
    articles = [
        {
            "title": p.passage.title,
            "paragraphs": [
                {
                    "context": p.passage.text,
                    "qas": [
                        {
                            "id": q.id,
                            "question": q.text,
                            "answers": [{"text": a.text, "answer_start": a.start} for a in q.answers],
                        }
                        for q in p.questions
                    ],
                }
            ],
        }
        for p in passages
    ]
    path.write_text(json.dumps({"data": articles}))
    return path


@pytest.fixture(scope="session")
def questioned() -> list[QuestionedPassage]:
    return [
        QuestionedPassage(
            Passage(text, f"title {number}"),
            article,
            tuple(
                Question(f"{number}-{i}", asked, (GoldAnswer(answer, text.index(answer)),))
                for i, (asked, answer) in enumerate(asked_of)
            ),
        )
        for number, (article, text, asked_of) in enumerate(FACTS)
    ]


@pytest.fixture(scope="session")
def examples(tiny_model: PhraseModel, questioned: Sequence[QuestionedPassage]) -> list[PassageExample]:
    tokens = tiny_model.tokens
    return ExampleBuilder(tokens).build(questioned, tokens.passages([p.passage for p in questioned]))
