"""The table of word weights and the choice among them."""

from pathlib import Path

import pytest

from densephrases.data.squad import GoldAnswer, Question, QuestionedPassage
from densephrases.errors import DataError
from densephrases.evaluate.tune.lexical_weight import (
    WEIGHTS,
    LexicalRow,
    answered_questions,
    choose_weight,
    lexical_table,
)
from densephrases.search.phrase_index import PhraseIndex
from densephrases.text.documents import Document
from densephrases.text.passages import Passage
from tests.index.made_up import HashEncoder, long_text


def asked(text: str, *gold_texts: str) -> Question:
    return Question(text, text, tuple(GoldAnswer(gold, 0) for gold in gold_texts))


def test_words_find_the_passage_that_has_them(tmp_path: Path) -> None:
    texts = [Document(f"d{number}", long_text(number, 80)) for number in range(6)]
    encoder = HashEncoder(filter_threshold=None)
    index = PhraseIndex.create(tmp_path, [*texts, Document("x", "zebra", "zebra")], model=encoder)
    told: list[int] = []
    questions = [asked("the zebra", "Zebra!"), asked("zebra zebra", "zebra", "the city")]
    rows = lexical_table(index, questions, [0.0, 1000.0], told.append)
    assert [row.weight for row in rows] == [0.0, 1000.0]
    assert rows[0].exact_match <= rows[1].exact_match == rows[1].f1 == rows[1].among_ten == 100
    assert told == [2, 2]


def test_nothing_is_found_in_an_empty_index(tmp_path: Path) -> None:
    index = PhraseIndex.create(tmp_path, [], model=HashEncoder())
    assert lexical_table(index, [asked("where", "there")], [1.0]) == [LexicalRow(1.0, 0.0, 0.0, 0.0)]


def test_the_default_table_begins_without_words() -> None:
    assert WEIGHTS[0] == 0


@pytest.mark.parametrize(
    ("exact_matches", "chosen"), [([50, 53, 53.3, 53], 1), ([50, 52, 53, 53.2], 2), ([50, 49, 48, 50.3], 0)]
)
def test_the_least_weight_that_is_nearly_best(exact_matches: list[float], chosen: int) -> None:
    rows = [LexicalRow(float(weight), match, 60, 70) for weight, match in enumerate(exact_matches)]
    assert choose_weight(rows[::-1]).weight == chosen


def test_questions_without_answer_are_not_asked() -> None:
    questions = [asked("who", "she"), asked("why"), asked("when", "then"), asked("where", "there")]
    passages = [QuestionedPassage(Passage("then"), 0, tuple(questions))]
    assert [question.text for question in answered_questions(passages, 10)] == ["who", "when", "where"]
    assert [question.text for question in answered_questions(passages, 2)] == ["who", "where"]
    with pytest.raises(DataError, match="No question of the file has an answer"):
        answered_questions([QuestionedPassage(Passage("then"), 0, (asked("why"),))], 10)


def test_the_bundled_model_lets_words_count() -> None:
    from densephrases.model.config import ModelConfig
    from densephrases.model.folders import resolve

    assert ModelConfig.load(Path(resolve("small"))).lexical_weight > 0
