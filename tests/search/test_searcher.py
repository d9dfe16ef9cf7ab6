"""Questions to answers with an encoder whose vectors follow from the question's length, against exhaustive search."""

import math
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import BertProcessing

from densephrases.arrays import Floats
from densephrases.errors import ConfigError, DataError
from densephrases.model.config import ModelConfig
from densephrases.model.encoder import Encoder, QuestionVectors
from densephrases.model.padding import TokenBatch
from densephrases.model.tokenizer import Tokens
from densephrases.search.answers import Alternative, Answer
from densephrases.search.confidence import Calibration
from densephrases.search.filtering.filters import Filter
from densephrases.search.request import SearchRequest, Unit
from densephrases.search.scoring.lexical import REPETITION_SHARE
from densephrases.search.scoring.searchable import SearchableSegment
from densephrases.search.searcher import Searcher
from densephrases.search.timings import Timings
from tests.text.sentence_oracle import sentences_around

from .made_up import SIZE, BruteForce, MemoryIndex, SegmentMaker, indexes

VOCABULARY = {word: i for i, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefgh"])}
QUESTIONS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=4).map(" ".join)
CALIBRATION = Calibration(-1.0, 0.1, 0.3, 0.5)


class QuestionEncoder(Encoder):
    """A question's vectors are small whole numbers that depend on its words."""

    def __init__(self, cased: bool = False, **settings: Any) -> None:
        config = ModelConfig(base="fake", backbone={"hidden_size": SIZE}, **settings)
        tokenizer = Tokenizer(WordLevel(VOCABULARY, unk_token="[UNK]"))  # noqa: S106
        if not cased:
            tokenizer.normalizer = Lowercase()
        tokenizer.pre_tokenizer = WhitespaceSplit()
        tokenizer.post_processor = BertProcessing(("[SEP]", 3), ("[CLS]", 2))
        super().__init__(config, Tokens(tokenizer, config))

    def forward_passages(self, batch: TokenBatch) -> tuple[Floats, Floats]:
        raise NotImplementedError

    def forward_questions(self, batch: TokenBatch) -> tuple[Floats, Floats, Floats | None]:
        total = (batch.ids * batch.mask).sum(axis=1, keepdims=True)
        start, end = (((total + shift) * np.arange(1, SIZE + 1)) % 7 - 3 for shift in (0, 5))
        return start.astype(np.float32), end.astype(np.float32), None


def ask(
    searcher: Searcher,
    questions: Any,
    k: int = 10,
    unit: Unit = "phrase",
    where: Any = None,
    documents: Any = None,
    timings: Timings | None = None,
    **options: Any,
) -> Any:
    """One list of answers for a text, a list of them for several."""
    request = SearchRequest(k=k, unit=unit, where=where, documents=documents, **options)
    answers = searcher.search([questions] if isinstance(questions, str) else questions, request, timings)
    return answers[0] if isinstance(questions, str) else answers


def documents_of(index: MemoryIndex) -> dict[str, str]:
    return {document.id: document.text for segment in index.made for document in segment.texts}


@given(indexes(), st.lists(QUESTIONS, max_size=3), st.sampled_from(get_args(Unit)), st.integers(1, 8))
def test_answers_are_where_they_say(index: MemoryIndex, questions: list[str], unit: Unit, k: int) -> None:
    texts = documents_of(index)
    for answers in ask(Searcher.from_snapshot(index, QuestionEncoder()), questions, k, unit):
        for answer in answers:
            text = texts[answer.document.id]
            assert text[answer.start : answer.end] == answer.text
            assert text[answer.phrase.start : answer.phrase.end] == answer.phrase.text
            assert text[answer.passage_start :].startswith(answer.passage)
            assert text[answer.sentence_start :].startswith(answer.sentence)
            assert answer.start <= answer.phrase.start <= answer.phrase.end <= answer.end
            check_unit(answer, unit)


def check_unit(answer: Answer, unit: Unit) -> None:
    begin = answer.passage_start
    around = sentences_around(answer.passage, answer.phrase.start - begin, answer.phrase.end - begin)
    assert answer.sentence == answer.passage[around.start : around.end]
    expected = {"phrase": answer.phrase.text, "sentence": answer.sentence}
    assert answer.text == expected.get(unit, answer.passage)
    assert answer.unit == unit


@given(
    indexes(),
    QUESTIONS,
    st.sampled_from(get_args(Unit)),
    st.integers(1, 8),
    st.sampled_from([None, {"lang": "en"}, {"year": ["1", 2]}, {"lang": "de", "year": 2}]),
    st.sampled_from([None, ["0-0", "1-0", "1-1"], []]),
    st.booleans(),
)
def test_filters_like_brute_force(
    index: MemoryIndex,
    question: str,
    unit: Unit,
    k: int,
    where: dict[str, Any] | None,
    documents: list[str] | None,
    overlapping: bool,
) -> None:
    encoder = QuestionEncoder(length_penalty=0.25)
    answers = ask(Searcher.from_snapshot(index, encoder), question, k, unit, where, documents, overlapping=overlapping)
    chosen = Filter.from_conditions(where, documents)
    pairs = zip(index.made, index.deleted, strict=True)
    masks = [
        np.array([chosen.matches(d) and not (deleted is not None and deleted[i]) for i, d in enumerate(s.texts)])
        for s, deleted in pairs
    ]
    segments = map(SearchableSegment.with_documents, index.segments, masks)
    vectors = encoder.encode_questions([question])
    brute = BruteForce([each for each in segments if each.rows], vectors.start_BD[0], vectors.end_BD[0], 0.25)
    groups = [[span] for span in brute.distinct(unit, k)] if overlapping else brute.apart(unit, k)
    expected = [group[0] for group in groups]
    assert [answer.score for answer in answers] == [span.score for span in expected]
    shown = [(text[start:end]) for text, start, end in map(brute.text, expected)]
    assert [answer.phrase.text for answer in answers] == shown
    for answer, (_, *others) in zip(answers, groups, strict=True):
        scores = [other.score for other in others]
        assert [other.score for other in answer.alternatives] == scores[: len(answer.alternatives)]
        assert all(other.start < answer.end and answer.start < other.end for other in answer.alternatives)


@given(indexes(), QUESTIONS, st.sampled_from(["phrase", "sentence"]), st.integers(1, 8))
def test_more_answers_begin_with_the_same(index: MemoryIndex, question: str, unit: Unit, k: int) -> None:
    searcher = Searcher.from_snapshot(index, QuestionEncoder(), CALIBRATION)
    some, more = (ask(searcher, question, count, unit) for count in (k, 2 * k))
    kept = [
        replace(answer, alternatives=answer.alternatives[: len(few.alternatives)])
        for answer, few in zip(more, some, strict=False)
    ]
    assert kept == some
    assert len(more) >= len(some)


@given(indexes(), QUESTIONS, st.sampled_from(["phrase", "sentence"]))
def test_merging_leaves_confidences_as_they_are(index: MemoryIndex, question: str, unit: Unit) -> None:
    searcher = Searcher.from_snapshot(index, QuestionEncoder(), CALIBRATION)
    apart = {
        (a.document.id, a.start, a.end): a.confidence for a in ask(searcher, question, 100, unit, overlapping=True)
    }
    for answer in ask(searcher, question, 3, unit):
        assert answer.confidence == apart[answer.document.id, answer.start, answer.end]


@given(indexes(), st.lists(QUESTIONS, max_size=5), st.sampled_from(get_args(Unit)))
def test_batch_like_one_by_one(index: MemoryIndex, questions: list[str], unit: Unit) -> None:
    searcher = Searcher.from_snapshot(index, QuestionEncoder(), CALIBRATION)
    assert ask(searcher, questions, 3, unit) == [ask(searcher, question, 3, unit) for question in questions]


@given(indexes(), st.lists(QUESTIONS, max_size=3), st.sampled_from(get_args(Unit)), st.booleans())
def test_words_count_as_the_model_says_or_the_request(
    index: MemoryIndex, questions: list[str], unit: Unit, exact: bool
) -> None:
    plain, worded = (Searcher.from_snapshot(index, QuestionEncoder(lexical_weight=weight)) for weight in (0.0, 2.0))
    questions = [f"{question} ada title 1843" for question in questions]
    assert ask(worded, questions, unit=unit, exact=exact) == ask(
        plain, questions, unit=unit, exact=exact, lexical_weight=2
    )
    assert ask(plain, questions, unit=unit) == ask(worded, questions, unit=unit, lexical_weight=0)
    assert ask(worded, questions, unit=unit) == [ask(worded, question, unit=unit) for question in questions]


def test_words_of_a_question_lift_the_passages_that_have_them() -> None:
    searcher = Searcher.from_snapshot(small_index(), QuestionEncoder())
    for word, expected in (("wrote", "ada"), ("fossil", "mary")):
        (plain, *_), (best, *_) = (ask(searcher, f"a {word}", lexical_weight=weight, exact=True) for weight in (0, 100))
        assert best.document.id == expected
        assert best.score <= plain.score
    (lacking, *_) = ask(searcher, "a zebra", lexical_weight=100, exact=True)
    assert lacking.score < ask(searcher, "a zebra", lexical_weight=0)[0].score - 100
    (titled, *_) = ask(searcher, "title of mary", lexical_weight=100, exact=True)
    assert titled.document.id == "mary"


@given(indexes(), QUESTIONS, st.integers(1, 12))
def test_confidence_does_not_depend_on_k(index: MemoryIndex, question: str, k: int) -> None:
    searcher = Searcher.from_snapshot(index, QuestionEncoder(), CALIBRATION)
    assert ask(searcher, question, k, overlapping=True) == ask(searcher, question, 12, overlapping=True)[:k]


@pytest.mark.parametrize("exact", [False, True])
def test_phrases_that_repeat_the_question_come_later(exact: bool) -> None:
    """All phrases are of one passage, which has every word of the question."""
    maker = SegmentMaker(np.random.default_rng(0))
    maker.add("ada", [["Ada", "wrote", "code.", "It", "ran", "in", "London."]], {})
    searcher = Searcher.from_snapshot(MemoryIndex([maker.made()], [None]), QuestionEncoder())
    options: dict[str, Any] = {"exact": exact, "overlapping": True}
    plain, worded = (ask(searcher, "a code", 100, lexical_weight=weight, **options) for weight in (0, 100))
    before, after = ({answer.text: answer.score for answer in answers} for answers in (plain, worded))
    assert before.keys() == after.keys() >= {"code.", "London.", "Ada"}
    paid = {text: before[text] - after[text] for text in before}
    assert paid["Ada"] == paid["London."] == 0
    assert paid["code."] == pytest.approx(
        100 * REPETITION_SHARE * math.log1p(0.5 / 1.5)
    )  # the only passage has the word
    scores = [answer.score for answer in worded]
    assert scores == sorted(scores, reverse=True)


def small_index() -> MemoryIndex:
    maker = SegmentMaker(np.random.default_rng(3))
    maker.add("ada", [["Ada", "wrote", "code.", "It", "ran."]] * 20, {"lang": "en"})
    maker.add("mary", [["Mary", "found", "a", "fossil."]] * 20, {"lang": "de"})
    return MemoryIndex([maker.made()], [None])


def test_unconvincing_answers_are_left_out() -> None:
    searcher = Searcher.from_snapshot(small_index(), QuestionEncoder(), CALIBRATION)
    answers = ask(searcher, "a b", 12)
    confidences = [answer.confidence or 0.0 for answer in answers]
    assert confidences == sorted(confidences, reverse=True)
    least = confidences[2]
    assert ask(searcher, "a b", 12, min_confidence=least) == [a for a in answers if (a.confidence or 0.0) >= least]
    assert ask(searcher, "a b", min_confidence=1.0) == []


@pytest.mark.parametrize("unit", get_args(Unit))
def test_json(unit: Unit) -> None:
    (answer,) = ask(Searcher.from_snapshot(small_index(), QuestionEncoder()), "a", 1, unit)
    shown = answer.to_dict()
    keys = ["text", "score", "confidence", "start", "end", "document", "passage", "sentence", "verified"]
    keys += ["section", "page", "alternatives"]
    assert list(shown) == (keys if unit == "phrase" else [*keys, "phrase"])
    assert shown["document"] == {
        "id": answer.document.id,
        "title": f"title of {answer.document.id}",
        "metadata": dict(answer.document.metadata),
    }
    assert shown["confidence"] is None
    if unit != "phrase":
        assert list(shown["phrase"]) == ["text", "start", "end"]


def test_json_of_alternatives() -> None:
    (answer,) = ask(Searcher.from_snapshot(small_index(), QuestionEncoder()), "a", 1)
    answer = replace(answer, alternatives=(Alternative("x", 1, 2, 3.0),), items=(Alternative("y", 4, 5, 6.0),))
    assert answer.to_dict()["alternatives"] == [{"text": "x", "start": 1, "end": 2, "score": 3.0}]
    assert answer.to_dict()["items"] == [{"text": "y", "start": 4, "end": 5, "score": 6.0}]


def test_batches_larger_than_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    searcher = Searcher.from_snapshot(small_index(), QuestionEncoder())
    questions = ["a", "b c", "d", "e e", "f"]
    expected = ask(searcher, questions)
    monkeypatch.setattr("densephrases.search.searcher.QUESTIONS_AT_ONCE", 2)
    assert ask(searcher, questions) == expected


def test_many_filters_do_not_mix() -> None:
    searcher = Searcher.from_snapshot(small_index(), QuestionEncoder())
    for number in range(12):
        assert ask(searcher, "a", where={"lang": f"x{number}"}) == []
        (best, *_) = ask(searcher, "a", where={"lang": "de"})
        assert best.document.id == "mary"


def test_timings_add_up() -> None:
    timings = Timings()
    searcher = Searcher.from_snapshot(small_index(), QuestionEncoder())
    ask(searcher, "a", timings=timings)
    once = timings.total
    ask(searcher, ["a", "b"], timings=timings)
    assert timings.total > once > 0
    assert min(timings.encode, timings.candidates, timings.window, timings.rest) > 0


def test_an_empty_index_has_no_answers() -> None:
    searcher = Searcher.from_snapshot(MemoryIndex([], []), QuestionEncoder(), CALIBRATION)
    assert ask(searcher, "a") == []
    assert ask(searcher, ["a", "b"], unit="document") == [[], []]
    assert ask(searcher, []) == []


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({"k": 0}, "k=0"),
        ({"k": 2.5}, "k=2.5"),
        ({"k": True}, "k=True"),
        ({"unit": "word"}, "unit='word' is unknown; expected one of phrase, sentence, passage, document, auto"),
        ({"min_confidence": 1.5}, "min_confidence=1.5"),
        ({"min_confidence": float("nan")}, "min_confidence=nan"),
        ({"min_confidence": 0.5}, "needs a model with a calibration"),
        ({"effort": -0.1}, "effort=-0.1"),
        ({"effort": "high"}, "effort='high'"),
        ({"lexical_weight": -1}, "lexical_weight=-1 is no weight"),
        ({"lexical_weight": float("inf")}, "lexical_weight=inf"),
        ({"lexical_weight": float("nan")}, "lexical_weight=nan"),
        ({"lexical_weight": True}, "lexical_weight=True"),
        ({"lexical_weight": "many"}, "lexical_weight='many'"),
        ({"where": "lang=en"}, "where='lang=en'"),
        ({"documents": "ada"}, "documents='ada'"),
        ({"overlapping": 1}, "overlapping=1 is neither true nor false"),
    ],
)
def test_refused_settings(settings: dict[str, Any], names: str) -> None:
    with pytest.raises(ConfigError) as error:
        ask(Searcher.from_snapshot(small_index(), QuestionEncoder()), "a", **settings)
    assert names in str(error.value)


@pytest.mark.parametrize(
    ("questions", "names"),
    [
        ("", "Question 1"),
        ([" \n"], "Question 1"),
        (["a", ""], "Question 2"),
        (["a", "\udcff"], "not Unicode"),
        (7, "questions=7"),
    ],
)
def test_refused_questions(questions: Any, names: str) -> None:
    with pytest.raises(DataError) as error:
        ask(Searcher.from_snapshot(small_index(), QuestionEncoder()), questions)
    assert names in str(error.value)


def test_split_models_are_refused() -> None:
    encoder = QuestionEncoder()
    encoder.config = ModelConfig(base="fake", backbone={"hidden_size": 64}, share=True, split=True)
    with pytest.raises(ConfigError, match="split=True"):
        Searcher.from_snapshot(small_index(), encoder)


def one_text(text: str, encoder: QuestionEncoder) -> Searcher:
    maker = SegmentMaker(np.random.default_rng(0))
    maker.add("only", [text.split(" ")], {})
    return Searcher.from_snapshot(MemoryIndex([maker.made()], [None]), encoder)


def test_questions_without_capitals_get_them_from_the_text() -> None:
    searcher = one_text("we saw Ada and Bob in b", QuestionEncoder(cased=True))
    assert searcher.truecases
    assert searcher.truecased(["saw ada in b", "saw Ada and bob"]) == ["Saw Ada in b", "saw Ada and bob"]


def test_models_that_know_no_capitals_are_asked_as_typed() -> None:
    searcher = one_text("we saw Ada", QuestionEncoder())
    assert not searcher.truecases
    assert searcher.truecased(["saw ada"]) == ["saw ada"]


def test_truecasing_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, asked = QuestionEncoder(cased=True), list[list[str]]()
    searcher, encode = one_text("we saw Ada", encoder), encoder.encode_questions

    def noted(texts: list[str]) -> QuestionVectors:
        asked.append(texts)
        return encode(texts)

    monkeypatch.setattr(encoder, "encode_questions", noted)
    for truecase in (True, False):
        searcher.search(["saw ada"], SearchRequest(truecase=truecase))
    assert asked == [["Saw Ada"], ["saw ada"]]
