"""What an answer holds; every unit against brute force is in test_searcher."""

from densephrases.search.answers import Alternative
from densephrases.search.results import results_from_phrases

from .selection.one_passage import one_passage, phrases


def test_an_answer_knows_its_sentence_and_passage() -> None:
    result, other = results_from_phrases(phrases((1, 2), (1, 1)), one_passage())
    answer = result.answer("phrase", None, [other.alternative("phrase")])
    assert (answer.text, answer.sentence, answer.passage) == ("code ran.", "The code ran.", "The code ran. The code!")
    assert answer.start - answer.sentence_start == 4
    assert answer.confidence is None
    assert answer.alternatives == (Alternative("code", answer.start, answer.start + 4, 1.0),)


def test_what_is_shown_of_each_unit() -> None:
    (result,) = results_from_phrases(phrases((1, 2)), one_passage())
    spans = [result.shown(unit)[1:] for unit in ("phrase", "sentence", "passage")]
    assert spans == [(6, 15), (2, 15), (2, 25)]
